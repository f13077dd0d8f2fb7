// Functions of text and numbers alone; tests run them without a browser.

function fixed(value, digits) {
  return value.toFixed(digits).replace("-", "\u2212");
}
function signed(value, digits) {
  return (value > 0 ? "+" : "") + fixed(value, digits);
}

// Round numbers that span a range, as svg.py has them.
function ticks(low, high, count) {
  if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
    const pad = Math.abs(low) * 0.05 || 0.5;
    low -= pad;
    high += pad;
  }
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((value) => value >= raw * 0.999);
  const found = [];
  for (let k = Math.floor(low / step + 1e-9); k <= Math.ceil(high / step - 1e-9); k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}
function digitsOf(values) {
  return Math.max(0, -Math.floor(Math.log10(values[1] - values[0]) + 1e-9));
}

// The first number of a cell, for sorting: "−1.25 (p = .03)" is -1.25. NaN if it begins with something else.
function numberOf(text) {
  const found = /^\s*([-+\u2212]?(?:\d[\d,]*)?\.?\d+(?:e[-+]?\d+)?)/i.exec(text.replace(/^[^\w+\-\u2212.]+|^p [=<] /, ""));
  return found ? Number(found[1].replaceAll(",", "").replace("\u2212", "-")) : NaN;
}

// Rows in the order of their keys; empty keys last in both directions, equal ones as they were.
function sorted(rows, key, down) {
  const keyed = rows.map((row, place) => ({ row, place, text: key(row).trim() }));
  const numbers = keyed.filter((one) => one.text).every((one) => !Number.isNaN(numberOf(one.text)));
  const compare = (a, b) => (numbers ? numberOf(a.text) - numberOf(b.text) : a.text.localeCompare(b.text, undefined, { numeric: true }));
  keyed.sort((a, b) => {
    if (!a.text || !b.text) return Number(!a.text) - Number(!b.text) || a.place - b.place;
    return (down ? compare(b, a) : compare(a, b)) || a.place - b.place;
  });
  return keyed.map((one) => one.row);
}

// Lines of CSV (RFC 4180). A cell that a spreadsheet would take for a formula gets an apostrophe.
function csvOf(rows) {
  const cell = (value) => {
    let text = String(value).replaceAll("\u2212", "-");
    if (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// Words of two texts: [kind, words] with = in both, - only in the first, + only in the second.
function diff(one, other) {
  const a = one.split(/\s+/).filter(Boolean), b = other.split(/\s+/).filter(Boolean);
  const longest = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const found = [];
  const add = (kind, word) => {
    const last = found[found.length - 1];
    if (last && last[0] === kind) last[1] += " " + word;
    else found.push([kind, word]);
  };
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { add("=", a[i++]); j++; }
    else if (j >= b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1])) add("-", a[i++]);
    else add("+", b[j++]);
  }
  return found;
}

// Where the words of a query occur in a text: [begin, end] pairs in order, which do not overlap.
function hitsOf(text, words) {
  const low = text.toLowerCase(), found = [];
  if (low.length !== text.length) return found;
  for (const word of words) {
    for (let at = low.indexOf(word); at >= 0; at = low.indexOf(word, at + word.length)) found.push([at, at + word.length]);
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  return found.filter((hit, k) => k === 0 || hit[0] >= Math.max(...found.slice(0, k).map((one) => one[1])));
}
function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

// What of a long list is in sight: the first row and the one after the last.
function windowOf(top, height, row, count, spare) {
  const first = Math.max(0, Math.floor(top / row) - spare);
  return [Math.min(first, count), Math.min(count, Math.ceil((top + height) / row) + spare)];
}

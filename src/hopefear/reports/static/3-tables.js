// Tables: a click on a heading sorts, a long table can be filtered, each can be saved as CSV.
const LONG = 8, MANY = 50;

// rows: {cells: what is saved, keys: a text of each column to sort by, element: () => tr}; at first `first` are drawn.
function Table(table, heads, rows, name, first) {
  const body = table.tBodies[0], box = table.closest(".table");
  const tools = make("div", { class: "tools" }), count = make("span", { class: "count small faint", "aria-live": "polite" });
  let shown = rows, limit = first, column = -1, down = false, wanted = [];
  const search = make("input", { type: "search", placeholder: "filter rows", "aria-label": "filter rows" });
  const more = button("show more", () => { limit += 500; paint(); });
  if (rows.length > LONG) tools.append(search);
  tools.append(more, button("CSV", () => saveCsv(name, [heads, ...shown.map((row) => row.cells)]), { class: "save", title: "save as CSV" }), count);
  search.addEventListener("input", () => { wanted = wordsOf(search.value); limit = first; find(); });

  const buttons = [...table.tHead.rows[0].cells].map((th, k) => {
    if (!th.textContent.trim()) return null;
    const sort = make("button", { type: "button" }, ...th.childNodes);
    th.append(sort);
    sort.addEventListener("click", () => {
      if (column !== k) [column, down] = [k, k > 0 && rows.some((row) => !Number.isNaN(numberOf(row.keys[k])))];
      else if (down === (k > 0)) down = !down;
      else column = -1;
      buttons.forEach((other, j) => {
        if (!other) return;
        if (j === column) other.closest("th").setAttribute("aria-sort", down ? "descending" : "ascending");
        else other.closest("th").removeAttribute("aria-sort");
      });
      find();
    });
    return sort;
  });
  function find() {
    shown = rows.filter((row) => {
      const text = row.cells.join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    if (column >= 0) shown = sorted(shown, (row) => row.keys[column], down);
    paint();
  }
  function paint() {
    body.replaceChildren(...shown.slice(0, limit).map((row) => row.element()));
    more.hidden = shown.length <= limit;
    const part = Math.min(limit, shown.length);
    count.textContent = part < rows.length ? `${part.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows` : "";
  }
  box.insertBefore(tools, box.firstChild);
  if (body.rows.length !== rows.length) paint();
  else more.hidden = true;
}

function startTables(weights) {
  document.querySelectorAll(".table").forEach((box, number) => {
    const table = box.querySelector("table");
    const section = box.closest("section");
    const name = box.dataset.name || `${section ? section.id : "table"}-${number + 1}`;
    const heads = [...table.tHead.rows[0].cells].map((th) => th.textContent);
    if (box.dataset.weights !== undefined) {
      if (weights) weightRows(table, weights, name);
      return;
    }
    const rows = [...table.tBodies[0].rows].map((tr) => {
      const cells = [...tr.cells].map((cell) => cell.dataset.value ?? cell.textContent);
      return { cells, keys: cells, element: () => tr };
    });
    Table(table, heads, rows, name, Infinity);
  });
}

// The weights of all runs: rows of [name, readable name or 0, [before, weight, share] or null for each run].
function weightRows(table, weights, name) {
  const number = (value) => {
    const size = Math.abs(value);
    return (size && (size < 1e-4 || size >= 1e6) ? value.toExponential(3) : String(Number(value.toPrecision(4)))).replace("-", "\u2212");
  };
  const heads = ["feature", ...weights.runs.flatMap((run) => ["before", "weight", "share %"].map((what) => (weights.runs.length > 1 ? run + " " + what : what)))];
  const rows = weights.rows.map((row) => ({
    keys: [row[0], ...row.slice(2).map((cell) => (cell ? String(cell[2]) : ""))],
    cells: [row[0], ...row.slice(2).flatMap((cell) => cell || ["", "", ""])].map(String),
    element: () => {
      const line = make("tr", {}, make("th", { scope: "row", title: row[0] }, row[1] || row[0]));
      for (const cell of row.slice(2)) {
        line.append(cell ? make("td", {}, number(cell[1]) + " ", make("span", { class: "faint" }, "(" + fixed(cell[2], 1) + " %)")) : make("td", {}));
      }
      return line;
    },
  }));
  Table(table, heads, rows, name, MANY);
}

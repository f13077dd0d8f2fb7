// All sentences: search, filters, any two systems side by side. The list holds only the rows in sight.
const ROW = 60, SPARE = 6, PRINTED = 300;

function words(name, parts, shown) { // the parts of a diff that one side has
  const line = make("p", { class: name });
  for (const [kind, text] of parts) {
    if (shown.includes(kind)) line.append(make({ "=": "span", "-": "del", "+": "ins" }[kind], {}, text), " ");
  }
  if (!line.childNodes.length) line.append(make("span", { class: "faint" }, "(empty)"));
  return line;
}
function marked(name, text, query) { // with the words that were searched for
  const line = make("p", { class: name });
  let at = 0;
  for (const [begin, end] of hitsOf(text, query)) {
    line.append(text.slice(at, begin), make("mark", {}, text.slice(begin, end)));
    at = end;
  }
  line.append(text.slice(at));
  return line;
}

function Sentences(box, data, number) {
  const count = data.ids.length, systems = data.systems;
  const prefix = number ? `sentence-of-${number + 1}-` : "sentence-";
  const all = Array.from({ length: count }, (_, i) => i);
  const text = (i, system) => data.texts[i][data.said[i][system]];
  const gain = (i, system) => data.gains[i][data.said[i][system]];
  const parts = []; // of each sentence
  data.parts.forEach(([title, size]) => { for (let k = 0; k < size; k++) parts.push(title); });
  let [a, b] = data.pair, shown = all, current = 0, filter = "all", order = "change", part = data.parts[0][0], query = [], texts = null;

  const rows = make("div", { class: "rows", role: "listbox", tabindex: "0", "aria-label": "sentences", id: prefix + "list" });
  const space = make("div", { class: "space", role: "presentation" });
  rows.append(space);
  const detail = make("div", { class: "detail", role: "group", "aria-label": "the chosen sentence" });
  const expanded = make("ol", { class: "expanded" });
  const tally = make("p", { class: "small faint", "aria-live": "polite" });
  const search = make("input", { type: "search", placeholder: "search all texts", "aria-label": "search source, references and translations" });
  const options = systems.map((name, k) => [String(k), name]);
  const left = select("the first system", options, String(a), (value) => { a = Number(value); find(true); });
  const right = select("the second system", options, String(b), (value) => { b = Number(value); find(true); });
  const filters = [["all", "all sentences"], ["differ", "translated differently"], ["better", "second is better"], ["worse", "second is worse"]];
  const orders = [["place", "in order"], ["change", "largest difference first"], ["low", "lowest score of the second first"], ["long", "longest first"]];
  const choices = { filter: select("which sentences", filters, filter, (value) => { filter = value; find(); }) };
  const tools = make("div", { class: "tools" }, search, make("span", {}, left, " against ", right), button("swap", swap, { title: "swap the two systems" }),
    choices.filter, select("their order", orders, order, (value) => { order = value; find(); }));
  if (data.parts.length > 1) {
    const titles = [...data.parts.map(([title]) => [title, title]), ["all", "all parts"]];
    choices.part = select("which part", titles, part, (value) => { part = value; find(); });
    tools.append(choices.part);
  }
  tools.append(button("CSV", saveAll, { class: "save", title: "save these sentences as CSV" }));
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { query = wordsOf(search.value); find(); }, 80);
  });
  box.replaceChildren(tools, tally, make("div", { class: "reader" }, rows, detail), expanded);

  function swap() {
    [a, b] = [b, a];
    [left.value, right.value] = [String(a), String(b)];
    find(true);
  }
  function find(stay) { // the chosen sentence stays, or becomes the first
    if (query.length && !texts) texts = all.map((i) => [data.ids[i], data.sources[i], ...data.references[i], ...data.texts[i]].join("\n").toLowerCase());
    const change = (i) => gain(i, b) - gain(i, a);
    const passes = { all: () => true, differ: (i) => text(i, a) !== text(i, b), better: (i) => change(i) > 0, worse: (i) => change(i) < 0 }[filter];
    shown = all.filter((i) => (part === "all" || parts[i] === part) && passes(i) && query.every((word) => texts[i].includes(word)));
    const key = { place: null, change: (i) => -Math.abs(change(i)), low: (i) => gain(i, b), long: (i) => -(data.sources[i] || text(i, b)).length }[order];
    if (key) {
      const keyed = shown.map((i) => [key(i), i]);
      keyed.sort((x, y) => x[0] - y[0] || x[1] - y[1]);
      shown = keyed.map((one) => one[1]);
    }
    let differ = 0, better = 0, worse = 0;
    for (const i of shown) {
      differ += text(i, a) !== text(i, b);
      better += change(i) > 0;
      worse += change(i) < 0;
    }
    const n = (value) => value.toLocaleString("en"), size = part === "all" ? count : data.parts.find(([title]) => title === part)[1];
    tally.textContent = `${n(shown.length)} of ${n(size)} sentences${part === "all" ? "" : ` (${part})`}. ${systems[a]} and ${systems[b]} differ in ${n(differ)}: ${systems[b]} is better in ${n(better)}, worse in ${n(worse)}, equal in score in ${n(differ - better - worse)}.`;
    if (!stay || !shown.includes(current)) current = shown.length ? shown[0] : 0;
    space.style.height = shown.length * ROW + "px";
    scrollTo(current);
    paint();
    tell();
  }
  function paint() {
    space.style.height = shown.length * ROW + "px";
    const [first, last] = windowOf(rows.scrollTop, rows.clientHeight || 600, ROW, shown.length, SPARE);
    space.replaceChildren();
    if (!shown.length) space.append(make("p", { class: "empty faint" }, "No sentence has all of this."));
    for (let k = first; k < last; k++) {
      const i = shown[k], change = gain(i, b) - gain(i, a);
      const line = make("div", { class: "row", role: "option", id: `${prefix}row-${i}`, "aria-selected": String(i === current), "aria-posinset": k + 1, "aria-setsize": shown.length });
      line.style.top = k * ROW + "px";
      const mark = make("span", { class: "delta " + (change > 0 ? "up" : change < 0 ? "down" : "faint") }, text(i, a) === text(i, b) ? "same" : signed(change, 2));
      line.append(make("span", { class: "no" }, String(i + 1)), make("span", {}, data.sources[i] || data.references[i][0] || data.ids[i]), mark, make("span", { class: "faint says" }, text(i, b)));
      line.addEventListener("click", () => choose(k));
      space.append(line);
    }
    const place = shown.indexOf(current);
    if (place >= first && place < last) rows.setAttribute("aria-activedescendant", `${prefix}row-${current}`);
    else rows.removeAttribute("aria-activedescendant");
  }
  function scrollTo(i) {
    const k = shown.indexOf(i), top = k * ROW;
    if (k < 0) return;
    if (top < rows.scrollTop) rows.scrollTop = top;
    else if (top + ROW > rows.scrollTop + rows.clientHeight) rows.scrollTop = top + ROW - rows.clientHeight;
  }
  function choose(k) {
    if (!shown.length) return;
    current = shown[Math.max(0, Math.min(shown.length - 1, k))];
    space.style.height = shown.length * ROW + "px";
    scrollTo(current);
    paint();
    tell();
    history.replaceState(null, "", "#" + prefix + (current + 1));
  }
  const step = (by) => choose(shown.indexOf(current) + by);

  function side(system, parts_, shown_) {
    return make("div", {}, make("p", { class: "what" }, make("b", {}, systems[system]), "  " + fixed(gain(current, system), 4)), words("", parts_, shown_));
  }
  function tell() {
    detail.replaceChildren();
    if (!shown.length) return;
    const i = current, place = shown.indexOf(i);
    const link = make("a", { href: "#" + prefix + (i + 1), title: "link to this sentence" }, `Sentence ${(i + 1).toLocaleString("en")}`);
    const about = make("span", { class: "small faint" }, `${parts[i]}, id ${data.ids[i]}`);
    const move = make("span", { class: "step" });
    for (const [by, name, sign] of [[-1, "previous sentence", "\u2190"], [1, "next sentence", "\u2192"]]) {
      const one = button(sign, () => step(by), { "aria-label": name });
      one.disabled = !shown[place + by] && shown[place + by] !== 0;
      move.append(one);
    }
    detail.append(make("h3", {}, link, about, move));
    detail.append(make("p", { class: "what" }, "source"), data.sources[i] ? marked("text", data.sources[i], query) : make("p", { class: "text faint" }, "not in the data"));
    const change = diff(text(i, a), text(i, b));
    detail.append(make("div", { class: "sides" }, side(a, change, "=-"), side(b, change, "=+")));
    const known = data.references[i];
    if (known.length) detail.append(make("p", { class: "what" }, known.length > 1 ? "references" : "reference"), make("ol", { class: known.length > 1 ? "known" : "known one" }, ...known.map((one) => make("li", {}, marked("", one, query)))));
    const list = make("ul", { class: "others small" });
    data.texts[i].forEach((one, t) => {
      const names = systems.filter((_, k) => data.said[i][k] === t);
      if (names.length) list.append(make("li", {}, make("b", {}, names.join(", ")), ` ${fixed(data.gains[i][t], 4)} `, marked("", one || "(empty)", query)));
    });
    if (systems.length > 2) detail.append(make("p", { class: "what" }, "all systems"), list);
  }
  function saveAll() {
    const most = Math.max(0, ...data.references.map((one) => one.length));
    const names = [...Array(most).keys()].map((k) => `reference ${k + 1}`);
    const heads = ["sentence", "id", "part", "source", ...names, ...systems.flatMap((name) => [name, name + " score"])];
    saveCsv("sentences", [heads, ...shown.map((i) => [i + 1, data.ids[i], parts[i], data.sources[i], ...names.map((_, k) => data.references[i][k] ?? ""),
      ...systems.flatMap((_, k) => [text(i, k), gain(i, k)])])]);
  }
  rows.addEventListener("scroll", paint, { passive: true });
  rows.addEventListener("keydown", (event) => {
    const page = Math.floor(rows.clientHeight / ROW), here = shown.indexOf(current);
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, PageDown: here + page, PageUp: here - page, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    choose(to);
    event.preventDefault();
  });
  onPrint(() => {
    expanded.replaceChildren(...shown.slice(0, PRINTED).map((i) => make("li", { value: i + 1 }, make("p", { class: "small faint" }, data.sources[i]), words("", diff(text(i, a), text(i, b)), "=-+"))));
  }, () => expanded.replaceChildren());
  redrawn.push(paint);
  find();
  return {
    step, swap,
    search: () => { box.scrollIntoView(); search.focus(); },
    // The sentence that the address names.
    open: (hash) => {
      const wanted = hash.startsWith("#" + prefix) ? Number(hash.slice(prefix.length + 1)) - 1 : -1;
      if (!Number.isInteger(wanted) || wanted < 0 || wanted >= count) return false;
      if (!shown.includes(wanted)) {
        [filter, part, query, search.value] = ["all", parts[wanted], [], ""];
        choices.filter.value = "all";
        if (choices.part) choices.part.value = part;
        find();
      }
      current = wanted;
      scrollTo(current);
      paint();
      tell();
      detail.scrollIntoView({ block: "nearest" });
      rows.closest("section").scrollIntoView();
      return true;
    },
  };
}

function startSentences(listings) {
  const made = [...document.querySelectorAll(".listing")].map((box) => Sentences(box, listings[Number(box.dataset.listing)], Number(box.dataset.listing)));
  if (!made.length) return;
  onKey("/", "search the sentences", made[0].search);
  onKey("j", "next sentence", () => made[0].step(1));
  onKey("k", "previous sentence", () => made[0].step(-1));
  onKey("x", "swap the two systems", made[0].swap);
  const open = () => made.some((one) => one.open(location.hash));
  addEventListener("hashchange", open);
  open();
}

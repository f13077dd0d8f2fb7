"use strict";
// The report's script: which run is shown, curves that can be hidden, the sentence picker with its cloud and trees, the
// filter of translations, translations run against run, the table of weights, and loading again while a run goes on.
// Text goes into the page as text nodes only.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  document.documentElement.classList.add("js");

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
    for (const child of children) element.append(child);
    return element;
  }
  function draw(name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  }
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
  function digits(values) {
    return Math.max(0, -Math.floor(Math.log10(values[1] - values[0]) + 1e-9));
  }

  const clouds = [];

  // Runs: one choice moves all sections.
  function show(run) {
    document.querySelectorAll(".tabs").forEach((tabs) => {
      const panels = [...document.querySelectorAll(".panel")].filter((panel) => panel.dataset.panel === tabs.dataset.tabs);
      let chosen = panels.find((panel) => panel.dataset.run === String(run));
      if (!chosen) { // a section without this run stays as it is
        chosen = panels.find((panel) => !panel.hidden) || panels[0];
        if (panels.filter((panel) => !panel.hidden).length > 1) chosen = panels[0];
      }
      panels.forEach((panel) => { panel.hidden = panel !== chosen; });
      tabs.querySelectorAll("input").forEach((input) => { input.checked = input.value === chosen.dataset.run; });
    });
    clouds.forEach((build) => build()); // one that was hidden did not know its width
  }
  document.querySelectorAll(".tabs input").forEach((input) => {
    input.addEventListener("change", () => show(input.value));
  });
  show(0);

  // Arrow keys walk through a column of buttons.
  function walk(box) {
    box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const buttons = [...box.querySelectorAll("button")];
      const next = buttons[buttons.indexOf(document.activeElement) + step];
      if (next) {
        next.focus();
        next.click();
      }
      event.preventDefault();
    });
  }

  const KINDS = ["best", "hope", "fear"];
  const SHAPES = { best: "M0-9L9 0L0 9L-9 0z", hope: "M0-10L10 8H-10z", fear: "M0 10L10-8H-10z" };
  const LEFT = 56, RIGHT = 18, TOP = 32, BOTTOM = 44;

  function Cloud(box, sentences, metric) {
    const list = box.querySelector(".picker");
    const stage = box.querySelector(".stage");
    let current = 0, when = "before", W = 660, H = 420;

    sentences.forEach((sentence, i) => {
      const button = make("button", { type: "button", "aria-pressed": "false" });
      const delta = sentence.change;
      const mark = make("span", { class: "delta " + (delta > 0 ? "up" : delta < 0 ? "down" : "faint") }, signed(delta, 2));
      button.append(mark, sentence.source || sentence.references[0] || sentence.id);
      button.addEventListener("click", () => select(i));
      list.append(button);
    });
    walk(list);

    const toggle = make("div", { class: "buttons", role: "group", "aria-label": "weights" });
    const buttons = {};
    for (const which of ["before", "after"]) {
      const button = make("button", { type: "button" }, which + " training");
      button.addEventListener("click", () => { when = which; paint(); });
      buttons[which] = button;
      toggle.append(button);
    }
    const svg = draw("svg", { class: "chart cloud", role: "img", "font-family": "system-ui,sans-serif", "font-size": 13 });
    const key = make("ul", { class: "key" });
    const legend = [["var(--best)", "best: what the system says"], ["var(--hope)", "hope"], ["var(--fear)", "fear"],
      ["var(--c6)", "among the 100 the model likes most"], ["var(--faint)", "other candidates"]];
    for (const [colour, text] of legend) {
      const dot = make("i");
      dot.style.background = colour;
      key.append(make("li", {}, dot, text));
    }
    const said = make("p", { class: "said small faint", "aria-live": "polite" });
    const head = make("div", {});
    const below = make("div", {});
    stage.append(head, toggle, svg, key, said, below);
    let dots = [], groups = {}, frame, place;

    function select(i) {
      current = i;
      [...list.children].forEach((button, k) => button.setAttribute("aria-pressed", String(k === i)));
      build();
    }

    function build() {
      const s = sentences[current];
      head.replaceChildren();
      if (s.source) head.append(make("p", {}, make("span", { class: "faint" }, "source "), s.source));
      if (s.references.length) head.append(make("p", { class: "small faint" }, "references: " + s.references.slice(0, 4).join("  /  ")));
      svg.replaceChildren();
      // As wide as there is room, so that letters keep their size on a phone.
      W = Math.max(330, Math.min(stage.clientWidth || document.documentElement.clientWidth - 40 || 660, 740));
      H = W < 480 ? 360 : 420;
      svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
      const lows = [...s.before.x, ...s.after.x];
      const low = Math.max(Math.min(...lows), -12) - 0.3, high = 0.5;
      const gains = s.points.map((p) => p[1]);
      const top = Math.min(1, Math.max(...gains) + 0.06), bottom = Math.max(0, Math.min(...gains) - 0.06);
      const span = top - bottom || 1;
      place = (x, g) => [LEFT + (Math.max(x, low) - low) / (high - low) * (W - LEFT - RIGHT), TOP + (top - g) / span * (H - TOP - BOTTOM)];
      const levels = ticks(bottom, top, 5).filter((g) => g >= bottom && g <= top);
      for (const g of levels) {
        const y = place(0, g)[1];
        svg.append(draw("path", { d: `M${LEFT} ${y}H${W - RIGHT}`, stroke: "var(--grid)" }));
        svg.append(draw("text", { x: LEFT - 8, y: y, dy: ".32em", "text-anchor": "end", fill: "var(--faint)" }, fixed(g, levels.length > 1 ? digits(levels) : 2)));
      }
      svg.append(draw("path", { d: `M${LEFT} ${H - BOTTOM}H${W - RIGHT}`, stroke: "var(--faint)" }));
      svg.append(draw("text", { x: W - RIGHT, y: H - 14, "text-anchor": "end", fill: "var(--ink)" }, "model score \u2192"));
      svg.append(draw("text", { x: LEFT, y: H - 14, fill: "var(--faint)" }, "the model dislikes it"));
      svg.append(draw("text", { transform: `translate(15,${TOP}) rotate(-90)`, "text-anchor": "end", fill: "var(--ink)" }, metric + " of the sentence \u2192"));
      frame = draw("rect", { class: "box", rx: 8 });
      svg.append(frame);
      const name = draw("text", { class: "boxname", fill: "var(--c6)", "font-size": 12 }, "100-best");
      svg.append(name);
      dots = s.points.map(() => {
        const dot = draw("circle", { r: 4, class: "dot" });
        svg.append(dot);
        return dot;
      });
      groups = {};
      for (const kind of ["fear", "hope", "best"]) {
        const group = draw("g", { class: "move" });
        group.append(draw("path", { d: SHAPES[kind], class: "mark " + kind }));
        group.append(draw("text", { y: kind === "fear" ? 26 : -14, "text-anchor": "middle", class: "label " + kind }, kind));
        groups[kind] = group;
        svg.append(group);
      }
      paint();
    }

    function paint() {
      const s = sentences[current], now = s[when];
      for (const which in buttons) buttons[which].setAttribute("aria-pressed", String(which === when));
      let box = [Infinity, Infinity, -Infinity, -Infinity], many = 0;
      dots.forEach((dot, i) => {
        const [x, y] = place(now.x[i], s.points[i][1]);
        dot.style.transform = `translate(${x}px,${y}px)`;
        dot.classList.toggle("near", now.kbest[i] === 1);
        if (now.kbest[i]) box = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)];
        else many++;
      });
      const name = svg.querySelector(".boxname");
      const shown = many > 0 && box[0] < Infinity;
      frame.style.display = name.style.display = shown ? "" : "none";
      if (shown) {
        for (const [k, v] of [["x", box[0] - 9], ["y", box[1] - 9], ["width", box[2] - box[0] + 18], ["height", box[3] - box[1] + 18]]) frame.setAttribute(k, v);
        name.setAttribute("x", box[0] - 5);
        name.setAttribute("y", Math.max(box[1] - 13, 11));
      }
      const taken = {};
      for (const kind of KINDS) {
        const i = now.marks[kind];
        groups[kind].style.display = i === undefined ? "none" : "";
        if (i === undefined) continue;
        const [x, y] = place(now.x[i], s.points[i][1]);
        groups[kind].style.transform = `translate(${x}px,${y}px)`;
        const label = groups[kind].querySelector("text");
        label.textContent = kind;
        if (taken[i]) { // the same candidate: one label for both
          label.textContent = "";
          taken[i].textContent += " = " + kind;
        } else taken[i] = label;
        label.setAttribute("y", kind === "fear" ? (y > H - BOTTOM - 30 ? -16 : 26) : y < 46 ? 26 : -14);
        label.setAttribute("text-anchor", x > W - 90 ? "end" : x < 90 ? "start" : "middle");
      }
      svg.setAttribute("aria-label", "Candidates " + when + " training. " + KINDS.map((kind) => kind + ": " + text(s, now.marks[kind])).join(". "));
      said.textContent = "Move over the points, or tap one, to read it.";
      details(s, now);
    }

    function text(s, i) {
      return i === undefined ? "" : s.texts[s.points[i][0]];
    }

    function details(s, now) {
      const three = make("div", { class: "three" });
      for (const kind of KINDS) {
        const i = now.marks[kind];
        if (i === undefined) continue;
        const column = make("div", { class: kind }, make("h4", {}, kind + " (" + fixed(s.points[i][1], 2) + ")"), make("p", {}, text(s, i) || "(empty)"));
        if (now.trees && now.trees[kind]) column.append(tree(now.trees[kind]));
        three.append(column);
      }
      below.replaceChildren(three);
      if (now.why.length) {
        const table = make("table", {});
        const names = make("tr", {}, make("th", { scope: "col" }, "feature \u00d7 weight"));
        for (const kind of KINDS) names.append(make("th", { scope: "col", class: "num" }, kind));
        table.append(make("thead", {}, names));
        const body = make("tbody", {});
        for (const row of now.why) {
          const line = make("tr", {}, make("th", { scope: "row" }, row[0]));
          for (let k = 1; k < 4; k++) line.append(make("td", { class: "num" }, fixed(row[k], 2)));
          body.append(line);
        }
        table.append(body);
        const why = make("details", {}, make("summary", {}, "Why the model thinks so"), make("div", { class: "scroll" }, table));
        below.append(why);
      }
    }

    function tree(node) {
      const root = make("ul", { class: "tree" });
      root.append(branch(node, 0));
      return root;
    }
    function words(parts, name) {
      const line = make("span", { class: name });
      parts.forEach((part) => {
        line.append(typeof part === "number" ? make("span", { class: "n" }, String(part)) : part, " ");
      });
      return line;
    }
    function branch(node, number) {
      const item = make("li", {});
      if (number) item.append(make("span", { class: "n" }, String(number)));
      item.append(words(node.s, "s"), node.s.length ? "\u2192 " : "", words(node.t, "t"), make("span", { class: "w" }, signed(node.w, 2)));
      if (node.c.length) {
        const rest = make("ul", {});
        node.c.forEach((child, k) => rest.append(branch(child, k + 1)));
        item.append(rest);
      }
      return item;
    }

    function nearest(event) {
      const s = sentences[current], now = s[when];
      const area = svg.getBoundingClientRect();
      const x = (event.clientX - area.left) * W / area.width, y = (event.clientY - area.top) * H / area.height;
      let best = -1, distance = 900;
      s.points.forEach((p, i) => {
        const [a, b] = place(now.x[i], p[1]);
        const d = (a - x) * (a - x) + (b - y) * (b - y);
        if (d < distance) { distance = d; best = i; }
      });
      dots.forEach((dot, i) => dot.classList.toggle("on", i === best));
      if (best >= 0) said.textContent = fixed(s.points[best][1], 2) + "  " + text(s, best);
    }
    svg.addEventListener("pointermove", nearest);
    svg.addEventListener("pointerdown", nearest);
    if (sentences.length) select(0);
    return build;
  }

  document.querySelectorAll(".sentence").forEach((box) => {
    const run = data.runs[Number(box.dataset.sentences)];
    if (run.sentences.length) clouds.push(Cloud(box, run.sentences, run.metric));
  });
  if (typeof window !== "undefined") {
    let waiting = 0;
    window.addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => clouds.forEach((build) => build()), 150);
    });
  }

  // Charts: a name of the legend hides and shows its series, and the axis follows those that are shown.
  document.querySelectorAll(".figure").forEach((figure) => {
    const svg = figure.querySelector(".chart"), items = figure.querySelectorAll(".toggles li");
    if (!svg || !items.length) return;
    const refit = svg.dataset.frame ? Axis(svg) : () => {};
    const series = figure.querySelectorAll(".series");
    items.forEach((item) => {
      const button = make("button", { type: "button", "aria-pressed": "true" });
      button.append(...item.childNodes);
      item.append(button);
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") === "false";
        button.setAttribute("aria-pressed", String(on));
        series.forEach((one) => { if (one.dataset.series === item.dataset.toggle) one.classList.toggle("off", !on); });
        refit();
      });
    });
  });

  function Axis(svg) {
    const [left, right, top, height, low, high] = svg.dataset.frame.split(" ").map(Number);
    const grid = svg.querySelector(".grid-y"), all = [...svg.querySelectorAll(".series")];
    const whole = grid.innerHTML;
    const value = (y) => low + (1 - (y - top) / height) * (high - low);
    const kept = all.map((one) => ({
      lines: [...one.querySelectorAll("polyline")].map((e) => [e, e.getAttribute("points")]),
      bars: [...one.querySelectorAll("path")].map((e) => [e, e.getAttribute("d")]),
      dots: [...one.querySelectorAll("circle")].map((e) => [e, Number(e.getAttribute("cy"))]),
    }));
    const heights = (one) => [
      ...one.lines.flatMap(([, points]) => points.split(" ").map((p) => Number(p.split(",")[1]))),
      ...one.bars.flatMap(([, d]) => [...d.matchAll(/(?:M-?[\d.]+ |V)(-?[\d.]+)/g)].map((m) => Number(m[1]))),
      ...one.dots.map(([, y]) => y),
    ];
    return () => {
      const shown = kept.filter((one, i) => !all[i].classList.contains("off"));
      let a = low, b = high, levels = null;
      if (shown.length < kept.length && shown.length) {
        const values = shown.flatMap(heights).map(value);
        levels = ticks(Math.min(...values), Math.max(...values), 5);
        [a, b] = [levels[0], levels[levels.length - 1]];
      }
      const move = (y) => (top + height * (1 - (value(Number(y)) - a) / (b - a))).toFixed(1);
      for (const one of kept) {
        for (const [e, points] of one.lines) e.setAttribute("points", points.replace(/,(-?[\d.]+)/g, (m, y) => "," + move(y)));
        for (const [e, d] of one.bars) e.setAttribute("d", d.replace(/(M-?[\d.]+ |V)(-?[\d.]+)/g, (m, head, y) => head + move(y)));
        for (const [e, y] of one.dots) e.setAttribute("cy", move(y));
      }
      if (!levels) {
        grid.innerHTML = whole; // ours, and drawn by us
        return;
      }
      grid.replaceChildren();
      for (const level of levels) {
        const y = top + height * (1 - (level - a) / (b - a));
        grid.append(draw("line", { x1: left, x2: right, y1: y, y2: y, stroke: "var(--grid)" }));
        grid.append(draw("text", { x: left - 7, y: y, dy: ".32em", "text-anchor": "end", fill: "var(--faint)" }, fixed(level, digits(levels))));
      }
    };
  }

  // Words of two texts: same, only in the first, only in the second.
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
      if (i < a.length && j < b.length && a[i] === b[j]) { add("span", a[i++]); j++; }
      else if (j >= b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1])) add("del", a[i++]);
      else add("ins", b[j++]);
    }
    return found;
  }

  // Run against run: any two of them.
  document.querySelectorAll(".versus").forEach((box) => {
    const pairs = data.versus[Number(box.dataset.versus)];
    const said = box.querySelector(".pair"), list = box.querySelector(".changes");
    const chosen = [0, 1];
    const tools = make("div", { class: "tools" });
    chosen.forEach((run, which) => {
      const select = make("select", { "aria-label": which ? "the other run" : "one run" });
      pairs.runs.forEach((name, k) => {
        const option = make("option", { value: k }, name);
        if (k === run) option.setAttribute("selected", "");
        select.append(option);
      });
      select.addEventListener("change", () => { chosen[which] = Number(select.value); limit = 20; paint(); });
      tools.append(...(which ? ["against", select] : [select]));
    });
    let limit = 20;
    const more = make("button", { type: "button" }, "show more");
    more.addEventListener("click", () => { limit += 60; paint(); });
    tools.append(more);
    box.insertBefore(tools, said);
    function paint() {
      const [a, b] = chosen;
      const differ = pairs.sentences.filter((s) => s.said[a] !== s.said[b]);
      differ.sort((x, y) => Math.abs(y.gains[b] - y.gains[a]) - Math.abs(x.gains[b] - x.gains[a]));
      const better = differ.filter((s) => s.gains[b] > s.gains[a]).length, worse = differ.filter((s) => s.gains[b] < s.gains[a]).length;
      said.replaceChildren(pairs.runs[a] + " against ", make("b", {}, pairs.runs[b]),
        `: ${differ.length} of the ${pairs.sentences.length} sentences listed differ; the latter is better in ${better}, worse in ${worse}.`);
      more.hidden = differ.length <= limit;
      list.replaceChildren();
      for (const s of differ.slice(0, limit)) {
        const change = s.gains[b] - s.gains[a];
        const item = make("li", {}, make("span", { class: "delta " + (change > 0 ? "up" : change < 0 ? "down" : "faint") }, signed(change, 2)));
        if (s.source) item.append(make("p", { class: "small faint" }, s.source));
        const line = make("p", {});
        for (const [kind, text] of diff(s.texts[s.said[a]], s.texts[s.said[b]])) line.append(make(kind, {}, text), " ");
        item.append(line, make("p", { class: "small faint" }, (s.reference ? "reference: " + s.reference + " \u00b7 " : "") + s.part));
        list.append(item);
      }
    }
    paint();
  });

  // All weights: search, more, and a file of them.
  document.querySelectorAll(".weights-table").forEach((box) => {
    const { runs, rows, first } = data.weights;
    const body = box.querySelector("tbody"), count = box.querySelector(".count");
    const search = make("input", { type: "search", placeholder: "find a feature", "aria-label": "find a feature" });
    const more = make("button", { type: "button" }, "show more");
    const save = make("button", { type: "button" }, "save as CSV");
    let limit = first;
    function found() {
      const wanted = search.value.toLowerCase();
      return wanted ? rows.filter((row) => row[0].toLowerCase().includes(wanted) || (row[1] && row[1].toLowerCase().includes(wanted))) : rows;
    }
    function number(value) {
      const size = Math.abs(value);
      return (size && (size < 1e-4 || size >= 1e6) ? value.toExponential(3) : String(Number(value.toPrecision(4)))).replace("-", "\u2212");
    }
    function paint() {
      const these = found();
      body.replaceChildren();
      for (const row of these.slice(0, limit)) {
        const line = make("tr", {}, make("th", { scope: "row", title: row[0] }, row[1] || row[0]));
        for (const cell of row.slice(2)) {
          line.append(cell ? make("td", {}, number(cell[1]) + " ", make("span", { class: "faint" }, "(" + fixed(cell[2], 1) + " %)")) : make("td", {}));
        }
        body.append(line);
      }
      count.textContent = `${Math.min(limit, these.length)} of ${these.length} are shown` + (these.length < rows.length ? `, of ${rows.length} in all.` : ".");
      more.hidden = these.length <= limit;
    }
    const quoted = (text) => '"' + String(text).replaceAll('"', '""') + '"';
    function csv() {
      const heads = runs.flatMap((run) => ["before", "weight", "share %"].map((what) => runs.length > 1 ? run + " " + what : what));
      const lines = [["feature", ...heads].map(quoted).join(",")];
      for (const row of found()) lines.push([quoted(row[0]), ...row.slice(2).flatMap((cell) => cell || ["", "", ""])].join(","));
      return lines.join("\r\n") + "\r\n";
    }
    search.addEventListener("input", () => { limit = first; paint(); });
    more.addEventListener("click", () => { limit += 500; paint(); });
    save.addEventListener("click", () => {
      const link = make("a", { download: "weights.csv", href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    box.insertBefore(make("div", { class: "tools" }, search, save, more), box.children[0]);
    paint();
  });

  // A run goes on: the page is written again, and loaded again, unless somebody reads it.
  if (data.reload) {
    const timer = setTimeout(() => location.reload(), data.reload);
    const stop = document.querySelector(".reloads button");
    stop.hidden = false;
    stop.addEventListener("click", () => { clearTimeout(timer); stop.hidden = true; });
  }

  // Translations: all, better, worse; twenty at first.
  document.querySelectorAll("[data-changes]").forEach((group) => {
    const list = document.getElementById(group.dataset.changes);
    group.hidden = false;
    group.querySelectorAll("button").forEach((button) => {
      button.addEventListener("click", () => {
        if (button.dataset.show === "more") {
          button.setAttribute("aria-pressed", String(list.classList.toggle("all")));
          return;
        }
        group.querySelectorAll("button[data-show]").forEach((one) => {
          if (one.dataset.show !== "more") one.setAttribute("aria-pressed", String(one === button));
        });
        let shown = 0;
        [...list.children].forEach((item) => {
          const off = button.dataset.show !== "all" && item.dataset.way !== button.dataset.show;
          item.classList.toggle("off", off);
          if (!off) item.classList.toggle("more", shown++ >= 20);
        });
      });
    });
  });
})();

// The candidates of a sentence as a cloud, before and after training, with their texts, features and trees.

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
    const choice = make("button", { type: "button", "aria-pressed": "false" });
    const delta = sentence.change;
    const mark = make("span", { class: "delta " + (delta > 0 ? "up" : delta < 0 ? "down" : "faint") }, signed(delta, 2));
    choice.append(mark, sentence.source || sentence.references[0] || sentence.id);
    choice.addEventListener("click", () => choose(i));
    list.append(choice);
  });
  walk(list);

  const toggle = make("div", { class: "buttons", role: "group", "aria-label": "weights" });
  const buttons = {};
  for (const which of ["before", "after"]) {
    buttons[which] = button(which + " training", () => { when = which; paint(); });
    toggle.append(buttons[which]);
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
  stage.append(head, toggle, svg, saves(() => [svg], "candidates"), key, said, below);
  let dots = [], groups = {}, frame, place;

  function choose(i) {
    current = i;
    [...list.children].forEach((choice, k) => choice.setAttribute("aria-pressed", String(k === i)));
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
      svg.append(draw("text", { x: LEFT - 8, y, dy: ".32em", "text-anchor": "end", fill: "var(--faint)" }, fixed(g, levels.length > 1 ? digitsOf(levels) : 2)));
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
      const column = make("div", { class: kind }, make("h3", {}, kind + " (" + fixed(s.points[i][1], 2) + ")"), make("p", {}, text(s, i) || "(empty)"));
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
  choose(0);
  return build;
}

const clouds = [];
function startClouds(runs) {
  document.querySelectorAll(".candidates").forEach((box) => {
    const run = runs[Number(box.dataset.sentences)];
    if (run.sentences.length) clouds.push(Cloud(box, run.sentences, run.metric));
  });
  const build = () => clouds.forEach((one) => one()); // one that was hidden did not know its width
  redrawn.push(build);
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(build, 150);
  });
}

// Charts: a name of the legend hides and shows its series, and the axis follows; each chart is saved as SVG or PNG.
const COPIED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "transform"];

// A chart that stands alone: what the page's style says of it is written into its elements.
function standalone(svg) {
  const copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
  const theirs = [svg, ...svg.querySelectorAll("*")], ours = [copy, ...copy.querySelectorAll("*")];
  theirs.forEach((element, k) => {
    const style = getComputedStyle(element);
    if (style.display === "none") ours[k].setAttribute("display", "none");
    for (const name of COPIED) {
      const value = style.getPropertyValue(name);
      if (name === "transform") {
        if (element.style.transform) ours[k].setAttribute("transform", element.style.transform.replaceAll("px", ""));
      } else if (value && !["title", "defs", "style"].includes(element.tagName)) ours[k].setAttribute(name, value);
    }
    ours[k].removeAttribute("class");
    ours[k].removeAttribute("style");
  });
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  copy.insertBefore(draw("rect", { x: box.x, y: box.y, width: box.width, height: box.height, fill: getComputedStyle(document.body).backgroundColor }), copy.firstChild);
  return new XMLSerializer().serializeToString(copy);
}
function saveSvg(svg, name) {
  save(name + ".svg", new Blob([standalone(svg)], { type: "image/svg+xml" }));
}
function savePng(svg, name) {
  const image = new Image(), box = svg.viewBox.baseVal, scale = 3;
  image.onload = () => {
    const canvas = make("canvas", { width: box.width * scale, height: box.height * scale });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(name + ".png", blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(standalone(svg));
}
// Buttons for the chart that is in sight: the wide or the narrow one.
function saves(charts, name) {
  const seen = () => charts().find((svg) => svg.getClientRects().length) || charts()[0];
  return make("div", { class: "saves" },
    button("SVG", () => saveSvg(seen(), name), { "aria-label": `save ${name} as SVG` }),
    button("PNG", () => savePng(seen(), name), { "aria-label": `save ${name} as PNG` }));
}

function startFigures() {
  document.querySelectorAll(".figure").forEach((figure) => {
    const charts = [...figure.querySelectorAll(".chart")], items = figure.querySelectorAll(".toggles li");
    if (!charts.length) return;
    const last = charts[charts.length - 1].closest(".narrow") || charts[charts.length - 1];
    last.after(saves(() => charts, figure.id));
    const refits = charts.filter((svg) => svg.dataset.frame).map(Axis);
    const series = figure.querySelectorAll(".series");
    items.forEach((item) => {
      const toggle = make("button", { type: "button", "aria-pressed": "true" }, ...item.childNodes);
      item.append(toggle);
      toggle.addEventListener("click", () => {
        const on = toggle.getAttribute("aria-pressed") === "false";
        toggle.setAttribute("aria-pressed", String(on));
        series.forEach((one) => { if (one.dataset.series === item.dataset.toggle) one.classList.toggle("off", !on); });
        refits.forEach((refit) => refit());
      });
    });
  });
}

function Axis(svg) {
  const [left, right, top, height, low, high] = svg.dataset.frame.split(" ").map(Number);
  const grid = svg.querySelector(".grid-y"), all = [...svg.querySelectorAll(".series")];
  const whole = [...grid.childNodes];
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
      grid.replaceChildren(...whole);
      return;
    }
    grid.replaceChildren();
    for (const level of levels) {
      const y = top + height * (1 - (level - a) / (b - a));
      grid.append(draw("line", { x1: left, x2: right, y1: y, y2: y, stroke: "var(--grid)" }));
      grid.append(draw("text", { x: left - 7, y, dy: ".32em", "text-anchor": "end", fill: "var(--faint)" }, fixed(level, digitsOf(levels))));
    }
  };
}

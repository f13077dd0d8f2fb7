// Elements, files to save, the sections on the left, the choice of a run, keys. Text goes into the page as text nodes only.
const SVG = "http://www.w3.org/2000/svg";
document.documentElement.classList.add("js");

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}
function draw(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}
function button(text, act, attributes) {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}
function select(label, options, chosen, act) {
  const made = make("select", { "aria-label": label });
  options.forEach(([value, text]) => made.append(make("option", value === chosen ? { value, selected: "" } : { value }, text)));
  made.addEventListener("change", () => act(made.value));
  return made;
}
function save(name, blob) {
  const link = make("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
function saveCsv(name, rows) {
  save(name + ".csv", new Blob([csvOf(rows)], { type: "text/csv" }));
}

// Sections: the one in sight is marked; on a narrow screen they open below the bar.
function Navigation(box) {
  const menu = box.querySelector(".menu"), links = [...box.querySelectorAll("li a")];
  const open = (on) => {
    box.classList.toggle("open", on);
    menu.setAttribute("aria-expanded", String(on));
  };
  menu.addEventListener("click", () => open(!box.classList.contains("open")));
  links.forEach((link) => link.addEventListener("click", () => open(false)));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && box.classList.contains("open")) {
      open(false);
      menu.focus();
    }
  });
  const sections = links.map((link) => document.getElementById(link.hash.slice(1)));
  let waiting = false;
  const mark = () => {
    waiting = false;
    const at = sections.findLastIndex((section) => section.getBoundingClientRect().top < innerHeight / 3);
    links.forEach((link, k) => (k === at ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(mark);
    waiting = true;
  }, { passive: true });
  mark();
  return (step) => { // to the next section or the one before
    const at = sections.findIndex((section) => section.getBoundingClientRect().top > 40);
    const here = at < 0 ? sections.length : at;
    const near = here > 0 && Math.abs(sections[here - 1].getBoundingClientRect().top) <= 40;
    const to = sections[step > 0 ? here : here - (near ? 2 : 1)];
    if (to) to.scrollIntoView();
    else if (step < 0) scrollTo(0, 0);
  };
}

// Runs: one choice moves all sections.
const redrawn = []; // called when something that was hidden may be seen
function showRun(run) {
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
  redrawn.forEach((redraw) => redraw());
}

// Keys: what each does is written in the dialog that ? opens.
const KEYS = [["?", "show these keys"], ["n", "next section"], ["p", "previous section"], ["t", "top of the page"]];
const keys = {};
function onKey(key, told, act) {
  keys[key] = act;
  if (told) KEYS.push([key, told]);
}
function startKeys(step) {
  const list = make("dl", {});
  const dialog = make("dialog", { "aria-labelledby": "keys-title" }, make("h2", { id: "keys-title" }, "Keyboard"), list);
  dialog.append(button("Close", () => dialog.close()));
  document.body.append(dialog);
  const help = () => {
    list.replaceChildren();
    for (const [key, told] of KEYS) list.append(make("dt", {}, make("kbd", {}, key)), make("dd", {}, told));
    dialog.showModal();
  };
  document.querySelectorAll(".keys button").forEach((one) => one.addEventListener("click", help));
  onKey("?", null, help);
  onKey("n", null, () => step(1));
  onKey("p", null, () => step(-1));
  onKey("t", null, () => scrollTo(0, 0));
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "radio";
    if (event.ctrlKey || event.metaKey || event.altKey || typing || dialog.open || !Object.hasOwn(keys, event.key)) return;
    keys[event.key]();
    event.preventDefault();
  });
}

// Print: parts that hold only what is in sight are written out.
function onPrint(before, after) {
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
}

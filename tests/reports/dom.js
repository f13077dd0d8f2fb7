// As much of a document as the report's script needs, for an engine without a browser.
class Style { constructor() { this.transform = ""; this.display = ""; this.background = ""; } }
class Element {
  constructor(name) {
    this.name = name; this.children = []; this.attributes = {}; this.listeners = {}; this.style = new Style();
    this.dataset = {}; this.parent = null; this.hidden = false; this.checked = false; this.own = "";
  }
  get classes() { return (this.attributes.class || "").split(" ").filter(Boolean); }
  get classList() {
    const self = this;
    return {
      add(name) { self.attributes.class = [...new Set([...self.classes, name])].join(" "); },
      toggle(name, on) {
        if (on === undefined) on = !self.classes.includes(name);
        self.attributes.class = self.classes.filter((c) => c !== name).concat(on ? [name] : []).join(" ");
        return on;
      },
      contains(name) { return self.classes.includes(name); },
    };
  }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  getAttribute(key) { return key in this.attributes ? this.attributes[key] : null; }
  append(...nodes) {
    for (const node of nodes) {
      const child = node instanceof Element ? node : Object.assign(new Element("#text"), { own: String(node) });
      child.parent = this;
      this.children.push(child);
    }
  }
  replaceChildren(...nodes) { this.children = []; this.own = ""; this.append(...nodes); }
  get textContent() { return this.own + this.children.map((child) => child.textContent).join(""); }
  set textContent(text) { this.children = []; this.own = String(text); }
  addEventListener(kind, call) { (this.listeners[kind] = this.listeners[kind] || []).push(call); }
  fire(kind, event) { for (const call of this.listeners[kind] || []) call(event || { target: this, preventDefault() {} }); }
  click() { this.fire("click"); }
  focus() { document.activeElement = this; }
  getBoundingClientRect() { return { left: 0, top: 0, width: 660, height: 420 }; }
  matches(selector) {
    const [, name, rest] = /^([a-z]*)(.*)$/.exec(selector);
    if (name && this.name !== name) return false;
    return (rest.match(/\.[\w-]+|\[[^\]]+\]/g) || []).every((part) => {
      if (part[0] === ".") return this.classes.includes(part.slice(1));
      const key = part.slice(1, -1).replace("data-", "");
      return key in this.dataset;
    });
  }
  *all() { for (const child of this.children) { yield child; yield* child.all(); } }
  querySelectorAll(selector) {
    const last = selector.split(" ").pop();
    return [...this.all()].filter((one) => one.matches(last));
  }
  querySelector(selector) { return this.querySelectorAll(selector)[0] || null; }
}
const root = new Element("html");
const document = {
  documentElement: root, activeElement: null,
  createElement: (name) => new Element(name),
  createElementNS: (space, name) => new Element(name),
  getElementById: (id) => [...root.all()].find((one) => one.attributes.id === id) || null,
  querySelectorAll: (selector) => root.querySelectorAll(selector),
  querySelector: (selector) => root.querySelector(selector),
};
function box(name, attributes, dataset) {
  const element = new Element(name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  Object.assign(element.dataset, dataset || {});
  root.append(element);
  return element;
}

// The page of `hopefear serve`. Text of users is only ever put in as text (textContent), never as HTML.
"use strict";

const WAIT = 350; // ms after the last key until the text is translated
const ALTERNATIVES = 5;
const DOUBTFUL = 0.5; // a quality below this asks for a look,
const UNKNOWN = 0.2; // and so does this share of unknown words
const $ = (selector, within = document) => within.querySelector(selector);
const source = $("#source"), mirror = $("#mirror"), target = $("#target"), from = $("#from"), to = $("#to");
const state = { translators: [], limit: 20000, lines: [], asked: null, timer: 0, key: sessionStorage.getItem("key") || "" };

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function say(text, problem = false) {
  const line = $("#state");
  line.textContent = text;
  line.classList.toggle("problem", problem);
}

// --- Requests --------------------------------------------------------------------------------------------------

async function ask(path, body, signal, method = body ? "POST" : "GET") {
  const headers = state.key ? { Authorization: `Bearer ${state.key}` } : {};
  const form = body instanceof FormData;
  if (body && !form) headers["Content-Type"] = "application/json";
  const options = body ? { method, body: form ? body : JSON.stringify(body) } : { method };
  let response;
  for (let tries = 0; ; tries++) {
    response = await fetch(path, { ...options, headers, signal });
    if (response.status !== 503 || tries === 2) break;
    say("The server is busy; trying again ...");
    const seconds = Math.min(10, Number(response.headers.get("Retry-After")) || 1);
    await new Promise((done) => setTimeout(done, 1000 * seconds));
  }
  const answer = await response.json().catch(() => ({}));
  if (response.status === 403 && !$("#key").hidden && await askKey()) return ask(path, body, signal, method);
  if (!response.ok) throw new Error(answer.error || `the server answers ${response.status}`);
  return answer;
}

function askKey() {
  const dialog = $("#ask");
  if (!dialog.open) dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "ok") return done(false);
    state.key = $("#key-text").value.trim();
    sessionStorage.setItem("key", state.key);
    done(true);
  }, { once: true }));
}

// --- Languages -------------------------------------------------------------------------------------------------

function fill(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => element("option", { value, textContent: text })));
  if (entries.some(([value]) => value === chosen)) select.value = chosen;
}

const unique = (pairs) => [...new Map(pairs).entries()];

function showSources(chosen) {
  const names = unique(state.translators.map((each) => [each.source, each.source_name]));
  if (names.length > 1) names.unshift(["auto", "Detect language"]);
  fill(from, names, chosen);
}

function showTargets(chosen) {
  const some = state.translators.filter((each) => from.value === "auto" || each.source === from.value);
  fill(to, unique(some.map((each) => [each.target, each.target_name])), chosen);
  const back = state.translators.some((each) => each.source === to.value && (from.value === "auto" || each.target === from.value));
  $("#swap").disabled = !back;
  const translator = some.find((each) => each.target === to.value);
  $("#card").textContent = translator ? [translator.name, translator.card.licence].filter(Boolean).join(" · ") : "";
  target.lang = to.value;
  source.lang = from.value === "auto" ? "" : from.value;
  localStorage.setItem("pair", JSON.stringify([from.value, to.value]));
}

function swap() {
  const [oldFrom, oldTo] = [from.value, to.value];
  const text = state.lines.length ? shownText() : source.value;
  showSources(oldTo);
  showTargets(oldFrom);
  source.value = text;
  changed(0);
}

// --- Translating -----------------------------------------------------------------------------------------------

function changed(wait = WAIT) {
  const length = [...source.value].length;
  $("#count").textContent = `${length.toLocaleString()} / ${state.limit.toLocaleString()}`;
  $("#count").classList.toggle("over", length > state.limit);
  $("#clear").hidden = !length;
  state.stale = true;
  drawMirror();
  clearTimeout(state.timer);
  state.timer = setTimeout(translate, wait);
}

// Every line is a text of its own, and the server cuts it into sentences; blank lines stay between them.
const pieces = (text) => text.split("\n").map((line) => ({ text: line, blank: !line.trim() }));

async function translate() {
  state.asked?.abort();
  const text = source.value;
  if (!text.trim()) {
    show([]);
    say("");
    return;
  }
  const asked = state.asked = new AbortController();
  const parts = pieces(text);
  target.setAttribute("aria-busy", "true");
  say("Translating ...");
  try {
    const begin = performance.now();
    const texts = parts.filter((part) => !part.blank).map((part) => part.text);
    const answer = await ask("v1/translate",
      { text: texts, source: from.value, target: to.value, alternatives: ALTERNATIVES, sentences: true }, asked.signal);
    if (asked !== state.asked) return;
    const translations = answer.translations.values();
    show(parts.map((part) => ({ text: part.text, sentences: part.blank ? [] : sentencesOf(part.text, translations.next().value) })));
    const name = state.translators.find((each) => each.source === answer.source)?.source_name;
    const detected = from.value === "auto" ? `Detected: ${name}. ` : "";
    say(`${detected}${((performance.now() - begin) / 1000).toFixed(1)} seconds`);
  } catch (error) {
    if (error.name !== "AbortError" && asked === state.asked) say(`Not translated: ${error.message}`, true);
  } finally {
    if (asked === state.asked) target.setAttribute("aria-busy", "false");
  }
}

// --- Showing ---------------------------------------------------------------------------------------------------

// The sentences of a line, each with the text that stands before it.
function sentencesOf(text, translation) {
  const letters = [...text];
  let at = 0;
  return translation.sentences.map((each) => {
    const sentence = { ...each, source: letters.slice(each.begin, each.end).join(""), before: letters.slice(at, each.begin).join(""), chosen: 0 };
    at = each.end;
    return sentence;
  });
}

const versions = (sentence) => [{ text: sentence.text, score: null }, ...sentence.alternatives];
const chosenText = (sentence) => versions(sentence)[sentence.chosen].text;
const lineText = (line) => line.sentences.map((each) => each.before + chosenText(each)).join("");
const shownText = () => state.lines.map(lineText).join("\n");
const sentences = () => state.lines.flatMap((line) => line.sentences);

function show(lines) {
  state.lines = lines;
  state.stale = false;
  target.replaceChildren(...lines.map(drawLine));
  $("#copy").disabled = !lines.length;
  drawMirror();
  const marks = new Set(sentences().flatMap((each) => each.marks ?? []).map((mark) => mark.kind));
  $("#legend").replaceChildren(
    ...(marks.has("kept") ? [element("span", { className: "kept", textContent: "kept as it is" }), " "] : []),
    ...(marks.has("term") ? [element("span", { className: "term", textContent: "from the glossary" })] : []));
}

// The pieces of a text between all begins and ends of spans. The server counts characters, JavaScript units of UTF-16.
function cut(text, spans) {
  const letters = [...text];
  const at = [...new Set([0, letters.length, ...spans.flatMap((span) => [span.begin, span.end])])]
    .filter((place) => place >= 0 && place <= letters.length).sort((a, b) => a - b);
  return at.slice(0, -1).map((begin, k) => ({
    text: letters.slice(begin, at[k + 1]).join(""),
    spans: spans.filter((span) => span.begin <= begin && at[k + 1] <= span.end && span.begin < span.end),
  }));
}

function spansOf(sentence, side) {
  const links = sentence.chosen === 0 ? sentence.alignment : [];
  const spans = links.map((link, number) => ({ begin: link[2 * side], end: link[2 * side + 1], number }));
  const marks = (sentence.marks ?? []).filter((mark) => mark.side === (side ? "target" : "source"));
  return [...spans, ...(side && sentence.chosen ? [] : marks)];
}

function drawSpans(text, sentence, side) {
  return cut(text, spansOf(sentence, side)).map((piece) => {
    if (!piece.spans.length) return document.createTextNode(piece.text);
    const span = element("span", { textContent: piece.text });
    span.dataset.links = piece.spans.filter((each) => "number" in each).map((each) => each.number).join(" ");
    piece.spans.filter((each) => each.kind).forEach((each) => span.classList.add(each.kind === "term" ? "term" : "kept"));
    return span;
  });
}

function drawLine(line) {
  if (!line.sentences.length) return element("div", { className: "gap" });
  const drawn = line.drawn = $("#line").content.cloneNode(true).firstElementChild;
  $(".words", drawn).replaceChildren(...line.sentences.flatMap((each) => [each.before, drawSentence(each, line)]));
  const doubtful = line.sentences.filter(isDoubtful).sort((a, b) => a.quality.score - b.quality.score);
  if (doubtful.length) {
    drawn.classList.add("check");
    const flag = $(".flag", drawn);
    flag.hidden = false;
    const unknown = Math.round(100 * (doubtful[0].quality.unknown_share || 0));
    const what = line.sentences.length > 1 ? "Check what is underlined" : "Check this";
    flag.textContent = `${what}: ${unknown ? `${unknown} % of the words are unknown` : "the translator is not sure"}`;
  }
  return drawn;
}

const isDoubtful = ({ quality }) => (quality.score ?? 1) < DOUBTFUL || (quality.unknown_share ?? 0) >= UNKNOWN;

function drawSentence(sentence, line) {
  const drawn = sentence.drawn = element("span", { className: "sentence", tabIndex: 0, title: "Click for alternatives" });
  drawn.replaceChildren(...drawSpans(chosenText(sentence), sentence, 1));
  drawn.classList.toggle("doubt", isDoubtful(sentence) && line.sentences.length > 1);
  drawn.setAttribute("role", "button");
  drawn.setAttribute("aria-expanded", "false");
  drawn.addEventListener("click", () => getSelection().isCollapsed && toggle(sentence, line));
  drawn.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle(sentence, line);
  });
  drawn.addEventListener("pointerover", (event) => light(sentence, event.target.dataset.links));
  drawn.addEventListener("pointerleave", () => light(null));
  return drawn;
}

// Open what can be done with a sentence, below its line; all others are closed.
function toggle(sentence, line, open = !sentence.drawn.classList.contains("open")) {
  for (const other of state.lines.filter((each) => each.drawn)) {
    const here = open && other === line;
    other.drawn.classList.toggle("open", here);
    $(".more", other.drawn).hidden = !here;
    for (const each of other.sentences) {
      each.drawn.classList.toggle("open", here && each === sentence);
      each.drawn.setAttribute("aria-expanded", String(here && each === sentence));
    }
  }
  if (!open) return;
  $(".actions", line.drawn).replaceChildren(...actions(sentence));
  $(".choices", line.drawn).replaceChildren(...choices(sentence));
}

// What can be done with a sentence: buttons.
function actions(sentence) {
  return [
    element("button", { type: "button", className: "explain", textContent: "Why this translation", onclick: () => explain(sentence) }),
    element("button", { type: "button", textContent: "Copy", onclick: () => copy(chosenText(sentence)) }),
    element("button", { type: "button", className: "correct", textContent: "Correct", onclick: (event) => correct(sentence, event.target) }),
  ];
}

// A field in place of the button: Enter teaches the translator, Escape leaves it as it was.
function correct(sentence, button) {
  const field = element("textarea", { className: "correction", value: chosenText(sentence), rows: 2 });
  field.setAttribute("aria-label", "What the translation should be; Enter to learn it");
  button.replaceWith(field);
  field.focus();
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.replaceWith(button);
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    learn(sentence, field);
  });
}

async function learn(sentence, field) {
  const pair = { source: from.value, target: to.value };
  field.readOnly = true;
  try {
    const learnt = await ask("v1/corrections", { text: sentence.source, correction: field.value, ...pair });
    const address = `v1/corrections/${encodeURIComponent(learnt.id)}?${new URLSearchParams(pair)}`;
    const undo = element("button", { type: "button", className: "undo", textContent: "Undo" });
    undo.addEventListener("click", async () => {
      try {
        await ask(address, undefined, undefined, "DELETE");
        said.replaceWith("Undone: the next translation is as before.");
      } catch (error) {
        say(`Not undone: ${error.message}`, true);
      }
    });
    const said = element("p", { className: "learnt" }, element("span", { textContent: learnt.text }), undo);
    field.replaceWith(said);
    if (learnt.status !== "learnt") return;
    Object.assign(sentence, { text: field.value, chosen: 0, alignment: [], marks: [] });
    sentence.drawn.replaceChildren(field.value);
    drawMirror();
  } catch (error) {
    field.readOnly = false;
    say(`Not learnt: ${error.message}`, true);
  }
}

function choices(sentence) {
  const all = versions(sentence);
  if (all.length === 1) return [element("li", { className: "same", textContent: "There are no alternatives." })];
  return all.map((version, number) => {
    const score = element("span", { className: "score", textContent: number === 0 ? "best" : version.score?.toFixed(2) ?? "" });
    score.title = "The model's score: higher is better";
    const button = element("button", { type: "button" }, element("span", { textContent: version.text }), score);
    button.setAttribute("aria-pressed", String(number === sentence.chosen));
    button.addEventListener("click", () => choose(sentence, number, button));
    return element("li", {}, button);
  });
}

function choose(sentence, number, button) {
  sentence.chosen = number;
  sentence.drawn.replaceChildren(...drawSpans(chosenText(sentence), sentence, 1));
  for (const other of button.closest("ol").querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
  drawMirror();
}

async function explain(sentence) {
  say("Looking up the derivation ...");
  try {
    const answer = await ask("v1/explain", { text: sentence.source, source: from.value, target: to.value });
    $("#why-text").replaceChildren(element("pre", { textContent: answer.explanation }));
    $("#why").showModal();
    say("");
  } catch (error) {
    say(`No explanation: ${error.message}`, true);
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed, or not over HTTPS
    const field = element("textarea", { value: text, className: "hidden" });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  say("Copied.");
}

// --- Words that belong together --------------------------------------------------------------------------------

// Behind the text area lies the same text, invisible, with spans that can be lit.
function drawMirror() {
  if (state.stale || !state.lines.length) {
    mirror.textContent = `${source.value}\n`;
    return;
  }
  mirror.replaceChildren(...state.lines.flatMap((line, number) => [
    number ? "\n" : "",
    ...(line.sentences.length ? line.sentences.flatMap((each) => {
      each.mirror = element("span", {}, ...drawSpans(each.source, each, 0));
      return [each.before, each.mirror];
    }) : [line.text]),
  ]), "\n");
}

function light(sentence, links = "") {
  document.querySelectorAll(".lit").forEach((span) => span.classList.remove("lit"));
  if (!sentence || !links || !sentence.mirror?.isConnected) return;
  const wanted = new Set(links.split(" "));
  for (const side of [sentence.mirror, sentence.drawn]) {
    for (const span of side.querySelectorAll("[data-links]")) {
      if (span.dataset.links.split(" ").some((link) => wanted.has(link))) span.classList.add("lit");
    }
  }
}

function lightAt(x, y) {
  for (const sentence of sentences()) {
    if (!sentence.mirror?.isConnected) continue;
    for (const span of sentence.mirror.querySelectorAll("[data-links]")) {
      for (const box of span.getClientRects()) {
        if (x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) return light(sentence, span.dataset.links);
      }
    }
  }
  light(null);
}

// --- Begin -----------------------------------------------------------------------------------------------------

async function begin() {
  try {
    const settings = await ask("frontend/settings");
    state.limit = settings.charLimit;
    $("#key").hidden = !settings.keyRequired;
    $("#file").accept = settings.supportedFilesFormat.join(",");
    state.translators = (await ask("v1/translators")).translators;
  } catch (error) {
    say(`The server does not answer: ${error.message}`, true);
    return;
  }
  let pair = [];
  try {
    pair = JSON.parse(localStorage.getItem("pair")) || [];
  } catch { /* somebody else's */ }
  showSources(pair[0]);
  showTargets(pair[1]);
  from.addEventListener("change", () => { showTargets(to.value); changed(0); });
  to.addEventListener("change", () => { showTargets(to.value); changed(0); });
  $("#swap").addEventListener("click", swap);
  $("#clear").addEventListener("click", () => { source.value = ""; changed(0); source.focus(); });
  $("#copy").addEventListener("click", () => copy(shownText()));
  $("#key").addEventListener("click", askKey);
  source.addEventListener("input", () => changed());
  source.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) changed(0);
  });
  source.addEventListener("pointermove", (event) => lightAt(event.clientX, event.clientY));
  source.addEventListener("pointerleave", () => light(null));
  documents();
  changed(0);
}

begin();

// Documents that are dropped on the page or chosen: sent, translated, downloaded. page.js calls documents().
"use strict";

function open(file) {
  const note = element("span", { className: "note" });
  const row = element("li", {}, element("span", { className: "name", textContent: file.name }), note);
  row.setAttribute("aria-live", "polite");
  $("#documents").hidden = false;
  $("#documents ul").prepend(row);
  send(file, note);
}

async function send(file, note, column = "") {
  note.textContent = "translating ...";
  const form = new FormData();
  form.append("source", from.value);
  form.append("target", to.value);
  form.append("column", column);
  form.append("file", file);
  try {
    const answer = await ask("v1/documents", form);
    const link = element("a", { href: `v1/documents/${encodeURIComponent(answer.id)}`, download: answer.name, textContent: `Download ${answer.name}` });
    const left = answer.left.length ? [element("span", { className: "problem", title: answer.left.join("\n"),
      textContent: `${answer.left.length} left as they were` })] : [];
    note.replaceWith(...left, link);
  } catch (error) {
    note.replaceChildren(element("span", { className: "problem", textContent: error.message }));
    if (/\.[ct]sv$/i.test(file.name)) note.append(columnForm(file, note, column));
  }
}

// Which column of a table is to be translated.
function columnForm(file, note, column) {
  const field = element("input", { value: column, size: 12, required: true, ariaLabel: "Column to translate" });
  const form = element("form", {}, field, element("button", { textContent: "Translate this column" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(file, note, field.value);
  });
  return form;
}

function documents() {
  let depth = 0;
  const isFile = (event) => event.dataTransfer?.types.includes("Files");
  const over = (change) => (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    depth = Math.max(0, depth + change);
    $("#drop").hidden = depth === 0;
  };
  addEventListener("dragenter", over(1));
  addEventListener("dragleave", over(-1));
  addEventListener("dragover", (event) => isFile(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    depth = 0;
    $("#drop").hidden = true;
    [...event.dataTransfer.files].forEach(open);
  });
  $("#file").addEventListener("change", (event) => {
    [...event.target.files].forEach(open);
    event.target.value = "";
  });
}

// The list of corrections: search, undo, export. Text of users is only ever put in as text, never as HTML.
"use strict";

const list = $("#corrections-list"), query = $("#corrections-query");
const address = (more = {}) => `v1/corrections?${new URLSearchParams({ source: from.value, target: to.value, ...more })}`;

async function listCorrections() {
  const wanted = query.value.trim();
  try {
    const answer = await ask(address(wanted ? { q: wanted } : {}));
    if (wanted !== query.value.trim()) return; // another search is on its way
    list.replaceChildren(...answer.corrections.reverse().map(drawCorrection));
    $("#corrections-count").textContent = answer.count === 1 ? "1 correction" : `${answer.count} corrections`;
  } catch (error) {
    list.replaceChildren();
    $("#corrections-count").textContent = error.message;
  }
}

function drawCorrection(each) {
  const about = [each.id, each.time.slice(0, 16).replace("T", " "), each.user, each.project, each.status, each.reason];
  const drawn = element("li", {},
    element("span", { textContent: each.source, dir: "auto" }), element("span", { textContent: each.correction, dir: "auto" }));
  if (each.status !== "undone") {
    const undo = element("button", { type: "button", className: "undo", textContent: "Undo" });
    undo.addEventListener("click", async () => {
      try {
        await ask(`v1/corrections/${encodeURIComponent(each.id)}?${address().split("?")[1]}`, undefined, undefined, "DELETE");
        await listCorrections();
        changed(0);
      } catch (error) {
        $("#corrections-count").textContent = `Not undone: ${error.message}`;
      }
    });
    drawn.append(undo);
  }
  drawn.append(element("span", { className: "faint", textContent: about.filter(Boolean).join(" · ") }));
  return drawn;
}

async function exportCorrections() {
  const headers = state.key ? { Authorization: `Bearer ${state.key}` } : {};
  const response = await fetch(address({ format: "tmx" }), { headers });
  if (!response.ok) {
    $("#corrections-count").textContent = `Not exported: the server answers ${response.status}`;
    return;
  }
  const link = element("a", { href: URL.createObjectURL(await response.blob()), download: `corrections-${from.value}-${to.value}.tmx` });
  link.click();
  URL.revokeObjectURL(link.href);
}

$("#taught").addEventListener("click", () => {
  $("#corrections").showModal();
  listCorrections();
});
query.addEventListener("input", listCorrections);
$("#corrections-export").addEventListener("click", exportCorrections);
const offer = () => { $("#taught").hidden = from.value === "auto"; };
from.addEventListener("change", offer);
new MutationObserver(offer).observe(from, { childList: true });
offer();

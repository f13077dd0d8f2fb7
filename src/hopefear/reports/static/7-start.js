// The data of the page are packed; when they are there, everything begins.
function unpacked() {
  const text = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

function start(data) {
  const nav = document.querySelector(".sections");
  const step = nav ? Navigation(nav) : () => {};
  document.querySelectorAll(".tabs input").forEach((input) => input.addEventListener("change", () => showRun(input.value)));
  startTables(data.weights);
  startFigures();
  startClouds(data.runs || []);
  startSentences(data.sentences || []);
  showRun(0);
  startKeys(step);
  document.documentElement.classList.add("ready");
}

// A run goes on: the page is written again, and loaded again, unless somebody reads it.
function startReloads(box) {
  const timer = setTimeout(() => location.reload(), Number(box.dataset.reload));
  const stop = box.querySelector("button");
  stop.hidden = false;
  stop.addEventListener("click", () => {
    clearTimeout(timer);
    stop.hidden = true;
  });
}
document.querySelectorAll(".reloads").forEach(startReloads);

if (typeof DecompressionStream === "undefined") {
  document.querySelectorAll(".listing, .stage").forEach((box) => {
    box.textContent = "This browser is too old for this part. It needs Chrome 80, Firefox 113 or Safari 16.4.";
  });
  start({});
} else {
  unpacked().then(start);
}

// The map: points, legend, marking, lasso into the change of many, the panel beside it.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const frame = document.querySelector('[data-map="canvas"]');
  if (!frame || !window.memsuite || !window.Sigma) return;
  const part = (name) => document.querySelector(`[data-map="${name}"]`);
  const MOST = 1000;
  const wait = part("wait");
  const faint = memsuite.canvas.colourOf("--m-line-2");
  let drawing;
  let marked = null;
  let chosen = new Set();
  let endLasso = null;

  const hiddenCategories = () =>
    new Set([...document.querySelectorAll('[data-map="category"]:not(:checked)')].map((box) => box.value));

  function look(hidden) {
    const { points } = drawing;
    return (at, name) => {
      if (hidden.has(points.told.categories[points.category[at]])) return { hidden: true };
      if (chosen.size && !chosen.has(name)) return { color: faint };
      if (marked && !marked.has(name)) return { color: faint };
      if (marked || chosen.size) return { size: 5, zIndex: 1 };
      return {};
    };
  }

  function redraw() {
    drawing.look = look(hiddenCategories());
    drawing.refresh();
  }

  function choose(ids) {
    chosen = new Set(ids);
    const form = part("bulk");
    for (const old of form.querySelectorAll('input[name="ids"]')) old.remove();
    for (const id of ids.slice(0, MOST)) {
      const input = document.createElement("input");
      input.type = "hidden";
      input.name = "ids";
      input.value = id;
      form.appendChild(input);
    }
    part("count").textContent = ids.length.toLocaleString("en");
    part("limit").textContent = ids.length > MOST ? `the first ${MOST.toLocaleString("en")} are changed at once` : "";
    form.hidden = !ids.length;
    redraw();
  }

  function stopLasso() {
    if (endLasso) endLasso();
    endLasso = null;
    part("lasso").setAttribute("aria-pressed", "false");
  }

  function clear() {
    stopLasso();
    marked = null;
    drawing.ring(null);
    part("panel").replaceChildren();
    choose([]);
  }

  function open(id) {
    drawing.ring(id);
    htmx.ajax("GET", frame.dataset.panel.replace("ID", encodeURIComponent(id)), { target: part("panel"), swap: "innerHTML" });
  }

  function say(points) {
    const { told } = points;
    const shown = told.sample ? `${points.n.toLocaleString("en")} of ${told.total.toLocaleString("en")} memories, an even sample` : `${points.n.toLocaleString("en")} memories`;
    const how = told.method === "umap" ? "laid out by likeness" : "by their principal components, until the layout is worked out";
    part("says").textContent = `${shown}, ${how}`;
  }

  function wire() {
    part("in").addEventListener("click", () => drawing.zoom(1.6));
    part("out").addEventListener("click", () => drawing.zoom(1 / 1.6));
    part("whole").addEventListener("click", () => drawing.whole());
    part("clear").addEventListener("click", clear);
    part("colour").addEventListener("change", (event) => drawing.colourBy(event.target.value));
    part("lasso").addEventListener("click", () => {
      if (endLasso) { stopLasso(); return; }
      endLasso = drawing.lasso((ids) => { stopLasso(); choose(ids); });
      part("lasso").setAttribute("aria-pressed", "true");
    });
    for (const box of document.querySelectorAll('[data-map="category"]')) box.addEventListener("change", redraw);
    part("find").addEventListener("submit", async (event) => {
      event.preventDefault();
      const words = new FormData(event.target);
      if (!String(words.get("q")).trim()) { marked = null; redraw(); return; }
      const answer = await fetch(`${event.target.action}?${new URLSearchParams(words)}`, { credentials: "same-origin" });
      marked = answer.ok ? new Set((await answer.text()).split("\n").filter(Boolean)) : new Set();
      part("says").textContent = `${marked.size.toLocaleString("en")} marked`;
      redraw();
    });
    document.addEventListener("click", (event) => {
      if (event.target.closest('[data-map="close"]')) { part("panel").replaceChildren(); drawing.ring(null); }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.target.closest("input, select, textarea")) clear();
    });
    drawing.sigma.on("clickNode", ({ node }) => open(node));
    drawing.sigma.on("clickStage", () => { drawing.ring(null); part("panel").replaceChildren(); });
  }

  memsuite.canvas
    .read(frame.dataset.points)
    .then((points) => {
      drawing = new memsuite.canvas.Drawing(part("gl"), points, points.n > 20000 ? 1.5 : points.n > 2000 ? 2.5 : 4);
      wire();
      redraw();
      say(points);
      wait.hidden = true;
      frame.dataset.ready = "1";
      memsuite.map = { drawing, choose };
    })
    .catch((error) => {
      wait.textContent = error.message === "busy" ? "Two large computations are running. Reload in a moment." : "The points could not be read. Reload to try again.";
    });
});

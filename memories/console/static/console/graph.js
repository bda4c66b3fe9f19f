// The graph: memories as points, three kinds of edges, the neighbourhood of what is clicked.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const frame = document.querySelector('[data-graph="canvas"]');
  if (!frame || !window.memsuite || !window.Sigma) return;
  const part = (name) => document.querySelector(`[data-graph="${name}"]`);
  const { colourOf } = memsuite.canvas;
  const wait = part("wait");
  const empty = part("panel").innerHTML;
  const colours = { likeness: colourOf("--m-line-2"), declared: colourOf("--m-accent"), spoke: colourOf("--m-line"), faint: colourOf("--m-line") };
  const FRESH_DAYS = 7;
  let drawing;
  let around = null;

  function addEdges(edges) {
    const { graph } = drawing;
    const add = (from, to, kind, size) => {
      if (graph.hasNode(from) && graph.hasNode(to)) graph.addEdge(from, to, { kind, size, color: colours[kind] });
    };
    for (const hub of edges.hubs) {
      const name = `hub:${hub.name}`;
      graph.addNode(name, { at: -1, x: hub.x, y: hub.y, size: 6, color: colourOf("--m-fg-3"), label: hub.name, hub: true });
      for (const member of hub.members) add(name, member, "spoke", 0.5);
    }
    for (const [from, to] of edges.likeness) add(from, to, "likeness", 1);
    for (const [from, to] of edges.declared) add(from, to, "declared", 2);
  }

  function redraw() {
    const { points, graph } = drawing;
    drawing.look = (at, name) => {
      const style = {};
      if (at >= 0 && points.days[at] < FRESH_DAYS) style.size = graph.getNodeAttribute(name, "size") * 1.4;
      if (at < 0) style.forceLabel = true;
      if (around && !around.has(name)) style.color = colours.faint;
      if (around && around.has(name)) style.zIndex = 1;
      return style;
    };
    drawing.edgeLook = (name) => {
      if (!around) return {};
      const [from, to] = graph.extremities(name);
      return around.has(from) && around.has(to) ? { zIndex: 1 } : { hidden: true };
    };
    drawing.refresh();
  }

  function open(id) {
    if (drawing.graph.getNodeAttribute(id, "hub")) { around = new Set([id, ...drawing.graph.neighbors(id)]); redraw(); return; }
    around = new Set([id]);
    drawing.graph.forEachEdge(id, (edge, data, from, to) => { if (data.kind !== "spoke") { around.add(from); around.add(to); } });
    drawing.ring(id);
    redraw();
    htmx.ajax("GET", frame.dataset.panel.replace("ID", encodeURIComponent(id)), { target: part("panel"), swap: "innerHTML" });
  }

  function clear() {
    around = null;
    drawing.ring(null);
    part("panel").innerHTML = empty;
    redraw();
  }

  function wire() {
    part("in").addEventListener("click", () => drawing.zoom(1.6));
    part("out").addEventListener("click", () => drawing.zoom(1 / 1.6));
    part("whole").addEventListener("click", () => drawing.whole());
    part("clear").addEventListener("click", clear);
    document.addEventListener("click", (event) => { if (event.target.closest('[data-map="close"]')) clear(); });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.target.closest("input, select, textarea")) clear();
    });
    drawing.sigma.on("clickNode", ({ node }) => open(node));
    drawing.sigma.on("clickStage", clear);
  }

  async function start() {
    const [points, edges] = await Promise.all([
      memsuite.canvas.read(frame.dataset.points),
      fetch(frame.dataset.edges, { credentials: "same-origin" }).then((answer) => {
        if (!answer.ok) throw new Error(answer.status === 503 ? "busy" : String(answer.status));
        return answer.json();
      }),
    ]);
    drawing = new memsuite.canvas.Drawing(part("gl"), points, points.n > 20000 ? 1.5 : points.n > 2000 ? 2.5 : 4);
    drawing.sigma.setSetting("renderLabels", true);
    drawing.sigma.setSetting("labelColor", { color: colourOf("--m-fg") });
    addEdges(edges);
    wire();
    redraw();
    wait.hidden = true;
    frame.dataset.ready = "1";
    memsuite.graph = { drawing, open, clear, around: () => around };
    if (frame.dataset.focus && drawing.graph.hasNode(frame.dataset.focus)) open(frame.dataset.focus);
  }

  start().catch((error) => {
    wait.textContent = error.message === "busy" ? "Two large computations are running. Reload in a moment." : "The graph could not be read. Reload to try again.";
  });
});

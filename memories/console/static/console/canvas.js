// Points on a canvas, for the map and the graph: reading them, colouring them, lasso, keys. No page logic.
"use strict";
window.memsuite = window.memsuite || {};

(function () {
  const SHADES = ["#2f7de1", "#7a8ca3", "#c3cad4"];
  const AGES = [7, 30, 90, 365];

  function colourOf(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888888";
  }

  // The bytes that memories/console/canvas_points.py packs.
  async function read(url) {
    const answer = await fetch(url, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(answer.status === 503 ? "busy" : String(answer.status));
    const bytes = await answer.arrayBuffer();
    const flat = new Uint8Array(bytes);
    const end = flat.indexOf(10);
    const told = JSON.parse(new TextDecoder().decode(flat.subarray(0, end)));
    const n = told.count;
    let at = end + 1;
    const take = (size) => { const part = bytes.slice(at, at + size); at += size; return part; };
    const xy = new Float32Array(take(8 * n));
    const category = new Uint8Array(take(n));
    const tier = new Uint8Array(take(n));
    const days = new Uint16Array(take(2 * n));
    const ids = n ? new TextDecoder().decode(flat.subarray(at)).split("\n") : [];
    return { told, n, xy, category, tier, days, ids };
  }

  // A sigma drawing of the points. Hidden and faded ones are decided by `look(at)`, asked at each refresh.
  class Drawing {
    constructor(place, points, size) {
      this.place = place;
      this.points = points;
      this.graph = new graphology.Graph({ multi: true, type: "undirected" });
      for (let at = 0; at < points.n; at += 1) {
        this.graph.addNode(points.ids[at], { at, x: points.xy[2 * at], y: points.xy[2 * at + 1], size });
      }
      this.colourBy("category");
      this.look = () => ({});
      this.edgeLook = () => ({});
      this.sigma = new Sigma(this.graph, place, {
        allowInvalidContainer: true,
        renderLabels: false,
        hideEdgesOnMove: points.n > 5000,
        minCameraRatio: 0.01,
        maxCameraRatio: 4,
        defaultEdgeColor: colourOf("--m-line-2"),
        nodeReducer: (name, data) => Object.assign({}, data, { color: this.colours[data.at] || data.color }, this.look(data.at, name)),
        edgeReducer: (name, data) => Object.assign({}, data, this.edgeLook(name, data)),
      });
      this.layer = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      this.layer.setAttribute("class", "m-canvas__draw");
      this.layer.setAttribute("width", "100%");
      this.layer.setAttribute("height", "100%");
      place.appendChild(this.layer);
      this.sigma.getCamera().on("updated", () => this.ring(this.ringed));
      place.addEventListener("keydown", (event) => this.key(event));
    }

    colourBy(kind) {
      const { points } = this;
      const names = points.told.categories.map((name) => colourOf(`--m-cat-${name}`));
      this.colours = new Array(points.n);
      for (let at = 0; at < points.n; at += 1) {
        if (kind === "tier") this.colours[at] = SHADES[points.tier[at] - 1] || SHADES[2];
        else if (kind === "age") this.colours[at] = ageColour(points.days[at]);
        else this.colours[at] = names[points.category[at]];
      }
      if (this.sigma) this.sigma.refresh();
    }

    refresh() { this.sigma.refresh({ skipIndexation: true }); }

    zoom(factor) {
      const camera = this.sigma.getCamera();
      camera.animate({ ratio: camera.ratio / factor }, { duration: this.still ? 0 : 120 });
    }

    whole() { this.sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: this.still ? 0 : 120 }); }

    get still() { return window.matchMedia("(prefers-reduced-motion: reduce)").matches; }

    key(event) {
      const camera = this.sigma.getCamera();
      const step = 0.1 * camera.ratio;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (event.key in moves) camera.setState({ x: camera.x + moves[event.key][0], y: camera.y + moves[event.key][1] });
      else if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    // A circle around one point; none for null.
    ring(name) {
      this.ringed = name;
      const old = this.layer.querySelector("circle");
      if (old) old.remove();
      if (!name || !this.graph.hasNode(name)) return;
      const { x, y } = this.sigma.graphToViewport(this.graph.getNodeAttributes(name));
      const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      for (const [key, value] of Object.entries({ cx: x, cy: y, r: 9 })) circle.setAttribute(key, value);
      this.layer.appendChild(circle);
    }

    // Draw around points with the pointer; `done` gets their ids.
    lasso(done) {
      const { place, layer } = this;
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      let corners = [];
      const where = (event) => {
        const box = place.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
      };
      const down = (event) => { corners = [where(event)]; layer.appendChild(path); place.setPointerCapture(event.pointerId); event.stopPropagation(); event.preventDefault(); };
      const move = (event) => {
        if (!corners.length) return;
        corners.push(where(event));
        path.setAttribute("d", `M${corners.map((c) => c.map((v) => v.toFixed(1)).join(" ")).join("L")}z`);
        event.stopPropagation();
      };
      const up = (event) => {
        if (!corners.length) return;
        const drawn = corners;
        corners = [];
        event.stopPropagation();
        if (drawn.length > 2) done(this.inside(drawn));
      };
      const hold = (event) => event.stopPropagation();
      const on = [["pointerdown", down], ["pointermove", move], ["pointerup", up], ["mousedown", hold], ["mousemove", hold], ["click", hold], ["touchstart", hold]];
      for (const [name, handler] of on) place.addEventListener(name, handler, { capture: true });
      place.classList.add("m-canvas__gl--lasso");
      return () => {
        for (const [name, handler] of on) place.removeEventListener(name, handler, { capture: true });
        place.classList.remove("m-canvas__gl--lasso");
        path.remove();
      };
    }

    inside(corners) {
      const found = [];
      this.graph.forEachNode((name, data) => {
        if (this.look(data.at, name).hidden) return;
        const { x, y } = this.sigma.graphToViewport(data);
        let within = false;
        for (let a = 0, b = corners.length - 1; a < corners.length; b = a, a += 1) {
          const [ax, ay] = corners[a];
          const [bx, by] = corners[b];
          if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
        }
        if (within) found.push(name);
      });
      return found;
    }
  }

  function ageColour(days) {
    const step = AGES.findIndex((limit) => days < limit);
    return ["#1667c7", "#4f93dc", "#8fb6e0", "#b9c6d4", "#d3d7dc"][step < 0 ? 4 : step];
  }

  window.memsuite.canvas = { read, Drawing, colourOf };
})();

// All the script of ours there is. Pages work without it: it adds keys, row picking and small comforts.
// Loaded in the head without defer, so that the rail is folded before anything is painted.
"use strict";
(() => {
  const root = document.documentElement;
  root.dataset.js = "";
  root.dataset.rail = localStorage.getItem("rail") || "full";

  const typing = (element) => element.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  const rows = () => [...document.querySelectorAll(".m-list > .m-row")];
  const boxes = () => [...document.querySelectorAll("input.m-row__pick[name=id]")];

  // ── buttons: data-do names what one does
  const deeds = {
    rail(button) {
      root.dataset.rail = root.dataset.rail === "min" ? "full" : "min";
      localStorage.setItem("rail", root.dataset.rail);
      button.setAttribute("aria-expanded", String(root.dataset.rail === "full"));
    },
    copy(button) {
      navigator.clipboard?.writeText(button.value);
    },
    dismiss(button) {
      button.closest(".m-toast").remove();
    },
    unpick() {
      boxes().forEach((box) => { box.checked = false; });
      showPicked();
    },
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button && deeds[button.dataset.do]) deeds[button.dataset.do](button);
    document.querySelectorAll("details.m-menu[open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });

  // ── picking rows: one, a range with Shift, the whole page
  let lastPicked = null;
  document.addEventListener("click", (event) => {
    const box = event.target.closest("input.m-row__pick");
    if (!box) return;
    if (box.name !== "id") boxes().forEach((each) => { each.checked = box.checked; });
    else if (event.shiftKey && lastPicked?.isConnected) {
      const all = boxes();
      const [from, to] = [all.indexOf(lastPicked), all.indexOf(box)].sort((a, b) => a - b);
      all.slice(from, to + 1).forEach((each) => { each.checked = box.checked; });
    }
    lastPicked = box.name === "id" ? box : null;
    showPicked();
  });
  function showPicked() {
    const all = boxes();
    const picked = all.filter((box) => box.checked).length;
    document.querySelectorAll("[data-picked]").forEach((place) => { place.textContent = picked.toLocaleString("en"); });
    document.querySelectorAll(".m-bulk[data-bulk]").forEach((bar) => { bar.hidden = picked === 0; });
    document.querySelectorAll(".m-list__head > input.m-row__pick").forEach((box) => {
      box.checked = picked > 0 && picked === all.length;
      box.indeterminate = picked > 0 && picked < all.length;
    });
  }
  document.addEventListener("change", (event) => {
    if (event.target.closest("select[data-submit]")) event.target.form.requestSubmit();
  });

  // ── keys
  let goes = 0;
  const keys = () => document.getElementById("keys");
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      document.querySelectorAll("details.m-menu[open]").forEach((menu) => { menu.open = false; });
      if (!typing(event.target) && !keys()?.open) deeds.unpick();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    if (Date.now() < goes) {
      goes = 0;
      const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    const does = {
      "/": () => document.getElementById("q")?.focus(),
      "?": () => keys()?.showModal(),
      "g": () => { goes = Date.now() + 1500; },
      "j": () => step(1),
      "k": () => step(-1),
      "x": () => here()?.querySelector("input.m-row__pick")?.click(),
      "Enter": () => { if (!event.target.closest("a, button, summary, input")) here()?.querySelector("a.m-row__subject")?.click(); },
    }[event.key];
    if (!does) return;
    if (event.key !== "Enter") event.preventDefault();
    does();
  });
  const here = () => document.querySelector(".m-row.m-row--here");
  function step(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(here());
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
    here()?.classList.remove("m-row--here");
    next.classList.add("m-row--here");
    next.scrollIntoView({ block: "nearest" });
    next.querySelector("a.m-row__subject")?.focus({ preventScroll: true });
  }

  // ── back to the list as one left it
  window.addEventListener("pagehide", () => {
    if (document.getElementById("list")) sessionStorage.setItem("list", location.search);
  });

  // ── times in the person's own zone, UTC stays on hover
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const fresh = (part) => {
    part.querySelectorAll("time[data-local]").forEach((time) => { time.textContent = local.format(new Date(time.dateTime)); });
    showPicked();
  };
  document.addEventListener("DOMContentLoaded", () => {
    fresh(document);
    document.querySelectorAll("a[data-list]").forEach((link) => { link.search = sessionStorage.getItem("list") || ""; });
    document.querySelectorAll("[data-do=rail]").forEach((button) => {
      button.setAttribute("aria-expanded", String(root.dataset.rail === "full"));
    });
  });
  document.addEventListener("htmx:afterSwap", () => fresh(document));
})();

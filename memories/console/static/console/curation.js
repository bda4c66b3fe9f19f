// Keys of the pages where one decides: each has a button or link that names its key, and the key presses it.
"use strict";
(() => {
  let goes = 0;
  const typing = (element) => element.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]");
  const seen = (element) => element.getClientRects().length > 0;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    // After g a letter goes to a page; that is the business of console.js.
    if (event.key === "g") { goes = Date.now() + 1500; return; }
    if (Date.now() < goes) { goes = 0; return; }
    if (event.key.length !== 1) return;
    const key = event.key.toUpperCase();
    const wanted = [...document.querySelectorAll(`[aria-keyshortcuts="${CSS.escape(key)}"]`)].find(seen);
    if (!wanted) return;
    event.preventDefault();
    wanted.click();
    const then = document.getElementById(wanted.dataset.then || "");
    if (then) then.focus();
  });

  // After a swap the reading goes on at the new item.
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target.id === "queue" || event.detail?.target?.id === "queue") document.getElementById("rv")?.focus({ preventScroll: true });
  });

  // A slider shows its value while it moves and asks for the list when it is let go.
  document.addEventListener("input", (event) => {
    const shown = event.target.matches("input[type=range][data-shows]") && document.getElementById(event.target.dataset.shows);
    if (shown) shown.textContent = Number(event.target.value).toFixed(2);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[data-submit]")) event.target.form.requestSubmit();
  });
})();

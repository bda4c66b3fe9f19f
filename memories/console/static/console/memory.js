// The form of a memory: keys, marks at fields, and a word before typed text is left behind.
// Everything here presses buttons that are there without it.
"use strict";
(() => {
  const form = () => document.getElementById("memory-form");
  const press = (command) => form()?.querySelector(`button[name=edit][value="${CSS.escape(command)}"]:not(:disabled)`)?.click();

  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!form()?.contains(field) || event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form().requestSubmit();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey && field.dataset.enter) {
      event.preventDefault();
      enter(field);
    } else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      const command = event.key === "ArrowUp" ? field.dataset.altUp : field.dataset.altDown;
      if (command) { event.preventDefault(); press(command); }
    }
  });

  // A fact is one line: Enter goes on with the next one. A new row stands behind the one it was pressed in.
  function enter(field) {
    if (field.name !== "fact") {
      if (field.value.trim()) press(field.dataset.enter);
      return;
    }
    const rows = [...form().querySelectorAll("textarea[name=fact]")];
    const next = rows[rows.indexOf(field) + 1];
    if (next && !next.value.trim()) next.focus();
    else if (field.value.trim()) addAfter(field);
  }
  function addAfter(field) {
    const add = form().querySelector("button[name=edit][value=fact_add]");
    add.value = field.dataset.enter;
    add.click();
  }

  // ── what is said at a field belongs to it for who hears it, too
  document.addEventListener("htmx:afterSettle", () => {
    form()?.querySelectorAll("[aria-describedby^=e-]").forEach((field) => {
      const says = document.getElementById(field.getAttribute("aria-describedby").split(" ")[0]);
      if (says?.textContent.trim()) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    });
  });

  // ── typed text is not left behind without a word
  document.addEventListener("input", (event) => {
    if (form()?.contains(event.target)) form().dataset.unsaved = "";
  });
  document.addEventListener("submit", (event) => {
    if (event.target === form()) delete form().dataset.unsaved;
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-discards]")) delete form().dataset.unsaved;
  });
  window.addEventListener("beforeunload", (event) => {
    if (form() && "unsaved" in form().dataset) event.preventDefault();
  });
})();

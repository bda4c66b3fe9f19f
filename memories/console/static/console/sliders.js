// A slider beside a number: either moves the other. Only the number is sent, so without a script it is enough.
"use strict";
(() => {
  const number = (slider) => document.getElementById(slider.dataset.slides);
  document.addEventListener("input", (event) => {
    const moved = event.target;
    if (moved.dataset.slides) number(moved).value = moved.value;
    else document.querySelectorAll(`[data-slides="${CSS.escape(moved.id)}"]`).forEach((slider) => { slider.value = moved.value; });
  });
})();

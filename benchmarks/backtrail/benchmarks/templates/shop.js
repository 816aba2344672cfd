"use strict";
// An option is chosen by going to the page where it is.
document.addEventListener("change", ({ target }) => {
  if (target.matches("input[data-url]")) location.href = target.dataset.url;
});
// A browser that goes back may show what was pressed on the page; the address knows what is chosen.
addEventListener("pageshow", () => {
  for (const input of document.querySelectorAll("input[data-url]")) input.checked = input.defaultChecked;
});

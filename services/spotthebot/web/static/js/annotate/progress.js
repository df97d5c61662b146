/** The annotator's share of the package: which conversations are answered, and which one is on the screen. */

import { make } from "./elements.js";

const MAX_PARTS = 60;

/** Show how far an annotator is: `done` has a boolean for each item, `at` is the index of the one on the screen. */
export function showProgress(bar, count, done, at, texts) {
  if (bar.children.length !== done.length && done.length <= MAX_PARTS) bar.replaceChildren(...done.map(() => make("i")));
  [...bar.children].forEach((part, index) => {
    part.className = `${done[index] ? "done" : ""} ${index === at ? "now" : ""}`;
  });
  const answered = done.filter(Boolean).length;
  bar.setAttribute("aria-valuemax", done.length);
  bar.setAttribute("aria-valuenow", answered);
  bar.setAttribute("aria-valuetext", texts("progress.answered", { answered, count: done.length }));
  count.textContent = at === null ? texts("progress.answered", { answered, count: done.length }) : texts("progress.at", { number: at + 1, count: done.length });
}

/** Keys of a page. Nothing behind an open dialog reacts, and typing in a field is typing. */

import { isEqual } from "./protocol.js";

const TYPED_IN = "textarea, select, input:not([type=radio], [type=checkbox])";
const OWN_ENTER = "button, a, summary, textarea, select";
const OWN_SPACE = "button, a, summary, input, textarea, select";

/** Call `act(key, event)` for each key that is nobody else's; what it returns true for, the browser does not do. */
export function listenToKeys(act) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    const at = targetOf(event);
    if (at.closest(TYPED_IN)) return;
    if (event.key === "Enter" && (event.repeat || at.closest(OWN_ENTER))) return;
    if (event.key === " " && at.closest(OWN_SPACE)) return;
    if (event.key.startsWith("Arrow") && at.closest("input") && !at.closest("[data-kind=preference]")) return;
    if (act(event.key, event)) event.preventDefault();
  });
}

/** Return where a key was pressed; until the next frame the focus stays on the button that closed a dialog. */
function targetOf({ target }) {
  return target instanceof Element && !target.closest("dialog:not([open])") ? target : document.body;
}

const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];
const ARROWS = { A: "ArrowLeft", tie: "ArrowDown", B: "ArrowRight" };
const SIGNS = { ArrowLeft: "←", ArrowDown: "↓", ArrowRight: "→" };

/** Stands for none of the choices of a question that takes several. */
export const NONE = null;

/** Return how a key is shown. */
export function signOf(key) {
  return SIGNS[key] ?? key;
}

/**
 * Give keys to what is asked: first to the question at hand, then to the others as far as keys are free.
 *
 * Questions about both sides have the left end of the digits for A and the right end for B; preferences have arrows.
 * Takes [{question, target, choices}], returns [{key, question, target, value}].
 */
export function bindKeys(rows, current) {
  const ordered = [...rows.filter((row) => row.question === current), ...rows.filter((row) => row.question !== current)];
  const bound = new Map();
  for (const row of ordered) {
    const keys = keysFor(row);
    if (keys.length === 0 || keys.some((key) => bound.has(key))) continue;
    keys.forEach((key, index) => bound.set(key, { ...row, key, value: row.choices[index]?.value ?? NONE }));
  }
  return [...bound.values()];
}

function keysFor({ question, target, choices }) {
  if (question.kind === "text") return [];
  const count = choices.length + (question.kind === "multiple" ? 1 : 0);
  if (question.kind === "preference") return choices.map(({ value }) => ARROWS[value]);
  if (question.per === "side") {
    if (count > DIGITS.length / 2) return [];
    return target === "A" ? DIGITS.slice(0, count) : DIGITS.slice(-count);
  }
  return count > DIGITS.length ? [] : DIGITS.slice(0, count);
}

/** Return what a question has as its answer after a bound key; `taken` is what it had before. */
export function valueByKey({ question, value }, taken) {
  if (question.kind !== "multiple") return value;
  if (value === NONE) return isEqual(taken, []) ? undefined : [];
  const ticked = (taken ?? []).includes(value) ? taken.filter((each) => each !== value) : [...(taken ?? []), value];
  const inOrder = question.choices.map((choice) => choice.value).filter((each) => ticked.includes(each));
  return inOrder.length > 0 ? inOrder : undefined;
}

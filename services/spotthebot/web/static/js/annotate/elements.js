/** Making elements: texts of conversations and protocols only ever become text, never markup. */

/** Return an element with attributes, properties that begin with a dot aside, and children: elements or texts. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((each) => each !== null));
  return element;
}

/** Return the mark of a speaker: a letter in a circle or in a square. */
export function badge(side, label) {
  return make("span", { class: `badge ${side.toLowerCase()}`, role: "img", "aria-label": label }, side);
}

/** Return the sign of a key, which screen readers are spared: the list of keys has them. */
export function keySign(text = "") {
  return make("kbd", { "aria-hidden": "true" }, text);
}

/**
 * Call `act(target)` when the focus comes to something in a place.
 *
 * Where a press brings it, that waits until the press is over, since a choice that moves away from under the pointer is
 * not clicked; after an answer there is nothing to wait for.
 */
export function onFocus(place, act) {
  let isPressed = false;
  let waiting;
  place.addEventListener("focusin", ({ target }) => {
    if (isPressed) waiting = target;
    else act(target);
  });
  place.addEventListener("change", () => (waiting = undefined));
  place.addEventListener("pointerdown", () => (isPressed = true));
  const release = () => {
    isPressed = false;
    if (waiting) act(waiting);
    waiting = undefined;
  };
  for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, () => setTimeout(release));
}

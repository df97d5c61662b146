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

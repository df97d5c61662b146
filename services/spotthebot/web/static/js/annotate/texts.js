/** The texts of a page in the visitor's language, which stand in the page as JSON. */

/** Return the data that the page holds for its script. */
export function pageData() {
  return JSON.parse(document.getElementById("data").textContent);
}

/** Return what finds a text by name and fills its {places}; `count` chooses between its two forms. */
export function textsOf(catalogue) {
  return (name, places = {}) => {
    const found = catalogue[name];
    const text = typeof found === "string" ? found : found[places.count === 1 ? "one" : "other"];
    return text.replace(/\{(\w+)\}/g, (_, place) => places[place]);
  };
}

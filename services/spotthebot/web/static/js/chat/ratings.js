/* Keeps what was chosen until it is sent, so that a reload loses nothing; leads to what is missing. */
const form = document.querySelector("[data-kept]");
const name = `ratings-${form.dataset.kept}`;

try {
  for (const [question, score] of Object.entries(JSON.parse(sessionStorage.getItem(name) ?? "{}"))) {
    const inputs = [...form.querySelectorAll("input[type=radio]")].filter((each) => each.name === question);
    if (!inputs.some((each) => each.checked)) {
      inputs.filter((each) => each.value === score).forEach((each) => { each.checked = true; });
    }
  }
} catch { // what was kept can't be read: nothing is chosen
  sessionStorage.removeItem(name);
}
form.addEventListener("change", () => {
  const chosen = [...form.querySelectorAll("input[type=radio]:checked")].map((each) => [each.name, each.value]);
  sessionStorage.setItem(name, JSON.stringify(Object.fromEntries(chosen)));
});
document.getElementById("summary")?.focus();
window.addEventListener("pageshow", (event) => { if (event.persisted) { location.reload(); } }); // rated meanwhile

/* Buttons that copy: `data-copy` names the element whose text is taken, and the button says for a while that it was. */
const SECONDS = 2;

for (const button of document.querySelectorAll("[data-copy]")) {
  const label = button.textContent;
  const live = document.createElement("span");
  live.className = "visually-hidden";
  live.setAttribute("role", "status");
  button.after(live);
  let timer = 0;
  button.addEventListener("click", async () => {
    let said = button.dataset.copied;
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch { // no permission, or no https: the text is selected, so that it can be copied by hand
      said = button.dataset.failed;
      getSelection().selectAllChildren(source);
    }
    button.textContent = live.textContent = said;
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = label;
      live.textContent = "";
    }, SECONDS * 1000);
  });
}

// The question before an action stands on a page of its own; here it is shown in a dialog over the page.

document.addEventListener("click", async (event) => {
  const link = event.target instanceof Element && event.target.closest("a[data-confirm]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    await ask(link.href);
  } catch {
    location.assign(link.href);
  }
});

async function ask(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const question = page.querySelector("#question");
  const heading = page.querySelector("main h1");
  if (!answer.ok || !question || !heading) throw new Error(address);
  const dialog = document.createElement("dialog");
  const title = document.createElement("h2");
  title.id = "asked";
  title.textContent = heading.textContent;
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.append(title, document.importNode(question, true));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.querySelector("[data-dismiss]")?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  (dialog.querySelector("textarea") ?? dialog.querySelector("[data-dismiss]"))?.focus();
}

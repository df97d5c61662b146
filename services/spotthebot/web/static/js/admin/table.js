// "Check" shows how a table is read without leaving the page, so that the file stays chosen for "Import".

const form = document.getElementById("table");
const file = document.getElementById("file");
const checked = () => document.getElementById("checked");

// What was read before no longer fits the form.
form.addEventListener("input", () => {
  const isTooLarge = file.files[0]?.size > Number(file.dataset.maxBytes);
  file.setCustomValidity(isTooLarge ? file.dataset.tooLarge : "");
  checked().replaceChildren();
});

form.addEventListener("submit", async (event) => {
  if (event.submitter?.value !== "check") return;
  event.preventDefault();
  event.submitter.disabled = true;
  try {
    const body = new FormData(form);
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("checked");
    if (!fresh) throw new Error(String(answer.status));
    checked().replaceWith(document.importNode(fresh, true));
    checked().focus();
  } catch {
    form.submit();
  } finally {
    event.submitter.disabled = false;
  }
});

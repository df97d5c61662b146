/** The button that copies the completion code. */

const button = document.getElementById("copy");

button?.addEventListener("click", async () => {
  const code = document.getElementById("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(code);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    if (!document.execCommand("copy")) return; // the code stays selected, to be copied by hand
  }
  document.getElementById("copied").textContent = button.dataset.copied;
});

/** The dialogs that are always at hand: the instructions, and the keys. */

/** Let buttons open their dialogs, and the page's keys do so too; returns what a key opens. */
export function setUpDialogs() {
  for (const button of document.querySelectorAll("[data-opens]")) {
    button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
  }
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close(); // beside it
    });
    dialog.addEventListener("close", () => {
      const at = document.activeElement;
      if (at !== document.body && !dialog.contains(at)) return; // the button that opened it
      (document.querySelector("body.at-end #end-title") ?? document.getElementById("heading"))?.focus({ preventScroll: true });
    });
  }
  return (key) => {
    const id = { "?": "keys", i: "instructions" }[key.toLowerCase()];
    if (!id) return false;
    document.getElementById(id).showModal();
    return true;
  };
}

/** Show the instructions to who has not seen them in this browser. */
export function showInstructionsOnce(campaign) {
  const key = `spotthebot.instructions.${campaign}`;
  try {
    if (localStorage.getItem(key)) return;
    localStorage.setItem(key, "seen");
  } catch {
    return;
  }
  document.getElementById("instructions").showModal();
}

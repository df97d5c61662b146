/* The dashboard: fills its parts as they arrive, renews them while the campaign runs, opens charts to explore. */
import { explore } from "./explore_frame.js";
import { fillParts, renewParts } from "./parts.js";

const LOOK_EVERY = 10_000;
const RENEW_EVERY = 30_000;
const page = document.querySelector("[data-dashboard]");
const texts = JSON.parse(document.getElementById("texts").textContent);
const status = document.getElementById("loading");

explore(page, texts);
status.textContent = texts.loading;
fillParts(page, texts).then(() => {
  status.textContent = texts.loaded;
});
if (page.hasAttribute("data-live")) {
  watch();
}

/** Look how far the campaign is; with new annotations renew the parts, not more often than people can read. */
function watch() {
  let shown = document.getElementById("progress").dataset.annotations;
  let renewed = Date.now();
  const timer = setInterval(async () => {
    if (document.hidden) {
      return;
    }
    let answer;
    try {
      answer = await fetch(`${page.dataset.dashboard}/progress`);
    } catch {
      status.textContent = texts.offline;
      return;
    }
    if (!answer.ok) {
      return;
    }
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("progress");
    if (!found) {
      return;
    }
    document.getElementById("progress").replaceWith(found);
    if (["complete", "closed"].includes(found.dataset.state)) {
      clearInterval(timer);
      page.classList.remove("is-preliminary");
    }
    if (found.dataset.annotations !== shown && Date.now() - renewed >= RENEW_EVERY) {
      shown = found.dataset.annotations;
      renewed = Date.now();
      await renewParts(page, texts);
      status.textContent = texts.renewed;
    }
  }, LOOK_EVERY);
}

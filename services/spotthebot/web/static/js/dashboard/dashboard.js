/* The dashboard: fills its parts as they arrive, renews them while the campaign runs, opens charts to explore. */
import { explore } from "./explore_frame.js";
import { follow } from "./live.js";
import { fillParts, renewParts, watchFigures } from "./parts.js";

const RENEW_EVERY = 30_000;
const ENDED = ["complete", "closed"];
const page = document.querySelector("[data-dashboard]");
const texts = JSON.parse(document.getElementById("texts").textContent);
const status = document.getElementById("loading");

explore(page, texts);
page.querySelector("[data-print]")?.addEventListener("click", () => window.print());
watchFigures(page);
if (page.querySelector("[data-part]")) {
  status.textContent = texts.loading;
  fillParts(page, texts).then(() => {
    status.textContent = texts.loaded;
  });
}
if (page.hasAttribute("data-live")) {
  watch(document.getElementById("live"));
}

/** Show how far the campaign is; with new annotations renew the parts, not more often than people can read. */
function watch(line) {
  let shown = document.getElementById("progress").dataset.annotations;
  let renewed = Date.now();
  let due = 0;

  async function renew() {
    renewed = Date.now();
    await renewParts(page, texts);
    status.textContent = texts.renewed;
  }

  /** Parts may show results of some seconds ago: annotations that came since are shown once more time went by. */
  async function renewTwice() {
    due = setTimeout(renew, RENEW_EVERY);
    await renew();
  }

  function changed(html) {
    const found = new DOMParser().parseFromString(html, "text/html").getElementById("progress");
    const { annotations, state } = found.dataset;
    if (annotations !== "0" && !page.querySelector("[data-part]")) {
      location.reload(); // the first results: there is nothing here yet that they would push aside
      return false;
    }
    document.getElementById("progress").replaceWith(found);
    const hasEnded = ENDED.includes(state);
    if (annotations !== shown || hasEnded) {
      shown = annotations;
      clearTimeout(due);
      due = hasEnded ? setTimeout(renew, 0) : setTimeout(renewTwice, Math.max(0, renewed + RENEW_EVERY - Date.now()));
    }
    page.classList.toggle("is-preliminary", !hasEnded);
    line.textContent = hasEnded ? texts.ended : looked();
    return !hasEnded;
  }

  follow(`${page.dataset.dashboard}/progress`, {
    changed,
    same() {
      line.textContent = looked();
    },
    missed() {
      line.textContent = status.textContent = texts.offline;
    },
  });
}

function looked() {
  const time = new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
  return texts.looked.replace("{time}", time);
}

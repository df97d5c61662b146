// Parts of a page that change by themselves are fetched again: `data-live` says after how many seconds.
// Where `data-state` changes, more of the page does, and it is loaded again. Without this script the reader does that.

const parts = () => [...document.querySelectorAll("[data-live]")];

// Nothing is taken from under the hands of who types, answers a question or stands on a link.
const isInUse = () => document.hidden
  || document.querySelector("dialog[open]") !== null
  || document.activeElement.matches("input, select, textarea")
  || parts().some((part) => part.contains(document.activeElement));

async function renew() {
  if (isInUse()) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelectorAll("main [data-live]");
  if (isInUse()) return;
  const now = parts();
  const changes = now.some((part, place) => part.dataset.state !== fresh[place]?.dataset.state);
  if (changes || fresh.length !== now.length) location.reload();
  else now.forEach((part, place) => part.replaceWith(document.importNode(fresh[place], true)));
}

function wait() {
  const seconds = Math.min(...parts().map((part) => Number(part.dataset.live)));
  if (!Number.isFinite(seconds)) return;
  setTimeout(() => renew().catch(() => undefined).finally(wait), 1000 * seconds);
}

// A page that was made by a form must not be asked for again: its address does not say what it shows.
if (!document.querySelector(".link-made")) wait();

/* While a bot is probed, the page is fetched again and its live part takes the place of the one that is shown.
   The button that probes does so without leaving the page. */
const MOST_FAILURES = 5;
const PATIENCE = 4;
let failures = 0;

/** Put the live part of another rendering of this page in the place of ours. */
function show(html) {
  const found = new DOMParser().parseFromString(html, "text/html").getElementById("live");
  if (!found) {
    return false;
  }
  const had = document.activeElement?.closest("#live") !== null;
  document.getElementById("live").replaceWith(document.importNode(found, true));
  if (had) {
    document.querySelector("#live [data-probe] button")?.focus();
  }
  listen();
  return true;
}

async function look() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    failures = answer.ok && show(await answer.text()) ? 0 : failures + 1;
  } catch { // offline: what is shown stays, and we look again
    failures += 1;
  }
  if (failures && failures < MOST_FAILURES) {
    again(PATIENCE);
  }
}

function again(times = 1) {
  const wait = Number(document.getElementById("live").dataset.again);
  if (wait) {
    setTimeout(look, wait * times);
  }
}

async function probe(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const button = form.querySelector("button");
  const alert = form.querySelector("[role=alert]");
  const label = button.textContent;
  button.textContent = button.dataset.busy;
  button.setAttribute("aria-disabled", "true");
  form.removeEventListener("submit", probe);
  form.addEventListener("submit", (second) => second.preventDefault());
  alert.hidden = true;
  let said = "";
  try {
    const answer = await fetch(form.action, { method: "POST", headers: { Accept: "text/html" } });
    const html = await answer.text();
    if (show(html)) {
      return;
    }
    said = new DOMParser().parseFromString(html, "text/html").querySelector("main").innerText.trim();
  } catch {
    said = form.dataset.offline;
  }
  const fresh = form.cloneNode(true);
  fresh.querySelector("button").textContent = label;
  fresh.querySelector("button").removeAttribute("aria-disabled");
  const place = fresh.querySelector("[role=alert]");
  form.replaceWith(fresh);
  place.textContent = said;
  place.hidden = false;
  listen();
}

function listen() {
  document.querySelector("[data-probe]")?.addEventListener("submit", probe);
  again();
}

listen();

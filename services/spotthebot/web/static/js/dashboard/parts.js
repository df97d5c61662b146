/* Parts of a page that arrive later. The server escapes all texts in them. */

const AT_ONCE = 3;
const PATIENCE = 40;
const WAIT = 3_000;
const DRAWN_WITHIN = 4_000;
const stale = new Set();
let later = 0;

/** Give up the place that was kept for a figure once it is drawn, or cannot be. */
export function watchFigures(page) {
  const settle = (element) => {
    if (element instanceof HTMLImageElement) {
      element.closest(".chart")?.classList.add("is-drawn");
    }
  };
  for (const kind of ["load", "error"]) {
    page.addEventListener(kind, (event) => settle(event.target), { capture: true });
  }
  [...page.querySelectorAll(".chart img")].filter((image) => image.naturalWidth > 0).forEach(settle);
}

/** Ask for all parts that are not there yet, from the top of the page to its end. */
export async function fillParts(page, texts) {
  const parts = [...page.querySelectorAll("[data-part]")];
  parts.forEach((each) => followWork(each, texts));
  await askFor(parts.filter((each) => each.querySelector(".waiting")), texts);
}

/** Ask for all parts again; each stays as it is until its successor is there, and longer where it is in use. */
export async function renewParts(page, texts) {
  page.querySelectorAll("[data-part]").forEach((each) => stale.add(each));
  await renewStale(texts);
}

async function renewStale(texts) {
  clearTimeout(later);
  const free = [...stale].filter((each) => !isInUse(each));
  free.forEach((each) => stale.delete(each));
  await askFor(free, texts);
  if (stale.size > 0) {
    later = setTimeout(() => renewStale(texts), WAIT);
  }
}

/** Whether somebody explores a part's chart, stands in it with the keyboard, or has marked some of its text. */
function isInUse(part) {
  const marked = getSelection();
  return part.querySelector("iframe") !== null
    || part.contains(document.activeElement)
    || (!marked.isCollapsed && part.contains(marked.anchorNode));
}

async function askFor(parts, texts) {
  const waiting = [...parts];
  const one = async () => {
    for (let part = waiting.shift(); part; part = waiting.shift()) {
      await fill(part, texts);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function fill(part, texts) {
  part.setAttribute("aria-busy", "true");
  for (let attempt = 0; attempt < PATIENCE; attempt += 1) {
    let answer;
    try {
      answer = await fetch(part.dataset.part, { headers: shownAs(part) });
    } catch {
      break;
    }
    if (answer.status === 304 || (answer.ok && !answer.redirected)) {
      if (answer.ok) {
        await show(part, await answer.text());
        part.dataset.etag = answer.headers.get("ETag") ?? "";
      }
      part.removeAttribute("aria-busy");
      followWork(part, texts);
      return;
    }
    if (answer.redirected || answer.status === 401) {
      location.reload();
      return;
    }
    if (answer.status !== 503 && answer.status !== 429) {
      break;
    }
    say(part, texts.slow);
    await new Promise((resolve) => setTimeout(resolve, WAIT));
  }
  part.removeAttribute("aria-busy");
  fail(part, texts);
}

/** Name what the part shows already: the server answers 304 where nothing else has come out. */
function shownAs(part) {
  return part.dataset.etag ? { "If-None-Match": part.dataset.etag } : {};
}

/** Put a part in its place; where a figure is shown, its successor is drawn first, so that nothing flickers. */
async function show(part, html) {
  const fresh = document.createElement("div");
  fresh.innerHTML = html;
  if (part.querySelector(".chart.is-drawn")) {
    await drawn([...fresh.querySelectorAll("img")]);
  }
  const open = [...part.querySelectorAll("details")].map((each) => each.open);
  fresh.querySelectorAll("details").forEach((each, at) => {
    each.open = open[at] ?? each.open;
  });
  part.replaceChildren(...fresh.childNodes);
}

function drawn(images) {
  for (const each of images) {
    each.loading = "eager";
  }
  const all = Promise.allSettled(images.map((each) => each.decode()));
  return Promise.race([all, new Promise((resolve) => setTimeout(resolve, DRAWN_WITHIN))]);
}

/** While something is being computed, look again. */
function followWork(part, texts) {
  if (part.querySelector("[data-underway]")) {
    setTimeout(() => fill(part, texts), WAIT);
  }
}

function say(part, text) {
  const line = part.querySelector(".slow") ?? document.createElement("p");
  line.className = "slow soft";
  line.textContent = text;
  part.append(line);
}

function fail(part, texts) {
  if (!part.querySelector(".waiting")) {
    return; // what is there is better than nothing
  }
  const trouble = document.createElement("div");
  trouble.className = "trouble";
  const text = document.createElement("p");
  text.textContent = texts.failed;
  const again = document.createElement("button");
  again.textContent = texts.again;
  again.addEventListener("click", () => fill(part, texts));
  const waiting = part.querySelector(".waiting").cloneNode(true);
  waiting.hidden = true;
  trouble.append(text, again, waiting);
  part.replaceChildren(trouble);
}

/* Parts of a page that arrive later. The server escapes all texts in them. */

const AT_ONCE = 3;
const PATIENCE = 40;
const WAIT = 3_000;

/** Ask for all parts that are not there yet, from the top of the page to its end. */
export async function fillParts(page, texts) {
  await askFor([...page.querySelectorAll("[data-part]")].filter((each) => each.querySelector(".waiting")), texts);
}

/** Ask for all parts again; each stays as it is until its successor is there. */
export async function renewParts(page, texts) {
  await askFor([...page.querySelectorAll("[data-part]")].filter((each) => !each.querySelector("iframe")), texts);
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
      answer = await fetch(part.dataset.part);
    } catch {
      break;
    }
    if (answer.ok && !answer.redirected) {
      show(part, await answer.text());
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

function show(part, html) {
  const open = [...part.querySelectorAll("details")].map((each) => each.open);
  part.innerHTML = html;
  part.querySelectorAll("details").forEach((each, at) => {
    each.open = open[at] ?? each.open;
  });
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

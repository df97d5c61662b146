/* A conversation as it goes on: turns come as server-sent events, and what is typed is kept until it was said. */
const chat = JSON.parse(document.getElementById("chat").textContent);
const say = document.getElementById("say");
const text = document.getElementById("text");
const talk = document.getElementById("talk");
const typing = document.getElementById("typing");
const trouble = document.getElementById("trouble");
const fault = document.getElementById("fault");
const send = say.querySelector("button");
const draft = `chat-${chat.chat}-${chat.number}`;
const AGAIN_SECONDS = 3;
const TROUBLE_SECONDS = 2;
let turns = chat.turns;
let awaitsReply = chat.awaitsReply;
let pending = null; // the bubble of a turn that is being sent
let troubled = 0;
let stream = null;
let leaves = false; // a form was sent whose answer is the next page

function bubble(speaker, words) {
  const item = document.createElement("li");
  item.className = speaker;
  const who = document.createElement("span");
  who.className = "visually-hidden";
  who.textContent = `${chat.texts[speaker]}: `;
  const said = document.createElement("p");
  said.dir = "auto";
  said.textContent = words;
  item.append(who, said);
  return item;
}

function atEnd() {
  return document.documentElement.scrollHeight - window.innerHeight - window.scrollY < 160;
}

function toEnd() {
  window.scrollTo({ top: document.documentElement.scrollHeight });
}

function add(item) {
  const follow = atEnd() || item.className.includes("you");
  document.getElementById("hello")?.remove();
  talk.append(item);
  if (follow) {
    toEnd();
  }
}

/** Show how far the conversation is. */
function count() {
  const left = chat.minimum - turns;
  document.getElementById("progress").value = Math.min(turns, chat.minimum);
  const forms = chat.texts.left;
  document.getElementById("left").textContent =
    left <= 0 ? chat.texts.enough : (left === 1 ? forms.one : forms.other).replace("{count}", left);
  document.getElementById("advance").disabled = left > 0 || turns % 2 === 1 || pending !== null;
  typing.hidden = !awaitsReply;
  send.disabled = awaitsReply || pending !== null;
  say.elements.position.value = turns;
}

function said(turn) {
  if (turn.number !== chat.number || turn.position < turns) {
    return;
  }
  if (pending) {
    pending.remove();
    pending = null;
  }
  if (turn.speaker === "you") {
    sessionStorage.removeItem(draft);
  }
  turns = turn.position + 1;
  awaitsReply = turn.speaker === "you";
  add(bubble(turn.speaker, turn.text));
  count();
}

function complain(words) {
  trouble.textContent = words;
  trouble.hidden = words === "";
  if (words) {
    toEnd();
  }
}

function listen() {
  if (leaves) return;
  const events = new EventSource(`${chat.base}/events?after=${chat.lastEvent}`);
  stream = events;
  const on = (kind, react) =>
    events.addEventListener(kind, (event) => {
      chat.lastEvent = Number(event.lastEventId);
      react(JSON.parse(event.data));
    });
  on("turn", (turn) => { complain(""); said(turn); });
  on("typing", (what) => { awaitsReply = what.number === chat.number; count(); });
  on("failed", (what) => { if (what.again) { complain(chat.texts.delayed); } });
  for (const kind of ["next", "done"]) {
    on(kind, () => { events.close(); location.reload(); });
  }
  events.onopen = () => { clearTimeout(troubled); if (trouble.dataset.lost) { delete trouble.dataset.lost; complain(""); } };
  events.onerror = () => {
    clearTimeout(troubled);
    troubled = setTimeout(() => { trouble.dataset.lost = "1"; complain(chat.texts.lost); }, TROUBLE_SECONDS * 1000);
    if (events.readyState === EventSource.CLOSED) { // refused, so the browser gives up: we ask again
      setTimeout(async () => { await catchUp(); listen(); }, AGAIN_SECONDS * 1000);
    }
  };
}

/** Without a stream: show what was said meanwhile, or load the page where something else has happened. */
async function catchUp() {
  if (leaves) return;
  try {
    const answer = await fetch(`${chat.base}/state`, { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const state = await answer.json();
    const ongoing = state.conversations.at(-1);
    if (state.state !== "chatting" || ongoing.number !== chat.number || ongoing.over) {
      location.reload();
      return;
    }
    ongoing.turns.forEach((turn, position) => said({ ...turn, position, number: ongoing.number }));
    awaitsReply = state.awaits_reply;
    chat.lastEvent = Math.max(chat.lastEvent, state.last_event);
    clearTimeout(troubled);
    complain("");
    count();
  } catch { // offline: the stream is asked for again
  }
}

/** Send a turn until it is said: the service takes one that it has already for the same. */
async function deliver(words) {
  const body = new URLSearchParams({ number: chat.number, position: turns, text: words });
  try {
    const answer = await fetch(`${chat.base}/turns`, { method: "POST", body, headers: { Accept: "application/json" } });
    if (answer.ok) {
      pending?.classList.remove("waits");
      return;
    }
    if (answer.status === 409 || answer.status === 401) { // over meanwhile, or in another tab: the page says how it stands
      location.reload();
      return;
    }
    if (answer.status < 500 && answer.status !== 429) {
      pending?.remove();
      pending = null;
      text.value = words;
      fault.textContent = (await answer.json()).detail;
      count();
      text.focus();
      return;
    }
  } catch { // offline: the words stand as not sent yet, and are sent again
  }
  if (pending) {
    pending.classList.add("waits");
    pending.dataset.said = chat.texts.not_sent;
    setTimeout(() => { if (pending) { deliver(words); } }, AGAIN_SECONDS * 1000);
  }
}

say.addEventListener("submit", (event) => {
  event.preventDefault();
  const words = text.value.trim();
  if (!words || awaitsReply || pending) {
    return;
  }
  fault.textContent = "";
  pending = bubble("you pending", words);
  pending.firstChild.textContent = `${chat.texts.you}: `;
  add(pending);
  sessionStorage.setItem(draft, words);
  text.value = "";
  grow();
  count();
  deliver(words);
});

function grow() {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight + 2, 160)}px`;
}

text.addEventListener("input", () => { sessionStorage.setItem(draft, text.value); grow(); });
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    say.requestSubmit();
  }
});
document.getElementById("advance").form.addEventListener("submit", () => sessionStorage.removeItem(draft));
/* The service may end the chat before it answers such a form: to load this page again would cancel the next one. */
document.addEventListener("submit", (event) => {
  if (!event.defaultPrevented) {
    leaves = true;
    stream.close();
  }
});
window.addEventListener("pageshow", (event) => { if (event.persisted) { location.reload(); } });
text.required = false; // what is empty is not sent, and needs no complaint
text.value = sessionStorage.getItem(draft) ?? text.value;
grow();
count();
toEnd();
listen();

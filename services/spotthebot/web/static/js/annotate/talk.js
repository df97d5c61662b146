/** Conversations as bubbles: A on the left with a circle, B on the right with a square. */

import { badge, make } from "./elements.js";

/** Fill a section with one conversation, or with the two of a pair; `annotated` holds the turns that are asked about. */
export function showTalk(section, item, texts, { annotated = [], onTurn = null } = {}) {
  const talks = item.right_turns
    ? [[texts("talk.left"), item.turns], [texts("talk.right"), item.right_turns]]
    : [[null, item.turns]];
  section.replaceChildren(
    ...talks.map(([title, turns], number) => {
      const list = make("ol", { class: "talk" });
      list.append(...turns.map((turn, index) => bubble(turn, String(index), texts, annotated, onTurn)));
      return make("div", { class: "one-talk", "data-number": number }, title && make("h2", {}, title), list);
    }),
  );
}

/** Add turns to a conversation that is opened step by step. */
export function addTurns(section, turns, texts) {
  const list = section.querySelector(".talk");
  const added = turns.slice(list.children.length).map((turn) => bubble(turn, "", texts, [], null));
  list.append(...added);
  added.at(-1)?.scrollIntoView({ block: "nearest" });
}

function bubble(turn, number, texts, annotated, onTurn) {
  const side = turn.speaker;
  const said = make("p", { dir: "auto" });
  said.textContent = turn.text;
  const line = make("li", { class: `turn ${side.toLowerCase()}`, "data-turn": number }, badge(side, texts("speaker", { side })), said);
  if (annotated.includes(number)) {
    const mark = make("button", { type: "button", class: "turn-mark" });
    mark.addEventListener("click", () => onTurn(number));
    line.append(mark);
  }
  return line;
}

/** Show which turn is at hand, and which are answered. */
export function markTurns(section, current, answered, texts) {
  for (const line of section.querySelectorAll("[data-turn]")) {
    const turn = line.dataset.turn;
    const mark = line.querySelector(".turn-mark");
    if (!mark) continue;
    const isDone = answered.has(turn);
    const wasCurrent = line.classList.contains("current");
    line.classList.toggle("current", turn === current);
    mark.textContent = isDone ? "✓" : "?";
    mark.classList.toggle("done", isDone);
    mark.setAttribute("aria-label", texts(isDone ? "turn.answered" : "turn.open", { number: Number(turn) + 1 }));
    if (turn === current) mark.setAttribute("aria-current", "true");
    else mark.removeAttribute("aria-current");
    if (turn === current && !wasCurrent) line.scrollIntoView({ block: "nearest" });
  }
}

/**
 * Conversations as bubbles: A on the left with a circle, B on the right with a square.
 *
 * A turn that is asked about has a place beside it, on a phone below it: for its questions while it is at hand, else for a
 * button that says what was answered and leads to it, and at last for what was right in a training.
 */

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
      const whole = annotated.length > 0 ? make("div", { class: "beside whole" }) : null;
      return make("div", { class: "one-talk", "data-number": number }, title && make("h2", {}, title), list, whole);
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
  const words = make("p", { dir: "auto" });
  words.textContent = turn.text;
  const said = make("div", { class: "said" }, badge(side, texts("speaker", { side })), words);
  const line = make("li", { class: `turn ${side.toLowerCase()}`, "data-turn": number }, said);
  if (annotated.includes(number)) {
    const mark = make("button", { type: "button", class: "turn-mark" });
    mark.addEventListener("click", () => onTurn(number));
    said.addEventListener("click", () => {
      if (document.getSelection().isCollapsed) onTurn(number); // who selects words means them
    });
    line.append(make("div", { class: "beside" }, mark));
  }
  return line;
}

/** Return the place beside a turn; null stands for the whole conversation, whose place is at its end. */
export function besideTurn(section, turn) {
  return section.querySelector(turn === null ? ".beside.whole" : `[data-turn="${CSS.escape(turn)}"] .beside`);
}

/** Show which turn is at hand, and what was answered about the others: `answers` has words by turn, null for an open one. */
export function markTurns(section, current, answers, texts) {
  for (const [turn, words] of answers) {
    const line = section.querySelector(`[data-turn="${CSS.escape(turn)}"]`);
    const mark = line.querySelector(".turn-mark");
    if (!mark) continue; // what was right stands there now
    const name = texts(words === null ? "turn.open" : "turn.answered", { number: Number(turn) + 1 });
    line.classList.toggle("current", turn === current);
    mark.hidden = turn === current;
    mark.classList.toggle("done", words !== null);
    if (words === null) mark.textContent = name;
    else mark.replaceChildren(make("span", { class: "visually-hidden" }, `${name}. `), make("bdi", {}, words));
  }
}

/** Scroll a turn into view with its questions: as little as it takes, to its beginning where both are too high. */
export function scrollToTurn(section, turn) {
  const place = besideTurn(section, turn);
  const line = turn === null ? place : place.parentElement;
  const questions = place.querySelector(".questions") ?? line;
  const isHigh = Math.max(line.offsetHeight, questions.offsetHeight) > section.clientHeight;
  if (!isHigh) questions.scrollIntoView({ block: "nearest" });
  line.scrollIntoView({ block: isHigh ? "start" : "nearest" });
}

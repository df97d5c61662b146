/**
 * One item on the screen: its conversation, its form, its keys.
 *
 * An item is answered in parts: the steps of its protocol, of the unit `turns` one turn after the other, beside which the
 * questions stand. What follows when all is answered, and where answers are kept, is the business of the page (`package.js`,
 * `training.js`).
 */

import { onFocus } from "./elements.js";
import { Form } from "./form.js";
import { bindKeys, listenToKeys, valueByKey } from "./keys.js";
import { isAnswer, isEqual, valueOf, withValue } from "./protocol.js";
import { addTurns, besideTurn, markTurns, scrollToTurn, showTalk } from "./talk.js";

const MAX_NAMED = 2;
const SCROLLED = { PageDown: 0.8, PageUp: -0.8, " ": 0.8 };

export class Workspace {
  /**
   * Take the protocol, the texts, and what the page does: `onChange(item)` keeps an answer, `onDone()` follows when
   * all is answered, `onBack()` leads to the item before, if `canGoBack()`, `onMore()` opens an exchange; `nextLabel()`
   * names what follows.
   */
  constructor(protocol, texts, page) {
    this.protocol = protocol;
    this.texts = texts;
    this.page = page;
    this.talk = document.getElementById("talk");
    this.missing = document.getElementById("missing");
    this.notice = document.getElementById("notice");
    this.back = document.getElementById("back");
    this.undoing = document.getElementById("undo");
    this.next = document.getElementById("next");
    this.nextText = this.next.querySelector("span");
    this.form = new Form(document.getElementById("questions"), protocol, texts, (question, target, value) =>
      this.answerQuestion(question, target, value),
    );
    this.isOff = false;
    this.next.addEventListener("click", () => this.goOn());
    this.back.addEventListener("click", () => this.goBack());
    this.undoing.addEventListener("click", () => this.undo());
    document.getElementById("questions").addEventListener("click", ({ target }) => this.#sayIfFixed(target));
    onFocus(document.getElementById("questions"), (target) => {
      if (!this.form.rowOf(target)) return; // what does not ask moves nothing under the pointer
      this.followsFocus = true;
      this.#update();
    });
    listenToKeys((key) => this.#press(key));
  }

  /** Show an item; its `answer` is kept in the item. `step` counts the steps that are locked, and the one after them. */
  show(item) {
    this.item = item;
    item.history ??= [];
    this.speakers = item.turns.map((turn) => turn.speaker);
    this.turns = this.protocol.turns(this.speakers);
    this.turn = undefined;
    this.missing.textContent = "";
    showTalk(this.talk, item, this.texts, { annotated: this.turns, onTurn: (turn) => this.#showPart(turn) });
    this.talk.scrollTop = 0;
    this.#showPart(this.#firstOpenPart());
  }

  /** Show what has changed in the item: by another window, or since an exchange was opened. */
  refresh() {
    if (!this.item) return;
    if (this.item.turns.length > this.talk.querySelectorAll(".turn").length && !this.item.right_turns) {
      addTurns(this.talk, this.item.turns, this.texts);
      this.speakers = this.item.turns.map((turn) => turn.speaker);
    }
    this.#update();
  }

  /** Take an answer to one question; undefined takes it back. */
  answerQuestion(question, target, value) {
    const before = this.item.answer;
    const wasWhole = this.#missingHere().length === 0;
    const changed = this.protocol.pruned(withValue(before, question.id, target, value), this.speakers);
    if (question.kind !== "text") this.item.history.push({ before, turn: this.turn });
    this.followsFocus = question.kind === "text" || question.kind === "multiple"; // which are answered bit by bit
    this.item.answer = changed;
    this.missing.textContent = "";
    this.notice.textContent = "";
    this.page.onChange(this.item, question);
    const isAtOnce = question.kind === "single" || question.kind === "likert" || isEqual(value, []);
    const nextTurn = this.turn !== null && isAtOnce && !wasWhole && this.#missingHere().length === 0 ? this.#nextPart() : undefined;
    if (nextTurn !== undefined && nextTurn !== null) this.#showPart(nextTurn);
    else this.#update();
  }

  /** Take the last answer to this item back, unless there is none since the page was opened or it is locked. */
  undo() {
    if (!this.#canUndo()) return;
    const last = this.item.history.pop();
    const undone = this.item.answer;
    this.item.answer = last.before;
    this.followsFocus = false;
    this.missing.textContent = "";
    this.page.onChange(this.item);
    if (last.turn === this.turn) this.#update();
    else this.#showPart(last.turn);
    const row = this.form.rows.find(({ question: { id }, target }) => !isEqual(valueOf(undone, id, target), valueOf(last.before, id, target)));
    this.notice.textContent = this.texts(row && valueOf(last.before, row.question.id, row.target) !== undefined ? "notice.restored" : "notice.taken_back");
    if (row && !row.element.hidden && this.form.rowOf(document.activeElement)) this.form.focus(row);
  }

  /** Go to the part or item before, and keep all answers. */
  goBack() {
    const parts = this.#parts();
    const at = parts.indexOf(this.turn);
    if (at > 0) this.#showPart(parts[at - 1]);
    else if (this.page.canGoBack()) this.page.onBack();
  }

  /** Say why a fixed answer can't be changed, when it is clicked. */
  #sayIfFixed(target) {
    const row = this.form.rowOf(target);
    const title = row && this.protocol.steps[row.step + 1]?.title;
    if (row && this.isFixed(row)) this.notice.textContent = this.texts(title ? "notice.fixed" : "notice.fixed_by_exchange", { title });
  }

  #canUndo() {
    return !this.isOff && this.item.history.length > 0 && !this.#touchesLocked(this.item.history.at(-1).before);
  }

  /** Go on: to the next exchange, the next part, or what follows the item; says what is missing. */
  goOn() {
    if (this.isOff) return;
    if (this.#canOpenMore()) {
      this.page.onMore();
      return;
    }
    const missing = this.#missingHere();
    if (missing.length > 0) {
      this.#nameMissing(missing);
      return;
    }
    const following = this.#nextPart();
    if (following !== undefined) this.#showPart(following);
    else if (this.protocol.missing(this.item.answer, this.speakers).length > 0) this.#showPart(this.#firstOpenPart());
    else this.page.onDone();
  }

  /** Say in the words of the task what is still to be answered. */
  nameOf({ question, target }) {
    if (target === null) return this.texts("missing.unit", { question: question.text });
    if (question.per === "side") return this.texts("missing.side", { question: question.text, side: target });
    return this.texts("missing.turn", { question: question.text, number: Number(target) + 1 });
  }

  get openSteps() {
    const missing = this.protocol.missing(this.item.answer, this.speakers);
    const first = missing.length > 0 ? missing[0].step + 1 : this.protocol.steps.length;
    return Math.max(this.item.step, first);
  }

  /** Whether an answer can't be changed now. */
  isLocked(row) {
    return this.isOff || this.isFixed(row) || (this.protocol.opensExchanges && !this.item.opened);
  }

  /** Whether an answer can't be changed any more: its step is locked, or an exchange was opened since. */
  isFixed({ question, target }) {
    const { step, answer, lockedAnswers } = this.item;
    return (
      this.protocol.byId.get(question.id).step + 1 < Math.max(step, this.protocol.stepsOf(answer)) ||
      (lockedAnswers?.has(`${question.id}/${target}`) ?? false)
    );
  }

  #parts() {
    const hasWhole = this.protocol.asked(this.item.answer, this.speakers).some(({ target }) => !this.turns.includes(target));
    return [...this.turns, ...(hasWhole || this.turns.length === 0 ? [null] : [])];
  }

  #firstOpenPart() {
    const missing = this.protocol.missing(this.item.answer, this.speakers);
    const open = this.#parts().find((part) => missing.some(({ target }) => this.#partOf(target) === part));
    return open ?? this.#parts()[0];
  }

  #partOf(target) {
    return this.turns.includes(target) ? target : null;
  }

  #nextPart() {
    const parts = this.#parts();
    return parts[parts.indexOf(this.turn) + 1];
  }

  #showPart(turn) {
    const hadFocus = this.form.place.contains(document.activeElement);
    if (turn !== this.turn) {
      this.turn = turn;
      this.missing.textContent = "";
      if (this.turns.length > 0) besideTurn(this.talk, turn).append(this.form.place);
      this.form.make(this.speakers, turn);
      this.isNewForm = true;
    }
    this.#update();
    if (this.turns.length > 0) scrollToTurn(this.talk, turn);
    if (hadFocus) this.#moveFocus();
  }

  #missingHere() {
    const { openSteps } = this;
    return this.protocol
      .missing(this.item.answer, this.speakers)
      .filter(({ target, step }) => step < openSteps && this.#partOf(target) === this.turn);
  }

  #canOpenMore() {
    if (!this.protocol.opensExchanges || this.item.allOpen) return false;
    return !this.item.opened || this.protocol.missing(this.item.answer, this.speakers).some(({ step }) => step === 0);
  }

  #touchesLocked(before) {
    return this.form.rows.some(
      (row) =>
        this.isLocked(row) &&
        !isEqual(valueOf(before, row.question.id, row.target), valueOf(this.item.answer, row.question.id, row.target)),
    );
  }

  #nameMissing(missing) {
    const isAlike = missing.every(({ question }) => question === missing[0].question && question.per === "side");
    const nameOf = (each) => (isAlike ? this.texts("missing.speaker", { side: each.target }) : this.nameOf(each));
    const names = missing.slice(0, MAX_NAMED).map(nameOf).join(isAlike ? ", " : "; ");
    const count = missing.length - MAX_NAMED;
    this.missing.textContent = count > 0 ? this.texts("missing.more", { names, count }) : this.texts("missing.all", { names });
    const row = this.form.rows.find((each) => each.question === missing[0].question && each.target === missing[0].target);
    if (row && !row.element.hidden) this.form.focus(row);
  }

  #update() {
    const { item, form } = this;
    const asked = this.protocol.asked(item.answer, this.speakers);
    const openSteps = this.openSteps;
    const isAsked = new Set(asked.map(({ question, target }) => `${question.id}/${target}`));
    const rows = form.rows.filter((row) => row.step < openSteps && isAsked.has(`${row.question.id}/${row.target}`) && !this.isLocked(row));
    const isOpen = (row) => !isAnswer(row.question, valueOf(item.answer, row.question.id, row.target));
    const focused = this.followsFocus ? form.rowOf(document.activeElement) : undefined;
    const current = rows.find((row) => row === focused) ?? rows.find((row) => row.question.required && isOpen(row)) ?? rows.find(isOpen);
    this.bindings = bindKeys(rows, (current ?? rows.at(-1))?.question);
    form.update({
      answer: item.answer, asked, isLocked: (row) => this.isLocked(row), isFixed: (row) => this.isFixed(row), openSteps,
      step: (current ?? rows.at(-1))?.step ?? openSteps - 1, bindings: this.bindings, current,
    });
    if (this.isNewForm) form.place.scrollTop = 0;
    this.isNewForm = false;
    if (current && current !== focused && current !== this.scrolledTo) current.block.scrollIntoView({ block: "nearest" });
    this.scrolledTo = current;
    const open = new Set(this.protocol.missing(item.answer, this.speakers).map(({ target }) => target));
    markTurns(this.talk, this.turn, this.turns.map((turn) => [turn, open.has(turn) ? null : this.#wordsOf(turn, asked)]), this.texts);
    this.undoing.hidden = !this.#canUndo();
    this.back.disabled = this.#parts().indexOf(this.turn) < 1 && !this.page.canGoBack();
    this.nextText.textContent = this.#nextLabel();
    this.next.classList.toggle("primary", this.#canOpenMore() || this.#missingHere().length === 0);
  }

  /** Say what was answered about a turn. */
  #wordsOf(turn, asked) {
    const values = asked
      .filter(({ target }) => target === turn)
      .map(({ question }) => [question.id, valueOf(this.item.answer, question.id, turn)])
      .filter(([, value]) => value !== undefined);
    return this.protocol.words(Object.fromEntries(values), this.texts) || this.texts("nothing");
  }

  #nextLabel() {
    if (this.#canOpenMore()) return this.texts(this.item.opened ? "next.exchange" : "next.first_exchange");
    if (this.#nextPart() !== undefined) return this.texts(this.#nextPart() === null ? "next.whole" : "next.turn");
    return this.page.nextLabel();
  }

  #press(key) {
    if (document.body.classList.contains("at-end")) return this.page.onKey(key);
    const bound = this.bindings.find((each) => each.key === key);
    if (bound && !this.isOff) {
      const focused = this.form.rowOf(document.activeElement);
      const taken = valueOf(this.item.answer, bound.question.id, bound.target);
      this.answerQuestion(bound.question, bound.target, valueByKey(bound, taken));
      if (focused) this.#moveFocus(focused);
      return true;
    }
    if (key === "Enter") this.goOn();
    else if (key.toLowerCase() === "z") this.undo();
    else if (key.toLowerCase() === "p") this.goBack();
    else if (key in SCROLLED) this.talk.scrollBy({ top: this.talk.clientHeight * SCROLLED[key] });
    else return this.page.onKey(key);
    return true;
  }

  /** Let the focus follow, where it is in the form, to the next question that is open; else to what is chosen in `last`. */
  #moveFocus(last) {
    const open = this.#missingHere()[0];
    const row = !open ? last : this.form.rows.find((each) => each.question === open.question && each.target === open.target);
    if (row && !row.element.hidden) this.form.focus(row);
  }
}

/**
 * The form that a protocol asks for: made once for each item, or each turn of it, then only updated.
 *
 * `rows` are what can be asked, one for each question and target; those that are not asked, or whose step is not open,
 * are hidden. A row has native radio buttons, boxes or a text field, so that it works with every aid.
 */

import { badge, keySign, make } from "./elements.js";
import { NONE, signOf } from "./keys.js";
import { choicesOf, isEqual, valueOf } from "./protocol.js";

const SHORT_TEXT = 16;
const MAX_IN_A_LINE = 5;
const ALWAYS_IN_A_LINE = ["likert", "preference"];
let formsMade = 0;

export class Form {
  /**
   * Take the place of the form, the protocol, the texts, and what is called with (question, target, value) when the
   * person answers.
   */
  constructor(place, protocol, texts, onAnswer) {
    this.place = place;
    this.protocol = protocol;
    this.texts = texts;
    this.onAnswer = onAnswer;
    this.rows = [];
  }

  /** Make the form of an item: of its questions about the whole and about sides, or of those about one turn. */
  make(speakers, turn) {
    formsMade += 1;
    this.name = `form-${formsMade}`;
    this.rows = [];
    this.sections = this.protocol.steps.map((step, index) => this.#section(step, index, speakers, turn));
    this.place.replaceChildren(...this.sections);
  }

  #section(step, index, speakers, turn) {
    const title = make("h2", { tabindex: -1 }, step.title);
    if (turn !== null) {
      const side = speakers[Number(turn)];
      const number = Number(turn) + 1;
      title.replaceChildren(badge(side, this.texts("speaker", { side })), ` ${this.texts("turn.title", { number })}`);
    }
    const before = this.protocol.steps[index - 1];
    const fixes = before ? make("p", { class: "fixes soft" }, this.texts("fixes", { title: before.title })) : null;
    const folded = make("button", { type: "button", class: "folded", "aria-expanded": "false", hidden: true }); // on a phone, for a step not at hand
    const section = make("section", { class: "step", "data-step": index }, folded, title, fixes);
    folded.addEventListener("click", () => {
      const isOpen = section.classList.toggle("unfolded");
      folded.setAttribute("aria-expanded", String(isOpen));
      if (isOpen) title.focus();
    });
    const blocks = new Map();
    for (const each of this.protocol.questions.filter((placed) => placed.step === index)) {
      const targets = this.protocol
        .targets(each.question, speakers)
        .filter((target) => (each.question.per === "turn" ? target === turn : turn === null));
      if (targets.length === 0) continue;
      const block = this.#question(each, targets);
      (each.opener ? blocks.get(each.opener.of) : section).append(block);
      blocks.set(each.question.id, block);
    }
    return section;
  }

  /** Make a question; a follow-up says which choice opened it, and stands in the block of that choice's question. */
  #question({ question, step, opener }, targets) {
    const id = `${this.name}-${question.id}`;
    const because = opener && make("p", { class: "because soft" }, make("span", { "aria-hidden": "true" }, "\u21b3 "), opener.text);
    const text = make("p", { class: "asked", id: `${id}-text` }, question.text);
    if (!question.required) text.append(make("span", { class: "soft" }, ` ${this.texts("optional")}`));
    const help = question.help ? make("p", { class: "help soft", id: `${id}-help` }, question.help) : null;
    const block = make("div", { class: "question", "data-question": question.id, "data-asked": question.kind }, because, text, help);
    for (const target of targets) {
      const row = { question, step, target, block, choices: choicesOf(question, this.texts), inputs: [], signs: [] };
      row.element = this.#row(row, `${id}-${target ?? "unit"}`, `${id}-text`, help ? `${id}-help` : null);
      block.append(row.element);
      this.rows.push(row);
    }
    return block;
  }

  #row(row, name, labelledBy, describedBy) {
    const { question, target } = row;
    const isSide = question.per === "side";
    const mark = isSide ? badge(target, this.texts("speaker", { side: target })) : null;
    if (mark) mark.id = `${name}-side`;
    const labels = mark ? `${mark.id} ${labelledBy}` : labelledBy;
    row.fixed = make("span", { class: "fixed soft", hidden: true }, this.texts("fixed"));
    const group = question.kind === "text" ? this.#field(row, labels, describedBy) : this.#choices(row, name, labels, describedBy);
    return make("div", { class: "row", "data-target": target ?? "unit", "data-kind": question.kind }, mark, row.fixed, group);
  }

  #field(row, labels, describedBy) {
    const field = make("textarea", {
      rows: 3, maxlength: row.question.max_length, "aria-labelledby": labels, "aria-describedby": describedBy, dir: "auto",
    });
    field.addEventListener("input", () => this.onAnswer(row.question, row.target, field.value || undefined));
    row.inputs = [field];
    return field;
  }

  #choices(row, name, labels, describedBy) {
    const { question, choices } = row;
    const isMultiple = question.kind === "multiple";
    const isShort = choices.length <= MAX_IN_A_LINE && choices.every(({ text }) => text.length <= SHORT_TEXT);
    const isLine = !isMultiple && (ALWAYS_IN_A_LINE.includes(question.kind) || isShort);
    const group = make("div", {
      class: `choices ${isLine ? "line" : "list"} ${question.kind}`,
      role: isMultiple ? "group" : "radiogroup", "aria-labelledby": labels, "aria-describedby": describedBy,
      "aria-required": isMultiple ? null : String(question.required),
    });
    for (const choice of choices) {
      const input = make("input", { type: isMultiple ? "checkbox" : "radio", name, value: choice.value });
      if (choice.label) input.setAttribute("aria-label", `${choice.text}: ${choice.label}`);
      input.addEventListener("change", () => this.#chosen(row, choice.value, input.checked));
      const sign = keySign();
      group.append(make("label", { class: "choice" }, input, make("span", {}, choice.text), sign));
      row.inputs.push(input);
      row.signs.push(sign);
    }
    if (isMultiple) group.append(this.#none(row, name));
    if (question.kind !== "likert") return group;
    const ends = [choices[0], choices.at(-1)].map(({ label }) => make("span", {}, label ?? ""));
    return make("div", { class: "scale" }, group, make("div", { class: "ends soft", "aria-hidden": "true" }, ...ends));
  }

  /** Make the box that says that none of the choices holds, which differs from no answer. */
  #none(row, name) {
    row.none = make("input", { type: "checkbox", name });
    row.none.addEventListener("change", () => this.onAnswer(row.question, row.target, row.none.checked ? [] : undefined));
    row.noneSign = keySign();
    return make("label", { class: "choice" }, row.none, make("span", {}, this.texts("none")), row.noneSign);
  }

  #chosen(row, value, isChecked) {
    if (row.question.kind !== "multiple") {
      this.onAnswer(row.question, row.target, value);
      return;
    }
    const ticked = row.choices.filter((_, index) => row.inputs[index].checked).map((each) => each.value);
    this.onAnswer(row.question, row.target, ticked.length > 0 || isChecked ? ticked : undefined);
  }

  /**
   * Show an answer. `asked` is what the protocol asks, `isLocked(row)` what can't change now, `isFixed(row)` what can't
   * change any more, `openSteps` how many steps are open, `step` which of them is at hand; `bindings` has the keys,
   * `current` the row at hand.
   */
  update({ answer, asked, isLocked, isFixed, openSteps, step, bindings, current }) {
    const isAsked = new Set(asked.map(({ question, target }) => `${question.id}/${target}`));
    const shown = new Set();
    for (const row of this.rows) {
      const isShown = row.step < openSteps && isAsked.has(`${row.question.id}/${row.target}`);
      row.element.hidden = !isShown;
      if (isShown) shown.add(row.block);
      if (isShown) this.#updateRow(row, valueOf(answer, row.question.id, row.target), isLocked(row), bindings);
      row.element.classList.toggle("current", row === current);
      row.fixed.hidden = !isFixed(row) || valueOf(answer, row.question.id, row.target) === undefined;
    }
    for (const { block } of this.rows) {
      block.hidden = !shown.has(block);
      block.classList.toggle("current", block === current?.block);
    }
    this.sections.forEach((section, index) => {
      section.hidden = index >= openSteps || !section.querySelector(".question:not([hidden])");
      section.classList.toggle("at-hand", index === step);
      const folded = section.querySelector(".folded");
      folded.textContent = this.#wordsOf(index, answer);
      folded.hidden = folded.textContent === "";
      const fixes = section.querySelector(".fixes");
      if (fixes) fixes.classList.toggle("said", this.rows.some((row) => row.step === index - 1 && !row.fixed.hidden));
    });
  }

  /** Say what is answered in a step: "A: Unsure · B: Bot". */
  #wordsOf(step, answer) {
    const answered = this.rows.filter(
      (row) => row.step === step && !row.element.hidden && valueOf(answer, row.question.id, row.target) !== undefined,
    );
    const words = answered.map(({ question, target }) => {
      const said = this.protocol.words({ [question.id]: valueOf(answer, question.id, target) }, this.texts);
      return question.per === "side" ? `${target}: ${said}` : said;
    });
    return words.join(" · ");
  }

  #updateRow(row, value, isLocked, bindings) {
    const { question, inputs, choices } = row;
    if (question.kind === "text") {
      if (inputs[0].value !== (value ?? "")) inputs[0].value = value ?? "";
      inputs[0].readOnly = isLocked;
      return;
    }
    const taken = [value].flat();
    inputs.forEach((input, index) => {
      input.checked = taken.includes(choices[index].value);
      input.disabled = isLocked;
    });
    const keys = isLocked ? [] : bindings.filter((each) => each.question === question && each.target === row.target);
    const signFor = (choice) => signOf(keys.find((each) => each.value === choice)?.key ?? "");
    row.signs.forEach((sign, index) => {
      sign.textContent = signFor(choices[index].value);
    });
    if (!row.none) return;
    row.none.checked = isEqual(value, []);
    row.none.disabled = isLocked;
    row.noneSign.textContent = signFor(NONE);
  }

  /** Return the row that holds an element. */
  rowOf(element) {
    return this.rows.find((row) => row.element.contains(element));
  }

  /** Put the focus on a row: on what is chosen there, else on its first choice. */
  focus(row) {
    (row.inputs.find((input) => input.checked) ?? row.inputs[0]).focus();
  }
}

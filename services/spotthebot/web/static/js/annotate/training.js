/** The training: one dialogue, answered as a whole, then what was right in the answer and why. */

import { Refused, Unreachable, call } from "./calls.js";
import { setUpDialogs, showInstructionsOnce } from "./dialogs.js";
import { badge, make } from "./elements.js";
import { Protocol } from "./protocol.js";
import { besideTurn } from "./talk.js";
import { pageData, textsOf } from "./texts.js";
import { Workspace } from "./workspace.js";

class TrainingPage {
  constructor({ base, task, texts }) {
    this.base = base;
    this.task = task;
    this.texts = textsOf(texts);
    this.protocol = new Protocol({ ...task.protocol, reveal: "whole" }); // a training shows all turns at once
    this.status = document.getElementById("status");
    this.draft = `spotthebot.training.${base}.${task.attempt}.${task.position}`;
    this.openDialog = setUpDialogs();
    this.workspace = new Workspace(this.protocol, this.texts, {
      onChange: (item) => this.#keep(item.answer),
      onDone: () => this.#check(),
      onBack: () => undefined,
      canGoBack: () => false,
      onMore: () => undefined,
      onKey: (key) => this.openDialog(key),
      nextLabel: () => this.texts("next.check"),
    });
    const { turns, right_turns } = task;
    this.workspace.show({ turns, right_turns, opened: null, step: 1, answer: this.#kept() });
    showInstructionsOnce(base);
  }

  #kept() {
    try {
      return JSON.parse(localStorage.getItem(this.draft)) ?? {};
    } catch {
      return {};
    }
  }

  #keep(answer) {
    try {
      if (answer) localStorage.setItem(this.draft, JSON.stringify(answer));
      else localStorage.removeItem(this.draft);
    } catch {
      return; // a reload then begins this dialogue again
    }
  }

  async #check() {
    if (this.workspace.isOff) return;
    this.status.textContent = this.texts("training.checking");
    const { attempt, position } = this.task;
    try {
      this.workspace.isOff = true;
      const feedback = await call("PUT", `${this.base}/training/${position}`, { attempt, answer: this.workspace.item.answer });
      this.#keep(null);
      this.#show(feedback);
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      this.workspace.isOff = false;
      this.workspace.refresh();
      this.status.textContent = error instanceof Refused ? error.message : this.texts("training.offline");
    }
  }

  #show({ targets, mistakes, state }) {
    this.status.textContent = "";
    this.workspace.refresh();
    const { turns, talk } = this.workspace;
    const [aboutTurns, others] = [true, false].map((is) => targets.filter(({ target }) => turns.includes(target) === is));
    if (turns.length > 0) {
      for (const each of aboutTurns) besideTurn(talk, each.target).replaceChildren(this.#card(each));
      besideTurn(talk, null).replaceChildren(...others.map((each) => this.#card(each)));
    }
    talk.querySelector(".current")?.classList.remove("current");
    const title = make("h1", {}, this.texts("training.mistakes", { count: mistakes }));
    const heard = make("p", {}, this.texts(`training.${this.#outcome(state)}`, { count: this.task.attempts_left }));
    const next = make("a", { class: "button primary", href: this.#next(state), id: "go-on" }, this.texts(`training.next_${this.#outcome(state)}`));
    const panel = document.querySelector(".panel");
    panel.classList.add("feedback");
    const cards = turns.length > 0 ? [] : others.map((each) => this.#card(each));
    panel.replaceChildren(title, make("div", { class: "heard" }, ...cards, heard), next);
    next.focus();
    talk.scrollTop = 0;
    talk.querySelector(".verdict.wrong")?.closest(".turn, .whole").scrollIntoView({ block: "nearest" });
  }

  #outcome(state) {
    if (state === "failed") return this.task.attempts_left > 0 ? "failed" : "failed_for_good";
    return state;
  }

  #next(state) {
    return this.#outcome(state) === "in_progress" || this.#outcome(state) === "failed" ? `${this.base}/training` : this.base;
  }

  #card({ target, given, right, is_right, explanation }) {
    const verdict = make("strong", { class: is_right ? "right" : "wrong" }, this.texts(is_right ? "training.right" : "training.wrong"));
    const who = ["A", "B"].includes(target) ? badge(target, this.texts("speaker", { side: target })) : null;
    const lines = [make("p", {}, who, " ", verdict), make("p", {}, this.texts("training.given", { answer: this.#words(given) }))];
    if (!is_right) {
      lines.push(make("p", {}, this.texts("training.answer", { answer: right.map((each) => this.#words(each)).join(this.texts("training.or")) })));
    }
    const why = make("p", { class: "why", dir: "auto" }, explanation);
    return make("div", { class: `card verdict ${is_right ? "right" : "wrong"}` }, ...lines, explanation ? why : null);
  }

  #words(answer) {
    return this.protocol.words(answer, this.texts) || this.texts("nothing");
  }
}

export const page = new TrainingPage(pageData());

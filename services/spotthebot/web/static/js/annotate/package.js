/** A package: its items one after the other, saved as they are answered, submitted at the end. */

import { Refused, Unreachable } from "./calls.js";
import { setUpDialogs, showInstructionsOnce } from "./dialogs.js";
import { make } from "./elements.js";
import { Protocol, changesBetween } from "./protocol.js";
import { showProgress } from "./progress.js";
import { NoSaves } from "./preview.js";
import { Saves } from "./saves.js";
import { pageData, textsOf } from "./texts.js";
import { Workspace } from "./workspace.js";

const HEARTBEAT_MILLISECONDS = 30_000;
const IDLE_MILLISECONDS = 15 * 60_000;

class PackagePage {
  constructor({ base, assignment, texts, is_preview: isPreview = false }) {
    this.base = base;
    this.texts = textsOf(texts);
    this.protocol = new Protocol(assignment.protocol);
    this.items = assignment.items;
    this.openDialog = setUpDialogs();
    this.status = document.getElementById("status");
    this.notice = document.getElementById("notice");
    this.spent = new Map(this.items.map((item) => [item, 0]));
    for (const item of this.items) this.#lockDecided(item);
    this.isPreview = isPreview;
    this.saves = isPreview ? new NoSaves(this.items) : new Saves(`${base}/packages/${assignment.id}`, assignment.id, this.protocol, this.items, {
      onStatus: (state) => this.#showStatus(state),
      onMerged: (item) => this.#showForeign(item, "notice.changed_elsewhere"),
      onRefused: (item) => this.#showForeign(item, "notice.not_taken"),
      onEnd: (reason) => this.#end(reason),
      elapsed: (item) => this.#elapsed(item),
    });
    this.workspace = new Workspace(this.protocol, this.texts, {
      onChange: (item, question) => this.#changed(item, question),
      onDone: () => this.#goTo(this.#following()),
      onBack: () => this.#goTo(this.at - 1),
      canGoBack: () => this.at > 0,
      onMore: () => this.#openExchange(),
      onKey: (key) => this.#press(key),
      nextLabel: () => this.texts(this.#following() === null ? "next.end" : "next.item"),
    });
    document.getElementById("submit").addEventListener("click", () => this.#submit());
    document.getElementById("look-again").addEventListener("click", () => this.#goTo(0));
    document.getElementById("to-end").addEventListener("click", () => this.#goTo(null));
    this.#keepAlive();
    window.addEventListener("popstate", ({ state }) => { if (state) this.#goTo(state.at, { isHistory: true }); });
    this.#goTo(this.#firstOpen());
    showInstructionsOnce(base);
  }

  /** Show the item of this index, or the end of the package. The browser's Back leads to the item before. */
  #goTo(index, { isHistory = false } = {}) {
    if (!isHistory) window.history[this.at === undefined ? "replaceState" : "pushState"]({ at: index }, "");
    this.#countTime();
    this.at = index;
    this.notice.textContent = "";
    document.body.classList.toggle("at-end", index === null);
    this.#showProgress();
    if (index === null) {
      this.#showEnd();
      return;
    }
    const item = this.items[index];
    const heading = document.getElementById("heading");
    heading.textContent = this.texts("progress.at", { number: index + 1, count: this.items.length });
    this.workspace.show(item);
    if (this.hasStarted) heading.focus({ preventScroll: true });
    this.hasStarted = true;
    setTimeout(() => this.#beat()); // after the conversation is shown
  }

  #isWhole(item) {
    return this.protocol.missing(item.answer, item.turns.map((turn) => turn.speaker)).length === 0;
  }

  #firstOpen() {
    const index = this.items.findIndex((item) => !this.#isWhole(item));
    return index < 0 ? null : index;
  }

  #following() {
    return this.at + 1 < this.items.length ? this.at + 1 : null;
  }

  #changed(item, question) {
    this.saves.change(item, { isTyped: question?.kind === "text" });
    this.#showProgress();
  }

  #showProgress() {
    const done = this.items.map((item) => this.#isWhole(item));
    document.getElementById("to-end").hidden = !done.every(Boolean) || this.#following() === null;
    showProgress(document.getElementById("progress"), document.getElementById("count"), done, this.at, this.texts);
  }

  #showStatus(state) {
    const time = new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
    this.status.textContent = this.texts(`status.${state}`, { time });
    this.status.dataset.state = state;
  }

  #showForeign(item, notice) {
    this.#lockDecided(item);
    item.history = [];
    if (this.workspace.item === item && this.at !== null) {
      this.workspace.refresh();
      this.notice.textContent = this.texts(notice);
    }
    if (this.at === null) this.#showEnd();
    this.#showProgress();
  }

  /** Note which answers were given before the last exchange was opened. */
  #lockDecided(item) {
    const early = item.decisions.filter((each) => each.exchanges < item.opened);
    item.lockedAnswers = new Set(early.map(({ question, target }) => `${question}/${target}`));
  }

  async #openExchange() {
    const item = this.workspace.item;
    if (this.isOpening) return;
    this.isOpening = true;
    try {
      if (!(await this.saves.flush())) return;
      const shown = await this.saves.request("POST", `/items/${item.position}/exchanges`, { open: item.opened + 1 });
      item.turns = shown.turns;
      item.opened = shown.opened;
      for (const [id, target] of changesBetween({}, item.answer)) item.lockedAnswers.add(`${id}/${target}`);
    } catch (error) {
      if (error instanceof Refused) item.allOpen = error.name === "all-exchanges-open";
      else if (!(error instanceof Unreachable)) throw error;
      this.notice.textContent = this.texts(item.allOpen ? "notice.all_open" : "notice.no_exchange");
    } finally {
      this.isOpening = false;
    }
    if (this.workspace.item === item) this.workspace.refresh();
  }

  #showEnd() {
    const open = this.items.filter((item) => !this.#isWhole(item));
    const list = document.getElementById("open-items");
    list.replaceChildren(...open.map((item) => this.#openItem(item)));
    document.getElementById("end-whole").hidden = open.length > 0;
    document.getElementById("end-open").hidden = open.length === 0;
    document.getElementById("all-items").replaceChildren(...this.items.map((item) => this.#itemButton(item)));
    document.getElementById("submit").hidden = open.length > 0 || this.isPreview;
    document.getElementById("end-title").focus();
  }

  #openItem(item) {
    const [first] = this.protocol.missing(item.answer, item.turns.map((turn) => turn.speaker));
    const names = this.workspace.nameOf(first);
    return make("li", {}, this.#itemButton(item, { isNamed: true }), make("span", { class: "soft" }, ` ${this.texts("missing.all", { names })}`));
  }

  #itemButton(item, { isNamed = false } = {}) {
    const number = this.items.indexOf(item) + 1;
    const name = this.texts("end.item", { number });
    const button = make("button", { type: "button", "aria-label": name }, isNamed ? name : String(number));
    button.addEventListener("click", () => this.#goTo(number - 1));
    return button;
  }

  async #submit() {
    const button = document.getElementById("submit");
    const said = document.getElementById("end-status");
    if (button.disabled) return;
    button.disabled = true;
    said.textContent = this.texts("end.sending");
    try {
      await this.beats; // one that comes after the submission is refused
      if (await this.saves.flush()) {
        const { next } = await this.saves.request("POST", "/submit");
        this.saves.kept.forget();
        this.leave(next);
        return;
      }
      said.textContent = this.texts("end.offline");
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      said.textContent = error instanceof Refused ? error.message : this.texts("end.offline");
    }
    button.disabled = false;
  }

  leave(address) {
    this.saves.isOver = true;
    window.location.assign(address);
  }

  #end(reason) {
    if (reason === "submitted") {
      this.leave(`${this.saves.address.replace("/packages/", "/done/")}`);
      return;
    }
    this.workspace.isOff = true;
    this.workspace.refresh();
    document.getElementById(`over-${reason}`).showModal();
  }

  #press(key) {
    if (this.at === null) {
      // Not Enter, which led here: a second press of it must not submit for good.
      if (key.toLowerCase() === "s" && !document.getElementById("submit").hidden) this.#submit();
      else if (key.toLowerCase() === "p") this.#goTo(this.items.length - 1);
      else return this.openDialog(key);
      return true;
    }
    return this.openDialog(key);
  }

  #keepAlive() {
    this.active = Date.now();
    for (const sign of ["keydown", "pointerdown", "pointermove", "scroll"]) {
      document.addEventListener(sign, () => { this.active = Date.now(); }, { capture: true, passive: true });
    }
    document.addEventListener("visibilitychange", () => { this.#countTime(); this.#beat(); });
    setInterval(() => this.#beat(), HEARTBEAT_MILLISECONDS);
  }

  /** Say that the annotator is at work, while they are. */
  async #beat() {
    this.#countTime();
    if (document.hidden || this.saves.isOver || Date.now() - this.active > IDLE_MILLISECONDS) return;
    const position = this.at === null ? null : this.items[this.at].position;
    const beat = this.saves.request("POST", "/heartbeat", { position }).then(
      () => this.saves.flush(),
      () => undefined, // the status says that nobody answered
    );
    this.beats = Promise.all([this.beats, beat]);
    await beat;
  }

  #countTime() {
    const now = Date.now();
    if (this.countedAt && this.at !== null && this.at !== undefined) {
      const item = this.items[this.at];
      this.spent.set(item, this.spent.get(item) + now - this.countedAt);
    }
    this.countedAt = document.hidden ? undefined : now;
  }

  #elapsed(item) {
    this.#countTime();
    return this.spent.get(item);
  }
}

export const page = new PackagePage(pageData());

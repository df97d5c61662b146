/**
 * Saves: answers are kept in this browser at once, and sent one after the other as the network allows.
 *
 * A save names the version that it replaces. Where another window, or another machine, saved before, both answers are
 * put together: what was changed here since the last save counts, all else is what the server has.
 */

import { Refused, Unreachable, call } from "./calls.js";
import { KeptAnswers } from "./kept.js";
import { changesBetween, isEqual, valueOf, withValue } from "./protocol.js";

const CALM_MILLISECONDS = 250;
const TYPING_MILLISECONDS = 1_500;
const RETRY_MILLISECONDS = 2_000;
const FOREIGN_MILLISECONDS = 4_000;
const LONGEST_WAIT_MILLISECONDS = 30_000;
const ENDS = { "assignment-expired": "expired", "assignment-submitted": "submitted", blocked: "expired" };

export class Saves {
  /**
   * Take the package's address and id, the protocol, the items, and what the page shows: `onStatus(state)` with saved,
   * saving, kept, unkept or offline; `onMerged(item)` when others changed an item; `onRefused(item)` when an answer was not
   * taken; `onEnd(reason)` with expired, submitted or unknown.
   */
  constructor(address, id, protocol, items, page) {
    this.address = address;
    this.protocol = protocol;
    this.items = items;
    this.page = page;
    this.failures = 0;
    this.isOver = false;
    this.state = "saved";
    this.kept = new KeptAnswers(id, (position, entry) => this.#takeOver(position, entry));
    for (const item of items) this.#begin(item);
    window.addEventListener("online", () => this.flush());
    window.addEventListener("pagehide", () => this.flush());
    document.addEventListener("visibilitychange", () => this.flush());
  }

  /** Keep a changed answer, and send it soon; what is typed, a little later. */
  change(item, { isTyped = false } = {}) {
    item.at = Date.now();
    this.#keep(item);
    this.#show(this.failures > 0 ? this.#offline() : "saving");
    this.#sendIn(this.failures > 0 ? RETRY_MILLISECONDS : isTyped ? TYPING_MILLISECONDS : CALM_MILLISECONDS);
  }

  /** Send all that the server does not have; resolves to whether it has everything now. */
  flush() {
    this.#stopTimer();
    this.flushing ??= this.#sendAll().finally(() => {
      this.flushing = undefined;
    });
    return this.flushing;
  }

  /** Whether the server does not have an item's answer yet. */
  isUnsaved(item) {
    return !isEqual(item.answer, item.saved);
  }

  /** Make a request about the package; says when nobody answers, and when the package is over. */
  async request(method, path, body) {
    try {
      const answer = await call(method, `${this.address}${path}`, body);
      this.failures = 0;
      return answer;
    } catch (error) {
      if (error instanceof Unreachable) this.#wait();
      if (error instanceof Refused) this.#end(error);
      throw error;
    }
  }

  #begin(item) {
    item.saved = item.answer;
    item.at = 0;
    const entry = this.kept.read(item.position);
    if (!entry || entry.isSaved) return;
    item.answer = this.#together(item, changesBetween(entry.base, entry.answer));
    item.at = entry.at;
    if (this.isUnsaved(item)) this.#sendIn(CALM_MILLISECONDS);
  }

  /** Return the answer that the server has with changes on top, but for what is locked there. */
  #together(item, changes) {
    const open = changes.filter(([id]) => this.protocol.byId.has(id) && this.protocol.byId.get(id).step + 1 >= item.step);
    const free = open.filter(([id, target]) => !item.lockedAnswers?.has(`${id}/${target}`));
    const answer = free.reduce((sum, [id, target, value]) => withValue(sum, id, target, value), item.saved);
    return this.protocol.pruned(answer, item.turns.map((turn) => turn.speaker));
  }

  #takeOver(position, entry) {
    const item = this.items.find((each) => each.position === position);
    if (!item || entry.at < item.at) return;
    const isNews = !isEqual(item.answer, entry.answer);
    item.answer = entry.answer;
    item.at = entry.at;
    if (entry.isSaved) {
      item.saved = entry.answer;
      item.version = entry.version;
      item.step = Math.max(item.step, entry.step);
    } else {
      this.#sendIn(FOREIGN_MILLISECONDS); // the other window sends it, unless it was closed
    }
    if (isNews) this.page.onMerged(item);
  }

  #keep(item) {
    const { answer, saved, version, step, at } = item;
    this.kept.write(item.position, { answer, base: saved, version, step, at, isSaved: !this.isUnsaved(item) });
  }

  #sendIn(milliseconds) {
    const due = Date.now() + milliseconds;
    if (this.timer && this.due <= due) return;
    this.#stopTimer();
    this.due = due;
    this.timer = setTimeout(() => this.flush(), milliseconds);
  }

  #stopTimer() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  #show(state) {
    if (state === this.state) return;
    this.state = state;
    this.page.onStatus(state);
  }

  async #sendAll() {
    for (;;) {
      const item = this.items.find((each) => this.isUnsaved(each));
      if (!item || this.isOver) break;
      try {
        await this.#send(item);
      } catch (error) {
        if (error instanceof Unreachable || this.isOver) return false;
        if (!(error instanceof Refused)) throw error;
        if (!(await this.#reload(item, error))) return false;
      }
    }
    if (!this.isOver && this.failures === 0) this.#show("saved");
    return !this.isOver;
  }

  /** Send an answer as far as its open steps; a step is shown with the first answer to it. */
  async #send(item) {
    const needsStep = this.protocol.stepsOf(item.answer) > item.step;
    const answer = needsStep ? this.protocol.upTo(item.answer, item.step) : item.answer;
    this.#show("saving");
    const body = { answer, version: item.version, elapsed_ms: this.page.elapsed(item), ...(needsStep && { show_step: item.step + 1 }) };
    const saved = await this.request("PUT", `/items/${item.position}`, body);
    item.saved = answer;
    item.version = saved.version;
    item.step = saved.step;
    this.#keep(item);
  }

  /** Get what the server has after it refused a save; resolves to whether it is worth going on. */
  async #reload(item, refused) {
    let found;
    try {
      found = await this.request("GET", "");
    } catch {
      return false;
    }
    for (const theirs of found.items) {
      const mine = this.items.find((each) => each.position === theirs.position);
      if (mine === item || theirs.version > mine.version) this.#merge(mine, theirs, refused, mine === item);
    }
    return true;
  }

  #merge(item, theirs, refused, isRefused) {
    const isOutdated = refused.name === "version-outdated";
    const changes = isRefused && !isOutdated ? [] : changesBetween(item.saved, item.answer);
    const before = item.answer;
    Object.assign(item, { saved: theirs.answer, version: theirs.version, step: theirs.step, decisions: theirs.decisions });
    item.answer = this.#together(item, changes);
    this.#keep(item);
    const isLost = changes.some(([id, target, value]) => !isEqual(valueOf(item.answer, id, target), value));
    if ((isRefused && !isOutdated) || isLost) this.page.onRefused(item);
    else if (!isEqual(before, item.answer)) this.page.onMerged(item);
  }

  #wait() {
    this.failures += 1;
    this.#show(this.#offline());
    this.#sendIn(Math.min(1000 * 2 ** (this.failures - 1), LONGEST_WAIT_MILLISECONDS));
  }

  #offline() {
    if (!this.items.some((item) => this.isUnsaved(item))) return "offline";
    return this.kept.works ? "kept" : "unkept";
  }

  #end({ status, name }) {
    const reason = ENDS[name] ?? ([401, 403, 404].includes(status) ? "unknown" : undefined);
    if (!reason) return;
    this.isOver = true;
    this.#stopTimer();
    if (reason === "submitted") this.kept.forget();
    this.page.onEnd(reason);
  }
}

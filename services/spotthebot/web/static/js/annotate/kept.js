/**
 * Answers kept in this browser until the server has them, and what other windows of it change meanwhile.
 *
 * One entry for each item of a package. An entry holds the answer, the one that the server had (`base`) in which
 * version, when it was changed, and whether the server has it.
 */

const PREFIX = "spotthebot.package.";
const DAYS_KEPT = 30;

export class KeptAnswers {
  /** Take the id of the package, and what is called with (position, entry) when another window changes an answer. */
  constructor(packageId, onChange) {
    this.prefix = `${PREFIX}${packageId}.`;
    this.works = true;
    window.addEventListener("storage", ({ key, newValue }) => {
      if (key?.startsWith(this.prefix) && newValue) onChange(Number(key.slice(this.prefix.length)), JSON.parse(newValue));
    });
    this.#forgetOld();
  }

  /** Return what is kept of an item, or null. */
  read(position) {
    try {
      return JSON.parse(localStorage.getItem(this.prefix + position));
    } catch {
      return null;
    }
  }

  /** Keep an item's answer. Where the browser keeps nothing, `works` says so. */
  write(position, entry) {
    try {
      localStorage.setItem(this.prefix + position, JSON.stringify(entry));
      this.works = true;
    } catch {
      this.works = false;
    }
  }

  /** Forget a package that was submitted. */
  forget() {
    for (const key of keysWith(this.prefix)) localStorage.removeItem(key);
  }

  #forgetOld() {
    const oldest = Date.now() - DAYS_KEPT * 86_400_000;
    for (const key of keysWith(PREFIX)) {
      if (key.startsWith(this.prefix)) continue;
      const entry = JSON.parse(localStorage.getItem(key) ?? "null");
      if (!entry || entry.isSaved || entry.at < oldest) localStorage.removeItem(key);
    }
  }
}

function keysWith(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

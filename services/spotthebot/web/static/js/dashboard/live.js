/* Follows something that changes: asks how it stands, as long as somebody sees the page. */

const SOONEST = 10_000;
const LATEST = 60_000;
const SLOWER = 1.5;

/**
 * Ask every ten seconds; where nothing changes more and more rarely, to once a minute; at once when the window is seen
 * again or the network is back. An answer that is as the last one costs 200 bytes: the server knows it by its ETag.
 *
 * `changed` takes the new answer's text and returns whether there is more to follow, `same` and `missed` take nothing.
 */
export function follow(address, { changed, same, missed }) {
  let etag = "";
  let pause = SOONEST;
  let timer = 0;
  let isAsking = false;

  async function look() {
    if (isAsking || document.hidden) {
      return;
    }
    clearTimeout(timer);
    isAsking = true;
    let goesOn = true;
    try {
      goesOn = await ask();
    } catch {
      pause = Math.min(pause * SLOWER, LATEST);
      missed();
    }
    isAsking = false;
    if (goesOn) {
      timer = setTimeout(look, pause);
    } else {
      document.removeEventListener("visibilitychange", lookSoon);
      window.removeEventListener("online", lookSoon);
    }
  }

  async function ask() {
    const answer = await fetch(address, { headers: etag ? { "If-None-Match": etag } : {} });
    if (answer.status === 401 || answer.redirected) {
      location.reload(); // the session is over: the server asks for a key
      return false;
    }
    if (answer.status === 304) {
      pause = Math.min(pause * SLOWER, LATEST);
      same();
      return true;
    }
    if (!answer.ok) {
      throw new Error(String(answer.status));
    }
    etag = answer.headers.get("ETag") ?? "";
    pause = SOONEST;
    return changed(await answer.text());
  }

  function lookSoon() {
    pause = SOONEST;
    look();
  }

  document.addEventListener("visibilitychange", lookSoon);
  window.addEventListener("online", lookSoon);
  timer = setTimeout(look, pause);
}

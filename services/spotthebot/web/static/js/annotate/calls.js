/** Requests of a page to its own server. */

const PATIENCE_MILLISECONDS = 20_000;
const LONGEST_KEPT_ALIVE = 60_000;

/** Nobody answered, or the server can't now: the same request can be sent again later. */
export class Unreachable extends Error {}

/** The server refused: `name` is the kind of problem, such as `assignment-expired`. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? "");
    this.status = status;
    this.name = String(problem.type ?? "").split(":").at(-1);
  }
}

/** Send JSON and return the JSON of the answer; a small body is sent even if the page is closed meanwhile. */
export async function call(method, path, body) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(path, {
      method,
      body: text,
      headers: { Accept: "application/json", ...(text && { "Content-Type": "application/json" }) },
      keepalive: (text ?? "").length < LONGEST_KEPT_ALIVE,
      signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
    });
    if (answer.ok) return await answer.json();
  } catch {
    throw new Unreachable();
  }
  if (answer.status >= 500 || answer.status === 429) throw new Unreachable();
  throw new Refused(answer.status, await answer.json().catch(() => ({})));
}

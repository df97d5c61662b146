"""The findings of a probe: one for each check, with advice for fixing a fault."""

import math
from collections import Counter
from collections.abc import Sequence

from spotthebot.bots.questions.domain.replies import NO_ANSWER, named
from spotthebot.contracts.bots.probes import Finding, Latency, Verdict
from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyNote, ReplyOut

_SLOW_SHARE_OF_TIMEOUT = 0.5
_REPETITIVE_SHARE = 0.5
_SAYS_WHY = "'./stb bots check' says why, from a machine that reaches the bot."


def is_silent(first: ReplyOut | None) -> bool:
    """Return whether there was no reply at all: time-out, or no server at the bot's URL."""
    return first is None or first.failure is ReplyFailure.TIMEOUT or first.detail == NO_ANSWER


def reachable(first: ReplyOut | None, limited: ReplyOut | None, *, names_causes: bool = False) -> Finding:
    """Check the reply to the first question; only a bot that replies gets the other questions.

    Without `names_causes`, a closed port, a silent port, failing TLS and another kind of server give the same finding,
    without a time. So a report does not reveal open ports.
    """
    if limited is not None and first is None:
        return skipped("reachable", f"{_limit(limited)} The suite probes it later; its status stays as it is.")
    if names_causes and is_silent(first):
        said = "The time for the check was up." if first is None else _said(first)
        return _finding("reachable", Verdict.FAILED, f"{said} Answer sooner, or give the bot more time by `--timeout`.")
    if first is None or is_silent(first):
        return _finding("reachable", Verdict.FAILED, f"No bot answers at its URL in time: {_SAYS_WHY}")
    if first.failure in {ReplyFailure.EMPTY, ReplyFailure.TOO_LONG}:
        return _finding("reachable", Verdict.PASSED, "It answers; its replies are checked below.")
    if first.text is None:
        return _finding("reachable", Verdict.FAILED, _said(first))
    return _finding("reachable", Verdict.PASSED, f"It answered the first question in {first.latency_ms:.0f} ms.")


def answers_in_turn(replies: Sequence[ReplyOut], expected: int, limited: ReplyOut | None) -> Finding:
    """Check a conversation of several exchanges; a rate limit of the bot's server is not a fault."""
    answered = sum(reply.text is not None for reply in replies)
    if answered == expected:
        return _finding("answers_in_turn", Verdict.PASSED, f"It answered all {expected} turns of a conversation.")
    failed = next((reply for reply in replies if reply.text is None), None)
    if failed is None and limited is not None:
        detail = f"It answered {answered} of {expected} turns. {_limit(limited)} Set `limits.requests_per_minute`."
        return _finding("answers_in_turn", Verdict.WARNED, detail)
    if failed is None:
        detail = f"It answered {answered} of {expected} turns before the probe's time was up: answer sooner."
    else:
        detail = f"It answered {answered} of {expected} turns of a conversation, then: {_said(failed)}"
    return _finding("answers_in_turn", Verdict.FAILED, detail)


def replies_as_agreed(replies: Sequence[ReplyOut], limits: Limits) -> list[Finding]:
    """Check all replies together: not empty, not too long, and text."""
    checks = {
        "reply_not_empty": (ReplyFailure.EMPTY, "No reply was empty."),
        "reply_not_too_long": (
            ReplyFailure.TOO_LONG,
            f"No reply was longer than {limits.longest_reply_characters} characters.",
        ),
        "valid_text": (ReplyFailure.INVALID, "All replies were valid UTF-8 text in the protocol's form."),
    }
    return [_never(check, failure, replies, fine) for check, (failure, fine) in checks.items()]


def only_the_reply(replies: Sequence[ReplyOut]) -> Finding:
    """Report whether answers had parts other than the reply; `cleaning` of the bot says whether these are removed."""
    counts = Counter(note for reply in replies for note in reply.notes if note is not ReplyNote.CUT)
    if not counts:
        return _finding("only_the_reply", Verdict.PASSED, "The answers were replies and nothing else.")
    said = "; ".join(f"{named([note])} in {times} of {len(replies)} answers" for note, times in counts.items())
    detail = f"Not part of a reply: {said}. `cleaning` decides: by default it is removed, and no partner sees it."
    return _finding("only_the_reply", Verdict.WARNED, detail)


def reply_not_cut(replies: Sequence[ReplyOut]) -> Finding:
    """Check whether the bot's server cut replies at its maximum length."""
    cut = sum(ReplyNote.CUT in reply.notes for reply in replies)
    if not cut:
        return _finding("reply_not_cut", Verdict.PASSED, "The server says of no reply that it was cut.")
    detail = f"{cut} of {len(replies)} replies were cut (finish_reason length): raise `max_tokens`, or ask for less."
    return _finding("reply_not_cut", Verdict.WARNED, detail)


def keeps_no_state(
    strangers: Sequence[ReplyOut], leaks: int, known: ReplyOut | None, again: ReplyOut | None
) -> Finding:
    """Check conversations held in turn: a word of one conversation must not appear in another conversation."""
    check = "keeps_no_state"
    if leaks:
        detail = (
            f"A word said in one conversation came up in {leaks} of {len(strangers)} replies of another: answer from "
            "the turns in the request alone."
        )
        return _finding(check, Verdict.FAILED, detail)
    if known is not None and again is not None and again.text is not None and again.text != known.text:
        detail = (
            "The same question got another reply after other conversations, though asked twice in a row it got the "
            "same: something is kept between conversations."
        )
        return _finding(check, Verdict.WARNED, detail)
    if not any(reply.text is not None for reply in strangers):
        return skipped(check, "No interleaved question was answered.")
    return _finding(check, Verdict.PASSED, "Nothing of one conversation came up in another.")


def unusual_context(check: str, reply: ReplyOut | None) -> Finding:
    """Check the reply to an empty history, a long one, emoji, or right-to-left text."""
    if reply is None:
        return skipped(check, "The probe's time was up.")
    if reply.text is None:
        return _finding(check, Verdict.WARNED, f"{_said(reply)} Conversations that come to this would fail.")
    return _finding(check, Verdict.PASSED, "It answers.")


def repeats_itself(texts: Sequence[str]) -> Finding:
    """Check whether the replies of one conversation repeat each other, ignoring case."""
    check = "repeats_itself"
    if len(texts) < 2:
        return skipped(check, "Fewer than two turns were answered.")
    most, times = Counter(text.casefold() for text in texts).most_common(1)[0]
    if times > 1 and times / len(texts) >= _REPETITIVE_SHARE:
        detail = f"{times} of {len(texts)} replies of one conversation were the same: “{most[:80]}”."
        return _finding(check, Verdict.WARNED, detail)
    return _finding(check, Verdict.PASSED, f"{len(texts)} replies of one conversation, at most {times} of them equal.")


def deterministic(replies: Sequence[ReplyOut]) -> Finding:
    """Report whether a question asked twice with the same seed got the same reply; a difference is not a fault."""
    check = "deterministic"
    if len(replies) < 2 or any(reply.text is None for reply in replies):
        return skipped(check, "The question was not answered twice.")
    if replies[0].text == replies[1].text:
        return _finding(check, Verdict.NOTED, "The same question with the same seed got the same reply.")
    detail = "The same question with the same seed got two replies: its conversations can't be repeated exactly."
    return _finding(check, Verdict.NOTED, detail)


def speed(replies: Sequence[ReplyOut], limits: Limits) -> Finding:
    """Compare the latency with the bot's own time-out."""
    found = latency_of(replies)
    if found is None:
        return skipped("latency", "No question was answered.")
    said = f"p50 {found.p50_ms:.0f} ms, p95 {found.p95_ms:.0f} ms over {found.n} replies"
    if found.p95_ms > _SLOW_SHARE_OF_TIMEOUT * limits.timeout_seconds * 1000:
        detail = f"{said}: near its time-out of {limits.timeout_seconds:g} s; answer sooner or raise the limit."
        return _finding("latency", Verdict.WARNED, detail)
    return _finding("latency", Verdict.NOTED, f"{said}.")


def latency_of(replies: Sequence[ReplyOut]) -> Latency | None:
    """Return percentiles of the latency of answered questions, by nearest rank; None if none was answered."""
    times = sorted(reply.latency_ms for reply in replies if reply.text is not None)
    if not times:
        return None
    return Latency(n=len(times), p50_ms=_rank(times, 0.5), p95_ms=_rank(times, 0.95), highest_ms=times[-1])


def skipped(check: str, why: str) -> Finding:
    """Return the finding of a skipped check, with the reason."""
    return _finding(check, Verdict.SKIPPED, why)


def _never(check: str, failure: ReplyFailure, replies: Sequence[ReplyOut], fine: str) -> Finding:
    failed = [reply for reply in replies if reply.failure is failure]
    if not failed:
        return _finding(check, Verdict.PASSED, fine)
    return _finding(check, Verdict.FAILED, f"{len(failed)} of {len(replies)} replies: {_said(failed[0])}")


def _limit(limited: ReplyOut) -> str:
    return f"Its server limits requests: {_said(limited).rstrip('.')}."


def _rank(times: Sequence[float], share: float) -> float:
    return times[max(0, math.ceil(share * len(times)) - 1)]


def _said(reply: ReplyOut) -> str:
    return reply.detail or f"{reply.failure}."


def _finding(check: str, verdict: Verdict, detail: str) -> Finding:
    return Finding(check=check, verdict=verdict, detail=detail)

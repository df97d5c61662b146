"""Errors that a server reports in an answer with status 200."""

import re
from typing import Any

from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.replies import ReplyFailure

_LIMITED = 429
_LIMITED_WORDS = re.compile(r"rate.?limit|too.?many.?requests|throttl|resource.?exhausted", re.IGNORECASE)
_ERRORS_FROM = 400
_PASSING = frozenset({502, 503, 504})
_FIELDS = ("code", "status", "statusCode", "status_code", "type", "message", "detail")


def fault_inside(answer: Any, retry_after_seconds: float | None = None) -> Fault | None:  # noqa: ANN401 - JSON
    """Return the fault for an answer's `error`, with its `Retry-After`; None without an error.

    Some servers answer with the error itself (`{"object": "error", "message": ..., "code": ...}`). A rate limit is
    recognised by status 429 in a field of the error, or by words in it, such as `rate_limit_exceeded`.
    """
    if not isinstance(answer, dict):
        return None
    inside = answer.get("error") or (answer if _is_error(answer) else None)
    if not inside:
        return None
    facts = inside if isinstance(inside, dict) else {}
    codes = [facts.get(name, answer.get(name)) for name in _FIELDS] + [inside]
    numbers = {_status(code) for code in codes}
    detail = f"The answer holds an error instead of a reply: {inside}."
    if _LIMITED in numbers or any(map(_names_limit, codes)):
        return Fault(ReplyFailure.RATE_LIMITED, detail, transient=True, retry_after_seconds=retry_after_seconds)
    if numbers & _PASSING:
        return Fault(ReplyFailure.HTTP_ERROR, detail, transient=True, retry_after_seconds=retry_after_seconds)
    return Fault(ReplyFailure.INVALID, detail)


def _status(code: object) -> int:
    """Return the HTTP status that a field names as a number or in digits; 0 if it names none."""
    if isinstance(code, str):
        return int(code) if len(code) == 3 and code.isascii() and code.isdigit() else 0
    return int(code) if isinstance(code, int | float) and 100 <= code < 600 else 0


def _names_limit(code: object) -> bool:
    return isinstance(code, str) and _LIMITED_WORDS.search(code) is not None


def _is_error(answer: dict[str, Any]) -> bool:
    """Return whether an answer without an `error` is an error itself."""
    values = [answer.get(name) for name in _FIELDS]
    return answer.get("object") == "error" or any(
        _names_limit(value) or _status(value) >= _ERRORS_FROM for value in values
    )

"""Errors that a server reports inside an answer with status 200."""

import re
from typing import Any

from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.replies import ReplyFailure

_LIMITED = 429
_LIMITED_WORDS = re.compile(r"rate.?limit|too.?many.?requests|throttl|resource.?exhausted", re.IGNORECASE)
_PASSING = frozenset({502, 503, 504})


def fault_inside(answer: Any, retry_after_seconds: float | None = None) -> Fault | None:  # noqa: ANN401 - JSON
    """Return the fault that an answer's `error` stands for, with its `Retry-After`; None where it has no error.

    A rate limit is one wherever the server says so: as the status 429 in `code` or `status`, or in the words of `code`,
    `type`, or an error that is nothing but words, such as `rate_limit_exceeded`.
    """
    inside = answer.get("error") if isinstance(answer, dict) else None
    if not inside:
        return None
    facts = inside if isinstance(inside, dict) else {}
    codes = [facts.get(name, answer.get(name)) for name in ("code", "status", "type")] + [inside]
    numbers = {int(code) for code in codes if _is_status(code)}
    detail = f"The answer holds an error instead of a reply: {inside}."
    if _LIMITED in numbers or any(_LIMITED_WORDS.search(code) for code in codes if isinstance(code, str)):
        return Fault(ReplyFailure.RATE_LIMITED, detail, transient=True, retry_after_seconds=retry_after_seconds)
    if numbers & _PASSING:
        return Fault(ReplyFailure.HTTP_ERROR, detail, transient=True, retry_after_seconds=retry_after_seconds)
    return Fault(ReplyFailure.INVALID, detail)


def _is_status(code: object) -> bool:
    if isinstance(code, str):
        return len(code) == 3 and code.isascii() and code.isdigit()
    return isinstance(code, int)

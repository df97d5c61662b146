"""What a bot's answer is held to before it counts as a reply, and how asking can fail."""

from dataclasses import dataclass

from spotthebot.contracts.bots import ReplyFailure
from spotthebot.kit.text import INVISIBLE, printable


@dataclass(frozen=True)
class Reply:
    """What came of asking a bot once, retries included: a text, or a failure with its detail."""

    text: str | None
    failure: ReplyFailure | None
    detail: str | None
    attempts: int
    latency_ms: float


class Fault(Exception):
    """Why one attempt gave no reply; `transient` where another attempt may, after `retry_after_seconds` if known."""

    def __init__(
        self,
        failure: ReplyFailure,
        detail: str,
        *,
        transient: bool = False,
        retry_after_seconds: float | None = None,
    ) -> None:
        self.failure = failure
        self.detail = printable(detail)
        self.transient = transient
        self.retry_after_seconds = retry_after_seconds
        super().__init__(self.detail)


COUNTS_AGAINST = frozenset(
    {ReplyFailure.TIMEOUT, ReplyFailure.UNREACHABLE, ReplyFailure.HTTP_ERROR, ReplyFailure.INVALID}
)
"""Failures that open a bot's circuit when they follow each other; the others say that the bot is there."""


def accepted(text: str, longest: int) -> str:
    """Return a bot's text as it is kept: line ends as newlines, no blanks around it, otherwise as it came.

    Markup, instructions to whoever reads it and right-to-left scripts are text like any other. Raises Fault:
    `empty`, `too_long` (more than `longest` characters), or `invalid` for characters that are no text or that
    reorder what stands around them (Unicode's bidirectional overrides and isolates).
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise Fault(ReplyFailure.EMPTY, "The reply is empty.")
    if len(text) > longest:
        raise Fault(ReplyFailure.TOO_LONG, f"The reply has {len(text)} characters, at most {longest} are accepted.")
    if found := INVISIBLE.search(text):
        character = f"U+{ord(found[0]):04X}"
        detail = f"The reply holds the character {character} at position {found.start()}: send plain text."
        raise Fault(ReplyFailure.INVALID, detail)
    return text

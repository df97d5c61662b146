"""Replies: the rules that a bot's answer has to meet, and the ways in which a request can fail."""

from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.bots import ReplyFailure
from spotthebot.kit.text import INVISIBLE, printable


@dataclass(frozen=True)
class Reply:
    """The result of one question, retries included: a text, or a failure with its detail."""

    text: str | None
    failure: ReplyFailure | None
    detail: str | None
    attempts: int
    latency_ms: float


@dataclass(frozen=True)
class Replies:
    """One reply for each context, in order, and the version that gave them."""

    bot_id: UUID
    version: int
    configuration_sha256: str
    replies: tuple[Reply, ...]


class Fault(Exception):
    """Why one attempt gave no reply; if `transient`, a retry may help, after `retry_after_seconds` if known."""

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


NO_ANSWER = "No server answers at the bot's URL."
"""Why there is no reply where nothing spoke the protocol: one detail for all causes, which differ by open ports."""
COUNTS_AGAINST = frozenset(
    {ReplyFailure.TIMEOUT, ReplyFailure.UNREACHABLE, ReplyFailure.HTTP_ERROR, ReplyFailure.INVALID}
)
"""Failures that open a bot's circuit when they come in a row; all other failures show that the bot answers."""


def accepted(text: str, max_characters: int) -> str:
    """Return a bot's text as it is stored: line ends as newlines, stripped, otherwise unchanged.

    Markup, instructions to the reader and right-to-left scripts are text like any other. Raises Fault: `empty`,
    `too_long` (more than `max_characters`), or `invalid` for control characters and for characters that reorder
    the text around them (Unicode's bidirectional overrides and isolates).
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise Fault(ReplyFailure.EMPTY, "The reply is empty.")
    if len(text) > max_characters:
        raise Fault(
            ReplyFailure.TOO_LONG, f"The reply has {len(text)} characters, at most {max_characters} are accepted."
        )
    if found := INVISIBLE.search(text):
        character = f"U+{ord(found[0]):04X}"
        detail = f"The reply holds the character {character} at position {found.start()}: send plain text."
        raise Fault(ReplyFailure.INVALID, detail)
    return text

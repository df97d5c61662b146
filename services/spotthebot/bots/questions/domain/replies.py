"""Replies: the rules that a bot's answer has to meet, and the ways in which a request can fail."""

from collections.abc import Iterable
from dataclasses import dataclass

from spotthebot.bots.questions.domain.answer_parts import LONGEST_ANSWER, take_apart
from spotthebot.contracts.bots.protocols import BuiltinProtocol, Cleaning, Protocol
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyNote
from spotthebot.kit.text.characters import UNFIT, printable


@dataclass(frozen=True)
class Said:
    """A bot's text as it came, with notes on the rest of its answer, and why the text is empty if it is."""

    text: str
    notes: tuple[ReplyNote, ...] = ()
    why_empty: str | None = None


@dataclass(frozen=True)
class Reply:
    """The result of one question, retries included: a text, or a failure with its detail."""

    text: str | None
    failure: ReplyFailure | None
    detail: str | None
    attempts: int
    latency_ms: float
    notes: tuple[ReplyNote, ...] = ()
    retry_after_seconds: float | None = None


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

_NAMES = {
    ReplyNote.REASONING: "reasoning",
    ReplyNote.ROLE: "a role before the reply, such as `Assistant:`",
    ReplyNote.PARTNERS_TURN: "turns that it makes up for its partner",
    ReplyNote.CUT: "an end that is cut",
}


def cleaning_of(protocol: Protocol) -> Cleaning | None:
    """Return what is done with text of a bot that is no part of its reply; None for a bot that we wrote."""
    return None if isinstance(protocol, BuiltinProtocol) else protocol.cleaning


def named(notes: Iterable[ReplyNote]) -> str:
    """Return what an answer held beside its reply, in words."""
    return " and ".join(_NAMES[note] for note in notes)


def accepted(said: Said, max_characters: int, cleaning: Cleaning | None) -> tuple[str, tuple[ReplyNote, ...]]:
    """Return a bot's reply as it is stored, and notes on its answer: line ends are newlines, blanks at the ends go.

    What is no part of the reply is treated by `cleaning`; None looks for nothing. Markup, instructions to the reader
    and right-to-left scripts are text like any other. Raises Fault: `empty`, `too_long` (more than `max_characters`),
    or `invalid` for control characters, for overrides of the text's direction, for reasoning that nothing closes, and
    for all that `cleaning` refuses.
    """
    text = said.text.replace("\r\n", "\n").replace("\r", "\n").strip()
    notes = said.notes
    if cleaning is not None and len(text) <= LONGEST_ANSWER:
        text, notes = _cleaned(text, notes, cleaning)
    if not text:
        only = f": the answer holds nothing but {named(notes)}" if notes else ""
        raise Fault(ReplyFailure.EMPTY, f"The reply is empty{f': {said.why_empty}' if said.why_empty else only}.")
    if len(text) > max_characters:
        raise Fault(
            ReplyFailure.TOO_LONG, f"The reply has {len(text)} characters, at most {max_characters} are accepted."
        )
    if found := UNFIT.search(text):
        character = f"U+{ord(found[0]):04X}"
        detail = f"The reply holds the character {character} at position {found.start()}: send plain text."
        raise Fault(ReplyFailure.INVALID, detail)
    return text, notes


def _cleaned(text: str, notes: tuple[ReplyNote, ...], cleaning: Cleaning) -> tuple[str, tuple[ReplyNote, ...]]:
    parts = take_apart(text)
    notes = tuple(dict.fromkeys((*notes, *parts.notes)))
    if cleaning == "keep":
        return text, notes
    if parts.open_reasoning is not None:
        detail = (
            f"The answer's reasoning begins with {parts.open_reasoning} and nothing closes it: raise `max_tokens`, or "
        )
        raise Fault(ReplyFailure.INVALID, f"{detail}switch the model's reasoning off.")
    if cleaning == "refuse" and parts.notes:
        raise Fault(ReplyFailure.INVALID, f'The answer holds {named(parts.notes)}: `cleaning` is "refuse".')
    return parts.reply, notes

"""Replies: the rules for a bot's answer, and the ways in which a request can fail.

Control characters and bidirectional overrides make a reply invalid, since no page can show them safely. Bidirectional
isolates and markup are accepted as text: an isolate has no effect outside the HTML element that shows the reply.
"""

from collections.abc import Iterable

from spotthebot.bots.questions.domain.answer_parts import LONGEST_ANSWER, take_apart
from spotthebot.contracts.bots.protocols import BuiltinProtocol, Cleaning, Protocol
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyNote, ReplyOut
from spotthebot.kit.text.characters import UNFIT, printable


class Fault(Exception):
    """The reason why one attempt gave no reply.

    If `transient`, a retry may help, after `retry_after_seconds` if known.
    """

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
"""The detail if no server spoke the protocol: the same for all causes, so that it does not reveal open ports."""
COUNTS_AGAINST = frozenset(
    {ReplyFailure.TIMEOUT, ReplyFailure.UNREACHABLE, ReplyFailure.HTTP_ERROR, ReplyFailure.INVALID}
)
"""Failures that open a bot's circuit if they occur in a row; other failures show that the bot answers."""

_NAMES = {
    ReplyNote.REASONING: "reasoning",
    ReplyNote.ROLE: "a role before the reply, such as `Assistant:`",
    ReplyNote.PARTNERS_TURN: "turns that it makes up for its partner",
    ReplyNote.CUT: "an end that is cut",
}


def cleaning_of(protocol: Protocol) -> Cleaning | None:
    """Return how to treat text of a bot that is not part of its reply; None for a built-in bot."""
    return None if isinstance(protocol, BuiltinProtocol) else protocol.cleaning


def named(notes: Iterable[ReplyNote]) -> str:
    """Return in words which other parts a bot's answer had besides the reply; each note stands for one part."""
    return " and ".join(_NAMES[note] for note in notes)


def accepted(said: ReplyOut, max_characters: int, cleaning: Cleaning | None) -> ReplyOut:
    """Return a bot's reply as it is stored, with notes on the other parts of the bot's answer.

    Line ends become newlines, and blanks at both ends are removed. `cleaning` says how to treat text that is not part
    of the reply; with None, nobody looks for such text. Markup, instructions to the reader and right-to-left scripts
    are ordinary text. Raises Fault: `empty`, `too_long` (more than `max_characters`), or `invalid` for control
    characters, for overrides of the text's direction, for unclosed reasoning, and for text that `cleaning` refuses.
    """
    text = (said.text or "").replace("\r\n", "\n").replace("\r", "\n").strip()
    notes = said.notes
    if cleaning is not None and len(text) <= LONGEST_ANSWER:
        text, notes = _cleaned(text, notes, cleaning)
    if not text:
        only = f": the answer holds nothing but {named(notes)}" if notes else ""
        raise Fault(ReplyFailure.EMPTY, f"The reply is empty{f': {said.detail}' if said.detail else only}.")
    if len(text) > max_characters:
        raise Fault(
            ReplyFailure.TOO_LONG, f"The reply has {len(text)} characters, at most {max_characters} are accepted."
        )
    if found := UNFIT.search(text):
        character = f"U+{ord(found[0]):04X}"
        detail = f"The reply holds the character {character} at position {found.start()}: send plain text."
        raise Fault(ReplyFailure.INVALID, detail)
    if (text, notes, None) == (said.text, said.notes, said.detail):
        return said
    return said.model_copy(update={"text": text, "notes": notes, "detail": None})


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

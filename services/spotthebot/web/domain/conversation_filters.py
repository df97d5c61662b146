"""Which conversations of a collection a reader looks for, as the form of the page sends it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, get_args
from urllib.parse import urlencode

from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.contracts.conversations.quality import FlagKind
from spotthebot.contracts.turns import MAX_TURNS

ENDINGS: Final = (*Ending, ConversationState.FAILED, ConversationState.CANCELLED, ConversationState.RUNNING)
"""How a conversation ended, or that it did not: one choice for the reader, two fields of the API."""
FLAGS: Final[tuple[str, ...]] = get_args(FlagKind)
LONGEST_TEXT: Final = 200
_LONGEST_NAME: Final = 100


@dataclass(frozen=True)
class Filters:
    """What was asked for; None: anything. What nobody can ask for counts as not asked."""

    text: str | None = None
    participant: str | None = None
    ending: str | None = None
    flag: str | None = None
    min_turns: int | None = None
    max_turns: int | None = None

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Self:
        """Read the query of a page."""
        return cls(
            text=_text(given.get("text"), LONGEST_TEXT),
            participant=_text(given.get("participant"), _LONGEST_NAME),
            ending=_one_of(given.get("ending"), ENDINGS),
            flag=_one_of(given.get("flag"), FLAGS),
            min_turns=_number(given.get("min_turns")),
            max_turns=_number(given.get("max_turns")),
        )

    def __bool__(self) -> bool:
        return any(value is not None for value in vars(self).values())

    def matching(self) -> dict[str, Any]:
        """Return the same as the client of `conversations` takes it."""
        found = {name: value for name, value in vars(self).items() if name != "ending" and value is not None}
        if self.ending is not None:
            found["ended_by" if self.ending in set(Ending) else "state"] = self.ending
        return found

    def query(self, **more: str) -> str:
        """Return the query of an address, with its question mark; empty where there is nothing to say."""
        given = {name: value for name, value in {**vars(self), **more}.items() if value is not None}
        return f"?{urlencode(given)}" if given else ""


@dataclass(frozen=True)
class Excerpt:
    """A part of a turn around what was searched for; `match` is empty where nothing was."""

    before: str
    match: str
    after: str


def excerpt(turns: list[str], text: str | None, *, longest: int = 180) -> Excerpt:
    """Return the part of the first turn that holds the text, else the beginning of the first turn."""
    for turn in turns if text else ():
        at = turn.lower().find(str(text).lower())
        if at >= 0:
            start, end = max(0, at - longest // 3), at + len(str(text))
            before = ("…" if start else "") + turn[start:at]
            after = turn[end : start + longest] + ("…" if len(turn) > start + longest else "")
            return Excerpt(before, turn[at:end], after)
    first = turns[0] if turns else ""
    return Excerpt(first[:longest] + ("…" if len(first) > longest else ""), "", "")


def _text(given: str | None, longest: int) -> str | None:
    return (given or "").replace("\0", "").strip()[:longest] or None


def _one_of(given: str | None, known: tuple[str, ...]) -> str | None:
    return str(given) if given in known else None


def _number(given: str | None) -> int | None:
    given = (given or "").strip()
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(MAX_TURNS))):
        return None
    return min(int(given), MAX_TURNS)

"""The form with which a reader filters the conversations of a collection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, get_args
from urllib.parse import urlencode

from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.contracts.conversations.quality import FlagKind
from spotthebot.contracts.turns import MAX_TURNS

ENDINGS: Final = (*Ending, ConversationState.FAILED, ConversationState.CANCELLED, ConversationState.RUNNING)
"""How a conversation ended, or its state. The reader has one choice for two fields of the API."""
FLAGS: Final[tuple[str, ...]] = get_args(FlagKind)
LONGEST_TEXT: Final = 200
_LONGEST_NAME: Final = 100


@dataclass(frozen=True)
class Filters:
    """The filters that the reader chose; None means no filter. Values that the form can't send are ignored."""

    text: str | None = None
    participant: str | None = None
    ending: str | None = None
    flag: str | None = None
    min_turns: int | None = None
    max_turns: int | None = None

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Self:
        """Return the filters in the query of a page."""
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
        """Return the filters as arguments of the client of `conversations`."""
        found = {name: value for name, value in vars(self).items() if name != "ending" and value is not None}
        if self.ending is not None:
            found["ended_by" if self.ending in set(Ending) else "state"] = self.ending
        return found

    def query(self, **more: str) -> str:
        """Return the filters and `more` as the query of an address, with its question mark; "" without any filter."""
        given = {name: value for name, value in {**vars(self), **more}.items() if value is not None}
        return f"?{urlencode(given)}" if given else ""


def _text(given: str | None, longest: int) -> str | None:
    return (given or "").replace("\0", "").strip()[:longest] or None


def _one_of(given: str | None, known: tuple[str, ...]) -> str | None:
    return str(given) if given in known else None


def _number(given: str | None) -> int | None:
    given = (given or "").strip()
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(MAX_TURNS))):
        return None
    return min(int(given), MAX_TURNS)

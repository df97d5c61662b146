"""The criteria of a search for conversations of a collection."""

from dataclasses import dataclass
from typing import Final

from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.contracts.conversations.quality import FlagKind

SEARCHED_AT_ONCE: Final = 5000
"""The number of conversations whose texts one request searches; an incomplete page says where the search continues."""


@dataclass(frozen=True)
class ConversationQuery:
    """The criteria that all results meet; a criterion of None accepts everything.

    Lengths count turns without the opening.
    """

    participant: str | None = None
    state: ConversationState | None = None
    ended_by: Ending | None = None
    flag: FlagKind | None = None
    min_turns: int | None = None
    max_turns: int | None = None
    text: str | None = None
    """A text in a turn or in the opening, in any case."""

    @property
    def spellings(self) -> list[str]:
        """The text in lower case, in upper case and capitalised, because some databases ignore case only in ASCII."""
        return [] if self.text is None else sorted({self.text.lower(), self.text.upper(), self.text.capitalize()})

"""Which conversations of a collection are asked for."""

from dataclasses import dataclass
from typing import Final

from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.contracts.conversations.quality import FlagKind

SEARCHED_AT_ONCE: Final = 5000
"""Conversations whose texts one request searches: a page that is not full says where the search goes on."""


@dataclass(frozen=True)
class ConversationQuery:
    """What the conversations have in common; None: anything. Lengths are turns that were said, without the opening."""

    participant: str | None = None
    state: ConversationState | None = None
    ended_by: Ending | None = None
    flag: FlagKind | None = None
    min_turns: int | None = None
    max_turns: int | None = None
    text: str | None = None
    """Said in a turn or in the opening, in upper or lower case."""

    @property
    def spellings(self) -> list[str]:
        """The text in lower case, in upper case and as sentences begin: some databases fold ASCII alone."""
        return [] if self.text is None else sorted({self.text.lower(), self.text.upper(), self.text.capitalize()})

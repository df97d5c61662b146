"""An assignment, a package leased to an annotator, with its items as the annotator sees them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.assignments.domain.answers import AnsweredItem, Draft
from spotthebot.annotation.assignments.domain.gold import PlacedGold
from spotthebot.annotation.leases.domain import Lease
from spotthebot.contracts.turns import Turn


@dataclass(frozen=True)
class Progress:
    """When the last answer of an assignment was given, if any was, and whether its annotator is blocked."""

    answered_at: datetime | None
    is_blocked: bool


@dataclass(frozen=True)
class LeasedItem:
    """Who holds a package, and what is at a position of it: an item, a gold item without its speakers, or nothing.

    One statement finds either, so that both take as long.
    """

    lease: Lease
    item: AnsweredItem | None
    gold: PlacedGold | None


@dataclass(frozen=True)
class ShownItem:
    """An item as its annotator sees it, with what was answered so far.

    Of a pair, the turns are those of the conversation on the left; `right_turns` is None of other items. `later_turns`
    come after the opening, and are all that can be opened, whether or not they are open.
    """

    id: UUID | None
    position: int
    opening: tuple[Turn, ...]
    later_turns: tuple[Turn, ...]
    right_turns: tuple[Turn, ...] | None
    draft: Draft

    def turns(self, *, exchanges: int | None) -> tuple[Turn, ...]:
        """Return the turns that may be seen with so many exchanges open: none before the first; None shows all."""
        if exchanges is None:
            return self.opening + self.later_turns
        return self.opening + self.later_turns[: 2 * exchanges] if exchanges else ()


@dataclass(frozen=True)
class Assignment:
    """A package in the hands of an annotator."""

    lease: Lease
    annotator: str
    items: tuple[ShownItem, ...]

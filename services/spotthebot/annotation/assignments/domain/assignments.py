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
    """The time of an assignment's last answer, if any, and whether its annotator is blocked."""

    answered_at: datetime | None
    is_blocked: bool


@dataclass(frozen=True)
class LeasedItem:
    """The lease of a package, and the item at one position: an item, a gold item without its speakers, or None.

    One statement finds both kinds of item, so response times do not reveal gold items.
    """

    lease: Lease
    item: AnsweredItem | None
    gold: PlacedGold | None


@dataclass(frozen=True)
class ShownItem:
    """An item as its annotator sees it, with the answer so far.

    For a pair, the turns are those of the left conversation; other items have None as `right_turns`. `later_turns`
    follow the opening, and include turns that are not open yet.
    """

    id: UUID | None
    position: int
    opening: tuple[Turn, ...]
    later_turns: tuple[Turn, ...]
    right_turns: tuple[Turn, ...] | None
    draft: Draft

    def turns(self, *, exchanges: int | None) -> tuple[Turn, ...]:
        """Return the turns visible with this many open exchanges: 0 returns no turn, None all turns."""
        if exchanges is None:
            return self.opening + self.later_turns
        return self.opening + self.later_turns[: 2 * exchanges] if exchanges else ()


@dataclass(frozen=True)
class Assignment:
    """A package in the hands of an annotator."""

    lease: Lease
    annotator: str
    items: tuple[ShownItem, ...]

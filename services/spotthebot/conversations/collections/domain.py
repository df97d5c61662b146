"""A collection: its states, the order of the states, its progress, and its fields that exports need."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.conversations import Participant
from spotthebot.contracts.conversations.ids import CollectionId
from spotthebot.contracts.names import skeleton
from spotthebot.conversations.collections.errors import HasEnded, NamesLookAlike

COLLECTING, PAUSED = CollectionState.COLLECTING, CollectionState.PAUSED
CANCELLED, COMPLETE = CollectionState.CANCELLED, CollectionState.COMPLETE

TRANSITIONS: Final[Mapping[CollectionState, frozenset[CollectionState]]] = MappingProxyType(
    {
        COLLECTING: frozenset({PAUSED, CANCELLED, COMPLETE}),
        PAUSED: frozenset({COLLECTING, CANCELLED, COMPLETE}),
        CANCELLED: frozenset(),
        COMPLETE: frozenset(),
    }
)
"""The states that may follow each state; SQL conditions are made from this table."""
REQUESTS_TURNS: Final = frozenset({COLLECTING})
"""The states in which runners request turns."""
ENDED: Final = frozenset(state for state, following in TRANSITIONS.items() if not following)
OPEN: Final = frozenset(TRANSITIONS) - ENDED


def states_before(state: CollectionState) -> frozenset[CollectionState]:
    """Return the states from which a collection may reach `state`."""
    return frozenset(before for before, following in TRANSITIONS.items() if state in following)


def require_transition(name: str, before: CollectionState, after: CollectionState, *, verb: str) -> bool:
    """Return whether `before` and `after` differ; raises HasEnded if a collection may not change to `after`."""
    if before is after:
        return False
    if after not in TRANSITIONS[before]:
        raise HasEnded(name=name, state=before, verb=verb)
    return True


@dataclass(frozen=True)
class Collection:
    """A collection and its progress."""

    id: CollectionId
    name: str
    domain: str
    mode: str
    state: CollectionState
    priority: int
    conversations: int
    complete: int
    failed: int
    cancelled: int
    waiting: int
    """Conversations that wait for an unavailable bot."""
    turns: int
    turns_planned: int
    rate_turns_per_second: float | None
    created_at: datetime
    finished_at: datetime | None
    trace: str | None
    """The trace of the request that started it."""

    @property
    def running(self) -> int:
        """The number of the collection's conversations that have not ended."""
        return self.conversations - self.complete - self.failed - self.cancelled


@dataclass(frozen=True)
class OpenCollection:
    """A collection with turns to request, and the number of its conversations that runners have claimed."""

    id: UUID
    priority: int
    claimed: int
    trace: str | None


@dataclass(frozen=True)
class ExportSource:
    """A collection to export; for an import, `held_as` is the mode in which its conversations were held.

    Without a `pseudonym_key`, the export shows the ids of people who chatted instead of pseudonyms.
    """

    id: CollectionId
    name: str
    domain: str
    mode: str
    held_as: str | None
    is_cancelled: bool
    plan: dict[str, Any]
    created_at: datetime
    pseudonym_key: bytes | None = field(repr=False)

    @property
    def exported_mode(self) -> str:
        """The mode that the rows of the export show."""
        return self.held_as or self.mode


def check_looks(names: Iterable[str], known: Iterable[str] = ()) -> None:
    """Raise NamesLookAlike if names of bots in one set of results look alike.

    `names` are compared with each other and with the `known` names. The `known` names are not compared with each other.
    """
    seen = {skeleton(each): each for each in known}
    for each in names:
        if (other := seen.setdefault(skeleton(each), each)) != each:
            raise NamesLookAlike(name=each, other=other)


Sides = tuple[Participant, Participant]

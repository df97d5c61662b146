"""A collection: its states, which state may follow which, and its progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal
from uuid import UUID

from spotthebot.contracts.conversations import CollectionId, CollectionState
from spotthebot.conversations.domain.errors import HasEnded

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
"""The states that may follow each state; the conditions of the SQL come from here."""
REQUESTS_TURNS: Final = frozenset({COLLECTING})
"""The states in which runners request turns."""
ENDED: Final = frozenset(state for state, following in TRANSITIONS.items() if not following)
OPEN: Final = frozenset(TRANSITIONS) - ENDED


def states_before(state: CollectionState) -> frozenset[CollectionState]:
    """Return the states from which a collection may come to `state`."""
    return frozenset(before for before, following in TRANSITIONS.items() if state in following)


def require_transition(name: str, before: CollectionState, after: CollectionState, *, verb: str) -> bool:
    """Return whether a collection changes its state; raises HasEnded if it may not come to `after`."""
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
    """Of the request that started it."""

    @property
    def running(self) -> int:
        """The number of conversations that have not ended."""
        return self.conversations - self.complete - self.failed - self.cancelled


@dataclass(frozen=True)
class PairProgress:
    """The conversations of a pair by state; the first of `participants` begins."""

    number: int
    participants: tuple[str, str]
    conversations: Mapping[str, int]


@dataclass(frozen=True)
class FailureReason:
    """Why conversations of a collection failed, or wait; `bot` was to speak next, and is waited for `since` then."""

    state: Literal["failed", "waiting"]
    reason: str
    bot: str | None
    conversations: int
    since: datetime | None


@dataclass(frozen=True)
class OpenCollection:
    """A collection with turns to request, and how many of its conversations runners have claimed."""

    id: UUID
    priority: int
    claimed: int
    trace: str | None

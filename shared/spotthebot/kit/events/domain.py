"""Events, subscriptions to them, and the rules of their delivery."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

TEST_EVENT = "subscription.test"
"""The type of the event that a subscriber can request, to try a subscription out."""
GONE = 410
"""The HTTP status by which a subscriber ends its subscription."""


class DeliveryState(StrEnum):
    """State of an event's delivery to one subscriber; a replay makes any delivery pending again."""

    PENDING = "pending"
    """The next attempt is due, waits for its time, or is under way."""
    DELIVERED = "delivered"
    FAILED = "failed"
    """All attempts failed, or the subscriber answered 410."""


@dataclass(frozen=True)
class Event:
    """Something that happened; `team` owns the thing that it happened to, None for the operator's own.

    `position` is its place in lists, None until it is distributed; `trace` is that in which it happened.
    """

    id: UUID
    type: str
    data: Mapping[str, Any]
    team: str | None
    created_at: datetime
    position: int | None
    trace: str | None = field(repr=False)


@dataclass(frozen=True)
class EventCatalogue:
    """The event types of a service, and the part of them that teams may receive.

    `for_teams` are types whose events belong to one team each, which receives only `team_fields` of their data.
    """

    types: type[StrEnum]
    for_teams: frozenset[str] = frozenset()
    team_fields: Sequence[str] = ()

    def visible_data(self, event: Event, team: str | None) -> dict[str, Any]:
        """Return the data that a team may see; all of it for the operator (None)."""
        if team is None or event.type == TEST_EVENT:
            return dict(event.data)
        return {key: event.data[key] for key in self.team_fields if key in event.data}


@dataclass(frozen=True)
class Subscription:
    """A URL that events are sent to, signed with `sealed_secret`, and with the old secret too for a while."""

    id: UUID
    team: str | None
    url: str
    events: tuple[str, ...]
    sealed_secret: bytes = field(repr=False)
    old_sealed_secret: bytes | None = field(repr=False)
    old_secret_until: datetime | None
    active: bool
    inactive_reason: str | None
    created_at: datetime

    def sealed_secrets(self, now: datetime) -> tuple[bytes, ...]:
        """Return the secrets to sign with, the newest first."""
        if self.old_sealed_secret is None or self.old_secret_until is None or self.old_secret_until <= now:
            return (self.sealed_secret,)
        return self.sealed_secret, self.old_sealed_secret


@dataclass(frozen=True)
class Delivery:
    """An event on its way to one subscriber."""

    id: UUID
    event_id: UUID
    type: str
    state: DeliveryState
    attempts: int
    status: int | None
    error: str | None
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None
    created_at: datetime


@dataclass(frozen=True)
class ClaimedDelivery:
    """A delivery leased for one attempt: no other dispatcher makes it before `leased_until`."""

    delivery_id: UUID
    attempts: int
    leased_until: datetime
    event: Event
    subscription: Subscription


@dataclass(frozen=True)
class AttemptOutcome:
    """Outcome of one attempt; `retry_after_seconds` is the wait that the subscriber asked for."""

    status: int | None
    error: str | None
    retry_after_seconds: float | None = None

    @property
    def delivered(self) -> bool:
        return self.error is None

    def wait_before_retry(self, attempts: int, waits_seconds: Sequence[float]) -> timedelta | None:
        """Return the time until the next attempt, after so many attempts; None where none follows."""
        if self.delivered or self.status == GONE or attempts > len(waits_seconds):
            return None
        return timedelta(seconds=max(waits_seconds[attempts - 1], self.retry_after_seconds or 0.0))

    def next_state(self, wait: timedelta | None) -> DeliveryState:
        """Return the state of a delivery after this attempt; `wait` is None where no attempt follows."""
        if wait is not None:
            return DeliveryState.PENDING
        return DeliveryState.DELIVERED if self.delivered else DeliveryState.FAILED

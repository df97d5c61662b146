"""Events, subscriptions to them, and the rules of their delivery."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

TEST_EVENT = "subscription.test"
"""The type of the test event that a subscriber can request to try its subscription."""
GONE = 410
"""The HTTP status with which a subscriber ends its subscription."""


class DeliveryState(StrEnum):
    """The state of an event's delivery to one subscriber. A replay makes a delivery pending again."""

    PENDING = "pending"
    """The next attempt is due, waits for its time, or is under way."""
    DELIVERED = "delivered"
    FAILED = "failed"
    """All attempts failed, or the subscriber answered 410."""


@dataclass(frozen=True)
class Event:
    """A published fact. `team` owns the subject of the event; None means the operator.

    `position` is the event's place in lists; None until the event is distributed. `trace` is the trace in which the
    event was written.
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
    """The event types of a service, which of them teams may receive, and which data.

    Each event of a type in `for_teams` belongs to one team. The team receives only the `team_fields` of the event's
    data.
    """

    types: type[StrEnum]
    for_teams: frozenset[str] = frozenset()
    team_fields: Sequence[str] = ()

    def visible_data(self, event: Event, team: str | None) -> dict[str, Any]:
        """Return the data that a team may see. The operator (None) may see all data."""
        if team is None or event.type == TEST_EVENT:
            return dict(event.data)
        return {key: event.data[key] for key in self.team_fields if key in event.data}


@dataclass(frozen=True)
class Subscription:
    """A URL that receives events.

    They are signed with `sealed_secret`, and during an overlap also with the old secret.
    """

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
        """Return the sealed secrets that sign messages now, the newest first."""
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
    """A delivery that one dispatcher attempts. No other dispatcher attempts it before `leased_until`."""

    delivery_id: UUID
    attempts: int
    leased_until: datetime
    event: Event
    subscription: Subscription


@dataclass(frozen=True)
class AttemptOutcome:
    """The outcome of one attempt. `retry_after_seconds` is the wait that the subscriber asked for."""

    status: int | None
    error: str | None
    retry_after_seconds: float | None = None

    @property
    def delivered(self) -> bool:
        return self.error is None

    def wait_before_retry(self, attempts: int, waits_seconds: Sequence[float]) -> timedelta | None:
        """Return the wait before the next attempt, after `attempts` attempts; None if no further attempt is made."""
        if self.delivered or self.status == GONE or attempts > len(waits_seconds):
            return None
        return timedelta(seconds=max(waits_seconds[attempts - 1], self.retry_after_seconds or 0.0))

    def next_state(self, wait: timedelta | None) -> DeliveryState:
        """Return the state of a delivery after this attempt; `wait` is None if no attempt follows."""
        if wait is not None:
            return DeliveryState.PENDING
        return DeliveryState.DELIVERED if self.delivered else DeliveryState.FAILED

"""What happens, who is told of it, and when a delivery that failed is tried again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from spotthebot.contracts.conversations import DeliveryState, EventType

FOR_TEAMS = frozenset({EventType.BOT_FAILING, EventType.BOT_RECOVERED})
"""Events of one bot, which its team may be told of."""
_TOLD_TEAMS = ("bot", "reason", "subscription")
"""Of the data of such an event, what names no other bot and no collection."""
GONE = 410


@dataclass(frozen=True)
class Event:
    """Something that happened; `team` owns the bot that it is about."""

    id: UUID
    type: str
    data: Mapping[str, Any]
    team: str | None
    created_at: datetime

    @property
    def bot_id(self) -> UUID | None:
        bot = self.data.get("bot")
        return UUID(bot["id"]) if bot else None

    def told(self, team: str | None) -> dict[str, Any]:
        """Return the data that a team is told; all of it for the operator (None)."""
        return dict(self.data) if team is None else {key: self.data[key] for key in _TOLD_TEAMS if key in self.data}


@dataclass(frozen=True)
class Subscription:
    """Who is told of what, where, and how it is signed: with `sealed_secret`, and with the old one for a while."""

    id: UUID
    team: str | None
    url: str
    events: tuple[EventType, ...]
    sealed_secret: bytes
    old_sealed_secret: bytes | None
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
class Outcome:
    """What came of one attempt; `retry_after_seconds` is what the subscriber asked for."""

    status: int | None
    error: str | None
    retry_after_seconds: float | None = None

    @property
    def delivered(self) -> bool:
        return self.error is None


def wait_before_next(outcome: Outcome, attempts: int, waits: Sequence[float]) -> timedelta | None:
    """Return the time until the next attempt, by the waits between attempts; None where there is to be none."""
    if outcome.delivered or outcome.status == GONE or attempts > len(waits):
        return None
    return timedelta(seconds=max(waits[attempts - 1], outcome.retry_after_seconds or 0.0))

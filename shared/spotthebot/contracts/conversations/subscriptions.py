"""Events that subscribers are told of: Standard Webhooks, and what became of each delivery."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field, SecretStr

from spotthebot.contracts.bots.protocols import HttpUrl
from spotthebot.contracts.wire import Wire


class EventType(StrEnum):
    """What subscribers can be told of."""

    COLLECTION_FINISHED = "collection.finished"
    """All conversations of a collection have ended."""
    BOT_FAILING = "bot.failing"
    """A bot answers no more: its conversations wait."""
    BOT_RECOVERED = "bot.recovered"
    """A bot that was failing answers again: its conversations go on."""


TEST_EVENT = "subscription.test"
"""The type of the event that is sent on request, to try a subscription out."""


def _without_repeats(events: tuple[EventType, ...]) -> tuple[EventType, ...]:
    return tuple(dict.fromkeys(events))


_Events = Annotated[tuple[EventType, ...], Field(min_length=1, max_length=20), AfterValidator(_without_repeats)]
_Secret = Annotated[SecretStr, Field(min_length=1, max_length=200)]
_ABOUT_SECRETS = "The signing secret `whsec_...` (base64 of 24 to 64 bytes), kept encrypted; left out: one is made."


class SubscriptionIn(Wire):
    """Where events are to be POSTed."""

    url: HttpUrl = Field(examples=["https://lab.example.org/hooks"])
    events: _Events = Field(description="What to be told of; a team is told of its own bots only.")
    secret: _Secret | None = Field(default=None, description=_ABOUT_SECRETS)


class SubscriptionChangesIn(Wire):
    """What may change; what is left out stays."""

    url: HttpUrl | None = Field(default=None, description="Deliveries that wait go there too.")
    events: _Events | None = None
    active: bool | None = Field(default=None, description="Deliveries that wait go on when it is true again.")


class NewSecretIn(Wire):
    """Another secret, and for how long the old one is still signed with."""

    secret: _Secret | None = Field(default=None, description=_ABOUT_SECRETS)
    overlap_seconds: int = Field(
        default=86_400, ge=0, le=30 * 86_400, description="Time in which messages carry signatures of both."
    )


class SubscriptionOut(Wire):
    """A subscription; its secret was given when it was made."""

    id: UUID
    team: str | None = Field(description="The team it belongs to; null for the operator's own.")
    url: str
    events: tuple[EventType, ...]
    active: bool
    inactive_reason: str | None = Field(description="Why nothing is sent; null while it is.")
    old_secret_until: datetime | None = Field(description="Until when messages carry the old secret's signature too.")
    created_at: datetime


class SubscriptionWithSecretOut(SubscriptionOut):
    """A subscription with its new secret, which is not given again."""

    secret: str | None = Field(description="Keep it: null when the same request is answered again.")


class DeliveryState(StrEnum):
    """What became of an event for one subscriber."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    """All attempts were in vain, or the subscriber said 410."""


class DeliveryOut(Wire):
    """An event on its way to one subscriber."""

    id: UUID
    event_id: UUID
    type: str
    state: DeliveryState
    attempts: int
    status: int | None = Field(description="HTTP status of the latest answer; null where there was none.")
    error: str | None = Field(description="Why the latest attempt counts as failed; null where it does not.")
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None = Field(description="Null where nothing more is tried.")
    created_at: datetime


class EventOut(Wire):
    """Something that happened, as subscribers are told."""

    id: UUID
    type: str
    timestamp: datetime
    data: dict[str, Any]


class ReplayIn(Wire):
    """From when on to send again."""

    since: AwareDatetime = Field(description="Events from then on are sent again, under their old ids.")


class ReplayedOut(Wire):
    """What a replay set going."""

    deliveries: int

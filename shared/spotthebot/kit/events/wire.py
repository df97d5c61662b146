"""Wire schemas of `/v1/subscriptions` and `/v1/events`, for any types of events.

They are here, not in `contracts`, because kit needs them and may not import `contracts`.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    create_model,
)

from spotthebot.kit.events.domain import DeliveryState

_Name = TypeVar("_Name", bound=str)
_Model = TypeVar("_Model", bound=BaseModel)


def _http_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        message = "must be a URL that begins with http:// or https://"
        raise ValueError(message)
    if parts.username is not None or parts.password is not None:
        message = "must hold no user or password: messages are signed with `secret`"
        raise ValueError(message)
    if parts.fragment:
        message = "must have no fragment (#...)"
        raise ValueError(message)
    _ = parts.port  # raises ValueError where it is no number
    return url


def _without_repeats(events: tuple[_Name, ...]) -> tuple[_Name, ...]:
    return tuple(dict.fromkeys(events))


_Url = Annotated[
    str,
    StringConstraints(min_length=8, max_length=2000, pattern=r"^[\x21-\x7e]+$"),
    AfterValidator(_http_url),
]
_Events = Annotated[tuple[_Name, ...], Field(min_length=1, max_length=20), AfterValidator(_without_repeats)]
_Secret = Annotated[SecretStr, Field(min_length=1, max_length=200)]
_TYPES = Field(description="Types of events to send; a team receives its own only.")
_ABOUT_SECRETS = "The signing secret `whsec_...` (base64 of 24 to 64 bytes), kept encrypted; left out: one is made."


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SubscriptionIn(_Wire):
    """A URL that events are POSTed to."""

    url: _Url = Field(examples=["https://lab.example.org/hooks"])
    events: _Events[str] = _TYPES
    secret: _Secret | None = Field(default=None, description=_ABOUT_SECRETS)


class SubscriptionChangesIn(_Wire):
    """Changes of a subscription. A field that is left out keeps its value."""

    url: _Url | None = Field(default=None, description="Pending deliveries go there too.")
    events: _Events[str] | None = None
    active: bool | None = Field(default=None, description="Pending deliveries continue when it is true again.")


class NewSecretIn(_Wire):
    """A new signing secret, and how long messages are signed with the old secret as well."""

    secret: _Secret | None = Field(default=None, description=_ABOUT_SECRETS)
    overlap_seconds: int = Field(
        default=86_400, ge=0, le=30 * 86_400, description="Time in which messages carry signatures by both."
    )


class SubscriptionOut(_Wire):
    """A subscription without its secret, which was shown only when it was made."""

    id: UUID
    team: str | None = Field(description="The team it belongs to; null for the operator's own.")
    url: str
    events: tuple[str, ...] = Field(max_length=20)
    active: bool
    inactive_reason: str | None = Field(description="Why nothing is sent; null while it is active.")
    old_secret_until: datetime | None = Field(description="Until when messages are signed by the old secret too.")
    created_at: datetime


class SubscriptionWithSecretOut(SubscriptionOut):
    """A subscription with its new secret, which is not shown again."""

    secret: str | None = Field(description="Keep it: null when the same request is answered again.")


class DeliveryOut(_Wire):
    """An event on its way to one subscriber."""

    id: UUID
    event_id: UUID
    type: str
    state: DeliveryState
    attempts: int
    status: int | None = Field(description="HTTP status of the latest answer; null where there was none.")
    error: str | None = Field(description="Why the latest attempt failed; null where it did not.")
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None = Field(description="Null where no attempt follows.")
    created_at: datetime


class EventOut(_Wire):
    """A published fact, with the data that the caller receives."""

    id: UUID
    type: str
    timestamp: datetime
    data: dict[str, Any] = Field(max_length=200)


class ReplayIn(_Wire):
    """The time since which events are sent again."""

    since: AwareDatetime = Field(description="Events from then on are sent again, under their old ids.")


class ReplayedOut(_Wire):
    """The number of deliveries that a replay started."""

    deliveries: int


@dataclass(frozen=True)
class SubscriptionSchemas:
    """The request schemas for the event types of one service."""

    subscription_in: type[SubscriptionIn]
    changes_in: type[SubscriptionChangesIn]
    subscription_out: type[SubscriptionOut]
    with_secret_out: type[SubscriptionWithSecretOut]


def schemas_of(types: type[StrEnum]) -> SubscriptionSchemas:
    """Return the request schemas of a service. Their field `events` accepts only the service's own event types."""
    some: Any = _Events[types]  # type: ignore[valid-type] # known when a service starts
    all_out: Any = Annotated[tuple[types, ...], Field(max_length=20)]  # type: ignore[valid-type] # the same
    return SubscriptionSchemas(
        subscription_in=_with_events(SubscriptionIn, some, _TYPES),
        changes_in=_with_events(SubscriptionChangesIn, some | None, None),
        subscription_out=_with_events(SubscriptionOut, all_out, ...),
        with_secret_out=_with_events(SubscriptionWithSecretOut, all_out, ...),
    )


def _with_events(model: type[_Model], events: Any, default: Any) -> type[_Model]:  # noqa: ANN401 - as pydantic has it
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, events=(events, default))

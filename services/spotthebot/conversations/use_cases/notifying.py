"""Telling subscribers: who is told of what, secrets and their rotation, sending again."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import SecretStr

from spotthebot.contracts.access import Role
from spotthebot.contracts.conversations import (
    TEST_EVENT,
    EventType,
    NewSecretIn,
    SubscriptionChangesIn,
    SubscriptionIn,
)
from spotthebot.conversations import store
from spotthebot.conversations.domain.errors import (
    EventNotForTeams,
    SubscriptionInactive,
    TooManySubscriptions,
)
from spotthebot.conversations.domain.events import FOR_TEAMS, Delivery, Subscription
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.errors import FieldError
from spotthebot.kit.outbound import AddressNotAllowed, CheckingResolver
from spotthebot.kit.signing import NotASigningSecret, new_signing_secret, signing_key
from spotthebot.kit.vault import Vault

MAX_SUBSCRIPTIONS = 100
"""Of one team, or of the operator."""


@dataclass(frozen=True)
class Post:
    """What judges where events may be sent, and keeps the secrets that they are signed with."""

    resolver: CheckingResolver
    vault: Vault


async def subscribe(
    session: WriteSession, post: Post, caller: Principal, request: SubscriptionIn
) -> tuple[Subscription, str]:
    """Tell a URL of events from now on; returns the secret too, which nobody is given again."""
    _check_events(caller, request.events)
    await _check_address(post, request.url)
    team = team_of(caller)
    if await store.subscriptions.count_subscriptions(session, team=team) >= MAX_SUBSCRIPTIONS:
        raise TooManySubscriptions(most=MAX_SUBSCRIPTIONS)
    secret = _secret(request.secret)
    subscription = await store.subscriptions.add_subscription(
        session, team=team, url=request.url, events=request.events, sealed_secret=post.vault.seal(secret)
    )
    return subscription, secret


async def change_subscription(
    session: WriteSession, post: Post, caller: Principal, subscription_id: UUID, request: SubscriptionChangesIn
) -> Subscription:
    """Change where to, what of, or whether at all."""
    subscription = await store.subscriptions.get_subscription(session, subscription_id, of=caller)
    changes: dict[str, object] = {}
    if request.url is not None:
        await _check_address(post, request.url)
        changes["url"] = request.url
    if request.events is not None:
        _check_events_of(subscription.team, request.events)
        changes["events"] = list(request.events)
    if request.active is not None and request.active is not subscription.active:
        changes |= {"active": request.active, "inactive_reason": None if request.active else "Switched off."}
    if changes:
        await store.subscriptions.change_subscription(session, subscription_id, **changes)
    return await store.subscriptions.get_subscription(session, subscription_id, of=caller)


async def rotate_secret(
    session: WriteSession, post: Post, caller: Principal, subscription_id: UUID, request: NewSecretIn
) -> tuple[Subscription, str]:
    """Sign with another secret; with the old one too while they overlap."""
    await store.subscriptions.get_subscription(session, subscription_id, of=caller)
    secret = _secret(request.secret)
    await store.subscriptions.replace_secret(
        session, subscription_id, post.vault.seal(secret), overlap=timedelta(seconds=request.overlap_seconds)
    )
    return await store.subscriptions.get_subscription(session, subscription_id, of=caller), secret


async def delete_subscription(session: WriteSession, caller: Principal, subscription_id: UUID) -> None:
    """Tell this subscriber nothing more, what waits included."""
    await store.subscriptions.get_subscription(session, subscription_id, of=caller)
    await store.subscriptions.delete_subscription(session, subscription_id)


async def send_test(session: WriteSession, caller: Principal, subscription_id: UUID) -> Delivery:
    """Send this subscriber an event that says nothing."""
    subscription = await _active(session, caller, subscription_id)
    delivery_id = await store.outbox.add_private_event(
        session, TEST_EVENT, {"subscription": {"id": str(subscription_id)}}, subscription_id, team=subscription.team
    )
    return await store.deliveries.get_delivery(session, delivery_id)


async def replay_since(session: WriteSession, caller: Principal, subscription_id: UUID, since: datetime) -> int:
    """Send this subscriber again what happened since then, and what it was never sent; returns how much that is."""
    subscription = await _active(session, caller, subscription_id)
    return await store.outbox.send_again_since(
        session, subscription_id, types=subscription.events, team=subscription.team, since=since
    )


async def replay_event(session: WriteSession, caller: Principal, event_id: UUID) -> int:
    """Send an event again to all subscribers of the caller that it is for; returns how many those are."""
    event = await store.outbox.get_event(session, event_id, of=caller)
    return await store.outbox.send_again(session, event, to=caller)


async def _active(session: ReadSession, caller: Principal, subscription_id: UUID) -> Subscription:
    subscription = await store.subscriptions.get_subscription(session, subscription_id, of=caller)
    if not subscription.active:
        raise SubscriptionInactive(subscription_id=subscription_id, reason=subscription.inactive_reason)
    return subscription


def team_of(caller: Principal) -> str | None:
    """Return the team that a caller acts for; None for the operator."""
    return caller.team if caller.role == Role.TEAM else None


def _check_events(caller: Principal, events: tuple[EventType, ...]) -> None:
    _check_events_of(team_of(caller), events)


def _check_events_of(team: str | None, events: tuple[EventType, ...]) -> None:
    refused = [each.value for each in events if each not in FOR_TEAMS]
    if team is not None and refused:
        fault = FieldError("/events", "not for teams")
        raise EventNotForTeams(events=", ".join(refused), allowed=", ".join(sorted(FOR_TEAMS)), fields=(fault,))


async def _check_address(post: Post, url: str) -> None:
    parts = urlsplit(url)
    port = parts.port or {"http": 80}.get(parts.scheme, 443)
    try:
        await post.resolver.check_host(parts.hostname or "", port)
    except AddressNotAllowed as refused:
        raise AddressNotAllowed(**refused.facts, fields=(FieldError("/url", str(refused.facts["reason"])),)) from None
    except OSError:
        return  # a name that is not known yet: its deliveries say so


def _secret(given: SecretStr | None) -> str:
    if given is None:
        return new_signing_secret()
    secret = given.get_secret_value()
    try:
        signing_key(secret)
    except NotASigningSecret as error:
        raise NotASigningSecret(fields=(FieldError("/secret", error.detail),)) from None
    return secret

"""`/v1/subscriptions` and `/v1/events`: who is told of what, what became of it, sending it again."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.conversations import (
    DeliveryOut,
    DeliveryState,
    EventOut,
    NewSecretIn,
    ReplayedOut,
    ReplayIn,
    SubscriptionChangesIn,
    SubscriptionIn,
    SubscriptionOut,
    SubscriptionWithSecretOut,
)
from spotthebot.contracts.wire import Name
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import PostOffice, Subscriber, SubscriberChanges
from spotthebot.conversations.domain.events import Delivery, Subscription
from spotthebot.conversations.use_cases import notifying
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute, ShownOnce
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1", tags=["events"], route_class=IdempotentRoute)


@router.post("/subscriptions", status_code=201, operation_id="create_subscription", response_class=ShownOnce)
async def create_subscription(
    session: Writing, caller: Subscriber, post: PostOffice, request: SubscriptionIn
) -> SubscriptionWithSecretOut:
    """Subscribe a URL to events; the answer holds the signing secret, which is not given again."""
    subscription, secret = await notifying.subscribe(session, post, caller, request)
    return _with_secret(subscription, secret)


@router.get("/subscriptions", operation_id="list_subscriptions")
async def list_subscriptions(session: Reading, caller: SubscriberChanges, paging: Paging) -> Page[SubscriptionOut]:
    """List subscriptions, oldest first; a team sees its own."""
    rows = await store.subscriptions.list_subscriptions(session, of=caller, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda subscription: subscription.id, to_out=_to_out)


@router.get("/subscriptions/{subscription_id}", operation_id="get_subscription")
async def get_subscription(session: Reading, caller: SubscriberChanges, subscription_id: UUID) -> SubscriptionOut:
    """Return a subscription."""
    return _to_out(await store.subscriptions.get_subscription(session, subscription_id, of=caller))


@router.patch("/subscriptions/{subscription_id}", operation_id="change_subscription")
async def change_subscription(
    session: Writing,
    caller: SubscriberChanges,
    post: PostOffice,
    subscription_id: UUID,
    request: SubscriptionChangesIn,
) -> SubscriptionOut:
    """Change where to, what of, or whether anything is sent."""
    return _to_out(await notifying.change_subscription(session, post, caller, subscription_id, request))


@router.delete("/subscriptions/{subscription_id}", status_code=204, operation_id="delete_subscription")
async def delete_subscription(session: Writing, caller: SubscriberChanges, subscription_id: UUID) -> None:
    """Delete a subscription with its deliveries; nothing that waits is sent any more."""
    await notifying.delete_subscription(session, caller, subscription_id)


@router.post(
    "/subscriptions/{subscription_id}/secret",
    status_code=201,
    operation_id="rotate_subscription_secret",
    response_class=ShownOnce,
)
async def rotate_secret(
    session: Writing, caller: Subscriber, post: PostOffice, subscription_id: UUID, request: NewSecretIn
) -> SubscriptionWithSecretOut:
    """Sign with another secret; messages carry the old one's signature too while the two overlap."""
    subscription, secret = await notifying.rotate_secret(session, post, caller, subscription_id, request)
    return _with_secret(subscription, secret)


@router.post("/subscriptions/{subscription_id}/test", status_code=201, operation_id="test_subscription")
async def send_test(session: Writing, caller: Subscriber, subscription_id: UUID) -> DeliveryOut:
    """Send an event of type `subscription.test` to this subscriber alone."""
    return _delivery(await notifying.send_test(session, caller, subscription_id))


@router.get("/subscriptions/{subscription_id}/deliveries", operation_id="list_deliveries")
async def list_deliveries(
    session: Reading,
    caller: SubscriberChanges,
    subscription_id: UUID,
    paging: Paging,
    state: Annotated[DeliveryState | None, Query()] = None,
) -> Page[DeliveryOut]:
    """List what became of each event for this subscriber, oldest first."""
    await store.subscriptions.get_subscription(session, subscription_id, of=caller)
    rows = await store.deliveries.list_deliveries(
        session, subscription_id, state=state, after=paging.after, limit=paging.limit + 1
    )
    return page_of(rows, paging, key=lambda delivery: delivery.id, to_out=_delivery)


@router.post("/subscriptions/{subscription_id}/replay", status_code=201, operation_id="replay_subscription")
async def replay_since(session: Writing, caller: Subscriber, subscription_id: UUID, request: ReplayIn) -> ReplayedOut:
    """Send this subscriber again what happened since then, under the old ids."""
    return ReplayedOut(deliveries=await notifying.replay_since(session, caller, subscription_id, request.since))


@router.get("/events", operation_id="list_events")
async def list_events(
    session: Reading,
    caller: SubscriberChanges,
    paging: Paging,
    event_type: Annotated[Name | None, Query(alias="type")] = None,
) -> Page[EventOut]:
    """List what happened, oldest first; a team sees what happened to its bots."""
    rows = await store.outbox.list_events(
        session, of=caller, event_type=event_type, after=paging.after, limit=paging.limit + 1
    )
    return page_of(
        rows,
        paging,
        key=lambda event: event.id,
        to_out=lambda event: EventOut(
            id=event.id, type=event.type, timestamp=event.created_at, data=event.told(notifying.team_of(caller))
        ),
    )


@router.post("/events/{event_id}/replay", status_code=201, operation_id="replay_event")
async def replay_event(session: Writing, caller: Subscriber, event_id: UUID) -> ReplayedOut:
    """Send an event again to those of your subscribers that it is for."""
    return ReplayedOut(deliveries=await notifying.replay_event(session, caller, event_id))


def _to_out(subscription: Subscription) -> SubscriptionOut:
    return SubscriptionOut(
        id=subscription.id,
        team=subscription.team,
        url=subscription.url,
        events=subscription.events,
        active=subscription.active,
        inactive_reason=subscription.inactive_reason,
        old_secret_until=subscription.old_secret_until,
        created_at=subscription.created_at,
    )


def _with_secret(subscription: Subscription, secret: str) -> SubscriptionWithSecretOut:
    return SubscriptionWithSecretOut(**_to_out(subscription).model_dump(), secret=secret)


def _delivery(delivery: Delivery) -> DeliveryOut:
    return DeliveryOut(
        id=delivery.id,
        event_id=delivery.event_id,
        type=delivery.type,
        state=delivery.state,
        attempts=delivery.attempts,
        status=delivery.status,
        error=delivery.error,
        last_attempt_at=delivery.last_attempt_at,
        next_attempt_at=delivery.next_attempt_at,
        created_at=delivery.created_at,
    )

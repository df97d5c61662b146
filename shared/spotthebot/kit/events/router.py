"""The endpoints `/v1/subscriptions` and `/v1/events` of a service, for its own event types."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cache
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, GetPydanticSchema, StringConstraints

from spotthebot.kit.access.keys import Principal
from spotthebot.kit.events import wire
from spotthebot.kit.events.domain import Delivery, DeliveryState, Event, Subscription
from spotthebot.kit.events.subscribers import OPERATOR, TEAMS, Subscribers
from spotthebot.kit.events.subscriptions import Subscriptions
from spotthebot.kit.web.bearer.authentication import Allow
from spotthebot.kit.web.core.pagination import BadCursor, Page, Paging, page_of
from spotthebot.kit.web.database.claims import ShownOnce
from spotthebot.kit.web.database.idempotency import IdempotentRoute, idempotent
from spotthebot.kit.web.database.sessions import Reading, Writing

_LAST_POSITION = 2**63 - 1


class _AllowSubscribers(Allow):
    """Admits the operator and the service's subscribers. Stores the team on whose behalf the caller acts."""

    def __init__(self, subscribers: Subscribers | None) -> None:
        super().__init__(OPERATOR, *([subscribers.role] if subscribers else []))
        self._subscribers = subscribers

    async def __call__(self, request: Request) -> Principal:
        principal = await super().__call__(request)
        team = self._subscribers.team(principal) if self._subscribers else None
        request.state.subscriber = _Subscriber(principal.key_id, team)
        return principal


@dataclass(frozen=True)
class _Subscriber:
    """A caller, and the team on whose behalf it acts; None for the operator."""

    key_id: UUID
    team: str | None


async def _subscriber(request: Request) -> _Subscriber:
    subscriber: _Subscriber = request.state.subscriber
    return subscriber


async def _subscriptions(request: Request) -> Subscriptions:
    subscriptions: Subscriptions = request.app.state.resources.subscriptions
    return subscriptions


Creator = Annotated[_Subscriber, Depends(idempotent(_subscriber))]
"""The operator, or a team for its own events; the endpoint honours `Idempotency-Key`."""
Subscriber = Annotated[_Subscriber, Depends(_subscriber)]
"""The same callers, for endpoints that need no `Idempotency-Key`."""
Mounted = Annotated[Subscriptions, Depends(_subscriptions)]
TypeName = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]


@cache  # to build it takes longer than all other routers, and tests start services again and again
def events_router(types: type[StrEnum], subscribers: Subscribers | None = TEAMS) -> APIRouter:
    """Return the router for a service. The service's `app.state.resources` must have an attribute `subscriptions`.

    Without `subscribers` only the operator may subscribe.
    """
    guard = Depends(_AllowSubscribers(subscribers))
    router = APIRouter(prefix="/v1", tags=["events"], route_class=IdempotentRoute, dependencies=[guard])
    _add_subscriptions(router, wire.schemas_of(types))
    _add_deliveries(router)
    _add_events(router)
    return router


def _add_subscriptions(router: APIRouter, schemas: wire.SubscriptionSchemas) -> None:
    page: Any = Page[schemas.subscription_out]  # type: ignore[name-defined] # known when a service starts

    @router.post(
        "/subscriptions",
        status_code=201,
        operation_id="create_subscription",
        response_class=ShownOnce,
        response_model=schemas.with_secret_out,
    )
    async def create_subscription(
        session: Writing,
        caller: Creator,
        mounted: Mounted,
        request: Annotated[wire.SubscriptionIn, _read_as(schemas.subscription_in)],
    ) -> wire.SubscriptionWithSecretOut:
        """Subscribe a URL to events. The answer holds the signing secret, which is not shown again."""
        secret = request.secret.get_secret_value() if request.secret else None
        return _with_secret_out(
            await mounted.subscribe(session, caller.team, url=request.url, events=request.events, secret=secret)
        )

    @router.get("/subscriptions", operation_id="list_subscriptions", response_model=page)
    async def list_subscriptions(
        session: Reading, caller: Subscriber, mounted: Mounted, paging: Paging
    ) -> Page[wire.SubscriptionOut]:
        """List subscriptions, oldest first. A team sees only its own subscriptions."""
        rows = await mounted.store.subscriptions.list_subscriptions(
            session, team=caller.team, after=paging.after, limit=paging.limit + 1
        )
        return page_of(rows, paging, key=lambda subscription: subscription.id, to_out=_to_out)

    @router.get(
        "/subscriptions/{subscription_id}", operation_id="get_subscription", response_model=schemas.subscription_out
    )
    async def get_subscription(
        session: Reading, caller: Subscriber, mounted: Mounted, subscription_id: UUID
    ) -> wire.SubscriptionOut:
        """Return a subscription."""
        return _to_out(await mounted.store.subscriptions.get_subscription(session, subscription_id, team=caller.team))

    @router.patch(
        "/subscriptions/{subscription_id}", operation_id="change_subscription", response_model=schemas.subscription_out
    )
    async def change_subscription(
        session: Writing,
        caller: Subscriber,
        mounted: Mounted,
        subscription_id: UUID,
        request: Annotated[wire.SubscriptionChangesIn, _read_as(schemas.changes_in)],
    ) -> wire.SubscriptionOut:
        """Change the URL or the event types of a subscription, or switch it on or off."""
        changed = await mounted.change(
            session,
            caller.team,
            subscription_id,
            url=request.url,
            events=request.events,
            active=request.active,
        )
        return _to_out(changed)

    @router.delete("/subscriptions/{subscription_id}", status_code=204, operation_id="delete_subscription")
    async def delete_subscription(
        session: Writing, caller: Subscriber, mounted: Mounted, subscription_id: UUID
    ) -> None:
        """Delete a subscription with its deliveries. Pending deliveries are not sent."""
        await mounted.delete(session, caller.team, subscription_id)

    @router.post(
        "/subscriptions/{subscription_id}/secret",
        status_code=201,
        operation_id="rotate_subscription_secret",
        response_class=ShownOnce,
        response_model=schemas.with_secret_out,
    )
    async def rotate_secret(
        session: Writing, caller: Creator, mounted: Mounted, subscription_id: UUID, request: wire.NewSecretIn
    ) -> wire.SubscriptionWithSecretOut:
        """Replace the signing secret. During the overlap, messages are signed with the old secret as well."""
        secret = request.secret.get_secret_value() if request.secret else None
        overlap = timedelta(seconds=request.overlap_seconds)
        return _with_secret_out(await mounted.rotate_secret(session, caller.team, subscription_id, secret, overlap))


def _add_deliveries(router: APIRouter) -> None:
    @router.post("/subscriptions/{subscription_id}/test", status_code=201, operation_id="test_subscription")
    async def send_test(session: Writing, caller: Creator, mounted: Mounted, subscription_id: UUID) -> wire.DeliveryOut:
        """Send an event of type `subscription.test` to this subscriber alone."""
        return _delivery_out(await mounted.send_test(session, caller.team, subscription_id))

    @router.get("/subscriptions/{subscription_id}/deliveries", operation_id="list_deliveries")
    async def list_deliveries(
        session: Reading,
        caller: Subscriber,
        mounted: Mounted,
        subscription_id: UUID,
        paging: Paging,
        state: Annotated[DeliveryState | None, Query()] = None,
    ) -> Page[wire.DeliveryOut]:
        """List the deliveries of events to this subscriber, oldest first."""
        await mounted.store.subscriptions.get_subscription(session, subscription_id, team=caller.team)
        rows = await mounted.store.deliveries.list_deliveries(
            session, subscription_id, state=state, after=paging.after, limit=paging.limit + 1
        )
        return page_of(rows, paging, key=lambda delivery: delivery.id, to_out=_delivery_out)

    @router.post("/subscriptions/{subscription_id}/replay", status_code=201, operation_id="replay_subscription")
    async def replay_since(
        session: Writing, caller: Creator, mounted: Mounted, subscription_id: UUID, request: wire.ReplayIn
    ) -> wire.ReplayedOut:
        """Send this subscriber again all its events since a given time. Events keep their ids."""
        sent = await mounted.replay_since(session, caller.team, subscription_id, request.since)
        return wire.ReplayedOut(deliveries=sent)


def _add_events(router: APIRouter) -> None:
    @router.get("/events", operation_id="list_events")
    async def list_events(
        session: Reading,
        caller: Subscriber,
        mounted: Mounted,
        paging: Paging,
        event_type: Annotated[TypeName | None, Query(alias="type")] = None,
    ) -> Page[wire.EventOut]:
        """List events, oldest first. A team sees only its own events.

        An event appears within seconds, after all events that were listed before it. So a reader that continues from
        its last cursor misses no event.
        """
        team = caller.team
        after = None if paging.after is None else paging.after.int
        if after is not None and after > _LAST_POSITION:
            raise BadCursor

        def to_out(event: Event) -> wire.EventOut:
            data = mounted.store.catalogue.visible_data(event, team)
            return wire.EventOut(id=event.id, type=event.type, timestamp=event.created_at, data=data)

        rows = await mounted.store.outbox.list_events(
            session, team=team, event_type=event_type, after=after, limit=paging.limit + 1
        )
        return page_of(rows, paging, key=lambda event: UUID(int=event.position or 0), to_out=to_out)

    @router.post("/events/{event_id}/replay", status_code=201, operation_id="replay_event")
    async def replay_event(session: Writing, caller: Creator, mounted: Mounted, event_id: UUID) -> wire.ReplayedOut:
        """Send an event again to each of your subscriptions that receives its type."""
        sent = await mounted.store.outbox.replay_event(session, event_id, team=caller.team)
        return wire.ReplayedOut(deliveries=sent)


def _read_as(schema: type[BaseModel]) -> GetPydanticSchema:
    """Read the body of a request by a schema that is known only when the service starts."""
    return GetPydanticSchema(lambda _type, handler: handler(schema))


def _to_out(subscription: Subscription) -> wire.SubscriptionOut:
    return wire.SubscriptionOut.model_validate(subscription, from_attributes=True)


def _with_secret_out(made: tuple[Subscription, str]) -> wire.SubscriptionWithSecretOut:
    subscription, secret = made
    return wire.SubscriptionWithSecretOut(**_to_out(subscription).model_dump(), secret=secret)


def _delivery_out(delivery: Delivery) -> wire.DeliveryOut:
    return wire.DeliveryOut.model_validate(delivery, from_attributes=True)

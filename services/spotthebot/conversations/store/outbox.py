"""The only SQL over events and who is to be told of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, false, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.access import Role
from spotthebot.contracts.conversations import EventType
from spotthebot.conversations.domain.errors import NoSuchEvent
from spotthebot.conversations.domain.events import FOR_TEAMS, Event
from spotthebot.conversations.tables import EventRow, SubscriptionRow
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids


async def add_event(session: WriteSession, event_type: EventType, data: Mapping[str, Any]) -> UUID:
    """Write down what happens, in the transaction in which it does; returns its id.

    An event about a bot holds it as `bot: {id, name}`; of such an event, its team is told `bot` and `reason` alone.
    """
    event_id = new_id()
    await session.execute(insert(EventRow).values(id=event_id, type=event_type.value, data=dict(data)))
    return event_id


async def add_private_event(
    session: WriteSession,
    event_type: str,
    data: Mapping[str, Any],
    subscription_id: UUID,
    *,
    team: str | None,
) -> UUID:
    """Write down an event that is for one subscriber alone; returns its delivery's id."""
    event_id = new_id()
    await session.execute(
        insert(EventRow).values(id=event_id, type=event_type, data=dict(data), team=team, distributed=True)
    )
    (delivery_id,) = await _send(session, [(subscription_id, event_id)])
    return delivery_id


async def get_event(session: ReadSession, event_id: UUID, *, of: Principal) -> Event:
    """Return an event that the caller may see; raises NoSuchEvent."""
    row = await session.scalar(_of(select(EventRow), of).where(EventRow.id == event_id))
    if row is None:
        raise NoSuchEvent(event_id=event_id)
    return event_of(row)


async def list_events(
    session: ReadSession,
    *,
    of: Principal,
    event_type: str | None,
    after: UUID | None,
    limit: int,
) -> list[Event]:
    statement = _of(select(EventRow), of).order_by(EventRow.id).limit(limit)
    if event_type is not None:
        statement = statement.where(EventRow.type == event_type)
    if after is not None:
        statement = statement.where(EventRow.id > after)
    return [event_of(row) for row in await session.scalars(statement)]


async def list_new_events(session: ReadSession, *, after: UUID | None, limit: int) -> list[Event]:
    """Return events that nobody was told of yet, oldest first."""
    statement = select(EventRow).where(~EventRow.distributed).order_by(EventRow.id).limit(limit)
    if after is not None:
        statement = statement.where(EventRow.id > after)
    return [event_of(row) for row in await session.scalars(statement)]


async def distribute(session: WriteSession, event: Event, *, team: str | None) -> int:
    """Make the deliveries of a new event, once, whoever else tries; `team` owns the bot it is about."""
    claimed = await session.scalar(
        update(EventRow)
        .where(EventRow.id == event.id, ~EventRow.distributed)
        .values(distributed=True, team=team)
        .returning(EventRow.id)
    )
    return 0 if claimed is None else await _deliver(session, [event.id], _subscribers(event.type, team))


async def send_again(session: WriteSession, event: Event, *, to: Principal) -> int:
    """Deliver an event anew to those of the caller's subscribers that it is for; returns to how many."""
    statement = _subscribers(event.type, event.team)
    if to.role != Role.ADMIN:
        statement = statement.where(SubscriptionRow.team == (to.team or ""))
    return await _deliver(session, [event.id], statement)


async def send_again_since(
    session: WriteSession, subscription_id: UUID, *, types: Sequence[EventType], team: str | None, since: datetime
) -> int:
    """Deliver to one subscriber anew what happened since then; returns how much that is."""
    statement = select(EventRow.id).where(
        EventRow.distributed, EventRow.created_at >= since, EventRow.type.in_([each.value for each in types])
    )
    if team is not None:
        statement = statement.where(EventRow.team == team)
    events = list(await session.scalars(statement.order_by(EventRow.id)))
    return await _deliver(session, events, select(SubscriptionRow.id).where(SubscriptionRow.id == subscription_id))


def _subscribers(event_type: str, team: str | None) -> Select[UUID]:
    for_team = event_type in FOR_TEAMS and team is not None
    mine = or_(SubscriptionRow.team.is_(None), SubscriptionRow.team == team if for_team else false())
    return select(SubscriptionRow.id).where(SubscriptionRow.active, SubscriptionRow.events.contains([event_type]), mine)


async def _deliver(session: WriteSession, events: Sequence[UUID], subscribers: Select[UUID]) -> int:
    subscriptions = list(await session.scalars(subscribers))
    pairs = [(subscription, event) for event in events for subscription in subscriptions]
    if pairs:
        await _send(session, pairs)
    return len(pairs)


async def _send(session: WriteSession, pairs: Sequence[tuple[UUID, UUID]]) -> Sequence[UUID]:
    """Make deliveries of (subscription, event); one that was made is made anew, and an attempt at it counts no more."""
    ids = new_ids(len(pairs))
    rows = await session.scalars(
        text("""
            INSERT INTO conversations.deliveries (id, subscription_id, event_id, state, next_attempt_at)
            SELECT d.id, d.subscription, d.event, 'pending', now()
            FROM unnest(CAST(:ids AS uuid[]), CAST(:subscriptions AS uuid[]), CAST(:events AS uuid[]))
                AS d (id, subscription, event)
            ON CONFLICT (subscription_id, event_id) DO UPDATE SET
                state = 'pending', next_attempt_at = now(), attempts = 0, status = NULL, error = NULL, held_until = NULL
            RETURNING id
        """),
        {"ids": ids, "subscriptions": [each for each, _ in pairs], "events": [each for _, each in pairs]},
    )
    return rows.all()


def _of(statement: Select[EventRow], caller: Principal) -> Select[EventRow]:
    """Leave out what a team is not told: others' bots, collections, and tests of others' subscriptions."""
    return statement if caller.role == Role.ADMIN else statement.where(EventRow.team == (caller.team or ""))


def event_of(row: EventRow) -> Event:
    return Event(row.id, row.type, row.data, row.team, row.created_at)

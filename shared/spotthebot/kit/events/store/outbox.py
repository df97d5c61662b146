"""All SQL of events is here: the events themselves, and the deliveries that are made from them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import (
    Row,
    Select,
    Uuid,
    bindparam,
    delete,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as upsert

from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement
from spotthebot.kit.events.domain import DeliveryState, Event, EventCatalogue
from spotthebot.kit.events.errors import NoSuchEvent
from spotthebot.kit.events.tables import EventTables
from spotthebot.kit.ids import new_id, new_ids
from spotthebot.kit.telemetry.tracing import stored_trace

_NUMBERED_AT_ONCE = 500


class Outbox:
    """The events of one service. A method with `team` sees only this team's events; with None it sees all events."""

    def __init__(self, tables: EventTables, catalogue: EventCatalogue) -> None:
        self._events = tables.events
        self._subscriptions = tables.subscriptions
        self._deliveries = tables.deliveries
        self._positions = tables.positions
        self._catalogue = catalogue
        self._add = Statement(
            insert(tables.events).values({name: bindparam(name) for name in ("id", "type", "data", "trace")})
        )
        self._new = Statement(
            union_all(
                select(tables.events.c.id).where(~tables.events.c.distributed).limit(1),
                self._unnumbered().limit(1),
            )
        )

    async def add_event(self, session: WriteSession, event_type: str, data: Mapping[str, Any]) -> UUID:
        """Store an event in the transaction of the change that it reports; return its id."""
        event_id = new_id()
        values = {"id": event_id, "type": str(event_type), "data": Jsonb(dict(data)), "trace": stored_trace()}
        await session.fetch(self._add, values)
        return event_id

    async def add_private_event(
        self,
        session: WriteSession,
        event_type: str,
        data: Mapping[str, Any],
        subscription_id: UUID,
        *,
        team: str | None,
    ) -> UUID:
        """Store an event for only one subscriber; return the id of its delivery."""
        event_id = new_id()
        await session.execute(
            insert(self._events).values(
                id=event_id, type=event_type, data=dict(data), team=team, distributed=True, trace=stored_trace()
            )
        )
        (delivery_id,) = await self._make_deliveries(session, [(subscription_id, event_id)])
        return delivery_id

    async def get_event(self, session: ReadSession, event_id: UUID, *, team: str | None) -> Event:
        """Return an event; raises NoSuchEvent."""
        row = (await session.execute(self._visible(team).where(self._events.c.id == event_id))).one_or_none()
        if row is None:
            raise NoSuchEvent(event_id=event_id)
        return event_of(row)

    async def list_events(
        self, session: ReadSession, *, team: str | None, event_type: str | None, after: int | None, limit: int
    ) -> list[Event]:
        """Return events that have a position, in the order of positions.

        A later event always gets a later position than all events that were already listed.
        """
        events = self._events.c
        statement = self._visible(team).where(events.position > (after or 0)).order_by(events.position).limit(limit)
        if event_type is not None:
            statement = statement.where(events.type == event_type)
        return [event_of(row) for row in await session.execute(statement)]

    async def has_new_events(self, runner: Runner) -> bool:
        """Return whether any event needs distribution or a position.

        It takes only one statement, since dispatchers ask again and again.
        """
        return bool(await runner.fetch(self._new, {}))

    async def number_events(self, session: WriteSession) -> None:
        """Give positions to distributed events that are committed and have no position.

        Only one transaction does this at a time, so that positions become visible in their order.
        """
        events = self._events
        new = self._unnumbered().order_by(events.c.id)
        if await session.scalar(new.limit(1)) is None:
            return
        lock = func.hashtextextended(f"{events.fullname}.position", 0)
        await session.execute(select(func.pg_advisory_xact_lock(lock)))
        ordered = new.limit(_NUMBERED_AT_ONCE).subquery("ordered")
        numbered = select(ordered.c.id, self._positions.next_value()).subquery("numbered")
        event_id, position = numbered.c
        await session.execute(update(events).where(events.c.id == event_id).values(position=position))

    async def list_new_events(self, session: ReadSession, *, after: UUID | None, limit: int) -> list[Event]:
        """Return the events whose deliveries are not created yet, oldest first."""
        statement = select(self._events).where(~self._events.c.distributed).order_by(self._events.c.id).limit(limit)
        if after is not None:
            statement = statement.where(self._events.c.id > after)
        return [event_of(row) for row in await session.execute(statement)]

    async def distribute(self, session: WriteSession, event: Event, *, team: str | None) -> None:
        """Create the deliveries of a new event, which belongs to `team`.

        Several dispatchers together create each only once.
        """
        claimed = await session.scalar(
            update(self._events)
            .where(self._events.c.id == event.id, ~self._events.c.distributed)
            .values(distributed=True, team=team)
            .returning(self._events.c.id)
        )
        if claimed is not None:
            await self._deliver(session, [event.id], self._subscribers(event.type, team))

    async def replay_event(self, session: WriteSession, event_id: UUID, *, team: str | None) -> int:
        """Deliver an event again to each of the team's subscriptions that receives its type.

        Return the number of deliveries.

        Raises NoSuchEvent.
        """
        event = await self.get_event(session, event_id, team=team)
        kept = await self._keep(session, self._events.c.id == event_id)
        if not kept:  # purged at this moment
            raise NoSuchEvent(event_id=event_id)
        subscribers = self._subscribers(event.type, event.team)
        if team is not None:
            subscribers = subscribers.where(self._subscriptions.c.team == team)
        return await self._deliver(session, kept, subscribers)

    async def replay_since(
        self, session: WriteSession, subscription_id: UUID, *, types: Sequence[str], team: str | None, since: datetime
    ) -> int:
        """Deliver the team's events since a given time again to one subscriber; return the number of deliveries."""
        events = self._events
        mine = events.c.team == team if team is not None else literal(value=True)
        kept = await self._keep(
            session, events.c.distributed, events.c.created_at >= since, events.c.type.in_(types), mine
        )
        this = select(self._subscriptions.c.id).where(self._subscriptions.c.id == subscription_id)
        return await self._deliver(session, kept, this)

    async def purge(self, session: WriteSession, *, before: datetime, limit: int) -> int:
        """Delete up to `limit` distributed events older than `before`, with their deliveries; return their number."""
        events, deliveries = self._events, self._deliveries
        old = select(events.c.id).where(events.c.created_at < before, events.c.distributed)
        found = await session.scalars(old.order_by(events.c.created_at).limit(limit).with_for_update(skip_locked=True))
        ids = found.all()
        if ids:
            await session.execute(delete(deliveries).where(deliveries.c.event_id.in_(ids)))
            await session.execute(delete(events).where(events.c.id.in_(ids)))
        return len(ids)

    async def _keep(self, session: WriteSession, *conditions: Any) -> Sequence[UUID]:  # noqa: ANN401 - SQLAlchemy's conditions
        """Return the ids of events and lock the events. So no purge deletes an event before its delivery is stored."""
        statement = select(self._events.c.id).where(*conditions).order_by(self._events.c.id)
        return (await session.scalars(statement.with_for_update(read=True, key_share=True))).all()

    def _subscribers(self, event_type: str, team: str | None) -> Select[UUID]:
        table = self._subscriptions
        for_team = event_type in self._catalogue.for_teams and team is not None
        mine = or_(table.c.team.is_(None), table.c.team == team if for_team else false())
        return select(table.c.id).where(table.c.active, table.c.events.contains([event_type]), mine)

    async def _deliver(self, session: WriteSession, events: Sequence[UUID], subscribers: Select[UUID]) -> int:
        subscriptions = (await session.scalars(subscribers)).all()
        pairs = [(subscription, event) for event in events for subscription in subscriptions]
        if pairs:
            await self._make_deliveries(session, pairs)
        return len(pairs)

    async def _make_deliveries(self, session: WriteSession, pairs: Sequence[tuple[UUID, UUID]]) -> Sequence[UUID]:
        """Create a delivery for each pair of subscription and event.

        A delivery that exists already starts again, and the outcome of its running attempt does not count.
        """
        columns = {
            "ids": new_ids(len(pairs)),
            "subscriptions": [subscription for subscription, _ in pairs],
            "events": [event for _, event in pairs],
        }
        arrays = [bindparam(name, values, ARRAY(Uuid)) for name, values in columns.items()]
        made = func.unnest(*arrays).table_valued("id", "subscription", "event").render_derived()
        pending = DeliveryState.PENDING.value
        rows = select(made.c.id, made.c.subscription, made.c.event, literal(pending), func.now())
        names = ["id", "subscription_id", "event_id", "state", "next_attempt_at"]
        again = {"state": pending, "next_attempt_at": func.now(), "attempts": 0}
        found = await session.scalars(
            upsert(self._deliveries)
            .from_select(names, rows)
            .on_conflict_do_update(
                index_elements=["subscription_id", "event_id"],
                set_={**again, "status": None, "error": None, "leased_until": None},
            )
            .returning(self._deliveries.c.id)
        )
        return found.all()

    def _unnumbered(self) -> Select[UUID]:
        return select(self._events.c.id).where(self._events.c.distributed, self._events.c.position.is_(None))

    def _visible(self, team: str | None) -> Select[Any]:
        """Return a query for the events that a team may see.

        It leaves out other teams' events, the operator's events, and test events for other subscriptions.
        """
        statement = select(self._events)
        return statement if team is None else statement.where(self._events.c.team == team)


def event_of(row: Row[Any]) -> Event:
    return Event(row.id, row.type, row.data, row.team, row.created_at, row.position, row.trace)

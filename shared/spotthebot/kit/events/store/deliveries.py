"""All SQL of deliveries is here. Each subscriber has its own queue."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, Table, and_, func, or_, select, true, update
from sqlalchemy.sql.dml import ReturningUpdate
from sqlalchemy.sql.selectable import FromClause

from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement, constant
from spotthebot.kit.events.domain import AttemptOutcome, ClaimedDelivery, Delivery, DeliveryState
from spotthebot.kit.events.store.outbox import event_of
from spotthebot.kit.events.store.subscriptions import subscription_of
from spotthebot.kit.events.tables import EventTables

_PENDING = constant(DeliveryState.PENDING)
"""A constant in the text of statements: with a parameter, a prepared statement can't use the index of pending rows."""


class DeliveryQueue:
    """The deliveries of one service."""

    def __init__(self, tables: EventTables) -> None:
        self._deliveries = tables.deliveries
        self._events = tables.events
        self._subscriptions = tables.subscriptions
        self._due = Statement(self._with_due().limit(1))

    async def get_delivery(self, session: ReadSession, delivery_id: UUID) -> Delivery:
        row = await session.execute(self._with_type().where(self._deliveries.c.id == delivery_id))
        return _delivery_of(row.one())

    async def list_deliveries(
        self,
        session: ReadSession,
        subscription_id: UUID,
        *,
        state: DeliveryState | None,
        after: UUID | None,
        limit: int,
    ) -> list[Delivery]:
        table = self._deliveries
        statement = self._with_type().where(table.c.subscription_id == subscription_id)
        if state is not None:
            statement = statement.where(table.c.state == state.value)
        if after is not None:
            statement = statement.where(table.c.id > after)
        rows = await session.execute(statement.order_by(table.c.id).limit(limit))
        return [_delivery_of(row) for row in rows]

    async def has_due(self, runner: Runner) -> bool:
        """Return whether any attempt is due. It takes only one statement, since dispatchers ask again and again."""
        return bool(await runner.fetch(self._due, {}))

    async def claim_due(
        self, session: WriteSession, *, limit: int, limit_each: int, lease: timedelta
    ) -> list[ClaimedDelivery]:
        """Lease up to `limit` due attempts. No subscriber gets more than `limit_each` attempts at the same time.

        Skips a subscriber if another dispatcher is just claiming attempts of this subscriber.
        """
        subscribers = (await session.scalars(self._subscribers_with_due(limit, limit_each))).all()
        if not subscribers:
            return []
        # A separate statement, so that it sees the leases of the dispatcher that held these locks before.
        leased = (await session.execute(self._lease(subscribers, limit, limit_each, lease))).all()
        events = await session.execute(_by_ids(self._events, {row.event_id for row in leased}))
        found = {row.id: event_of(row) for row in events}
        subscriptions = await session.execute(_by_ids(self._subscriptions, {row.subscription_id for row in leased}))
        to = {row.id: subscription_of(row) for row in subscriptions}
        return [
            ClaimedDelivery(row.id, row.attempts, row.leased_until, found[row.event_id], to[row.subscription_id])
            for row in leased
        ]

    async def record_outcome(
        self, session: WriteSession, claimed: ClaimedDelivery, outcome: AttemptOutcome, *, wait: timedelta | None
    ) -> bool:
        """Store the outcome of an attempt.

        Return False if its lease has ended, or if a replay started in the meantime.
        """
        table = self._deliveries
        recorded = await session.scalar(
            update(table)
            .where(table.c.id == claimed.delivery_id, table.c.leased_until == claimed.leased_until)
            .values(
                state=outcome.next_state(wait).value,
                status=outcome.status,
                error=outcome.error,
                leased_until=None,
                next_attempt_at=None if wait is None else func.now() + wait,
            )
            .returning(table.c.id)
        )
        return recorded is not None

    def _subscribers_with_due(self, limit: int, limit_each: int) -> Select[UUID]:
        return (
            self._with_due()
            .where(self._under_way() < limit_each)
            .order_by(func.random())
            .limit(limit)
            .with_for_update(of=self._subscriptions, skip_locked=True)
        )

    def _with_due(self) -> Select[UUID]:
        subscriptions, deliveries = self._subscriptions, self._deliveries
        due = select(deliveries.c.id).where(deliveries.c.subscription_id == subscriptions.c.id, _is_due(deliveries))
        return select(subscriptions.c.id).where(subscriptions.c.active, due.exists())

    def _lease(
        self, subscribers: Sequence[UUID], limit: int, limit_each: int, lease: timedelta
    ) -> ReturningUpdate[Any]:
        subscriptions, deliveries = self._subscriptions, self._deliveries
        each = deliveries.alias("each")
        due = (
            select(each.c.id, each.c.next_attempt_at)
            .where(each.c.subscription_id == subscriptions.c.id, _is_due(each))
            .order_by(each.c.next_attempt_at, each.c.id)
            .limit(func.greatest(limit_each - self._under_way(), 0))
            .lateral("due")
        )
        chosen = (
            select(due.c.id)
            .select_from(subscriptions.join(due, true()))
            .where(subscriptions.c.id.in_(subscribers))
            .order_by(due.c.next_attempt_at, due.c.id)
            .limit(limit)
            .subquery("chosen")
        )
        return (
            update(deliveries)
            .where(deliveries.c.id == chosen.c.id)
            .values(
                leased_until=func.clock_timestamp() + lease,
                attempts=deliveries.c.attempts + 1,
                last_attempt_at=func.now(),
            )
            .returning(deliveries)
        )

    def _under_way(self) -> ColumnElement[int]:
        """Count the running attempts of the subscriber in the enclosing statement."""
        running = self._deliveries.alias("running")
        is_running = and_(running.c.state == _PENDING, running.c.leased_until > func.now())
        mine = running.c.subscription_id == self._subscriptions.c.id
        return (
            select(func.count())
            .select_from(running)
            .where(mine, is_running)
            .correlate(self._subscriptions)
            .scalar_subquery()
        )

    def _with_type(self) -> Select[Any]:
        events = self._events
        return select(self._deliveries, events.c.type).join(events, events.c.id == self._deliveries.c.event_id)


def _by_ids(table: Table, ids: set[UUID]) -> Select[Any]:
    return select(table).where(table.c.id.in_(ids))


def _is_due(deliveries: FromClause) -> ColumnElement[bool]:
    free = or_(deliveries.c.leased_until.is_(None), deliveries.c.leased_until <= func.now())
    return and_(deliveries.c.state == _PENDING, deliveries.c.next_attempt_at <= func.now(), free)


def _delivery_of(row: Row[Any]) -> Delivery:
    return from_row(Delivery, row, state=DeliveryState(row.state))

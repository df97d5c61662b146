"""The only SQL over deliveries: each subscriber's is a queue of its own."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Select, select, text

from spotthebot.contracts.conversations import DeliveryState
from spotthebot.conversations.domain.events import Delivery, Event, Outcome, Subscription
from spotthebot.conversations.store.outbox import event_of
from spotthebot.conversations.store.subscriptions import subscription_of
from spotthebot.conversations.tables import DeliveryRow, EventRow, SubscriptionRow
from spotthebot.kit.database import ReadSession, WriteSession


@dataclass(frozen=True)
class Claimed:
    """An attempt to make: nobody else makes it until `held_until`."""

    delivery_id: UUID
    attempts: int
    held_until: datetime
    event: Event
    subscription: Subscription


async def get_delivery(session: ReadSession, delivery_id: UUID) -> Delivery:
    rows = await _list(session, _whole().where(DeliveryRow.id == delivery_id))
    return rows[0]


async def list_deliveries(
    session: ReadSession, subscription_id: UUID, *, state: DeliveryState | None, after: UUID | None, limit: int
) -> list[Delivery]:
    statement = _whole().where(DeliveryRow.subscription_id == subscription_id)
    if state is not None:
        statement = statement.where(DeliveryRow.state == state)
    if after is not None:
        statement = statement.where(DeliveryRow.id > after)
    return await _list(session, statement.order_by(DeliveryRow.id).limit(limit))


async def claim(session: WriteSession, *, most: int, max_each: int, held: timedelta) -> list[Claimed]:
    """Take up to `most` attempts that are due, so that no subscriber has more than `most_each` under way.

    What is due of a subscriber that another process looks at is left to that process.
    """
    subscribers = await session.scalars(
        text("""
            SELECT s.id FROM conversations.subscriptions AS s
            WHERE s.active AND EXISTS (
                SELECT FROM conversations.deliveries WHERE subscription_id = s.id AND state = 'pending'
                    AND next_attempt_at <= now() AND (held_until IS NULL OR held_until <= now())
            ) AND (
                SELECT count(*) FROM conversations.deliveries
                WHERE subscription_id = s.id AND state = 'pending' AND held_until > now()
            ) < :most_each
            ORDER BY random() LIMIT :most FOR UPDATE OF s SKIP LOCKED
        """),
        {"most": most, "most_each": max_each},
    )
    # A statement of its own: it sees what whoever had these locks before has taken.
    rows = await session.execute(
        text("""
            UPDATE conversations.deliveries AS d
            SET held_until = clock_timestamp() + :held, attempts = d.attempts + 1, last_attempt_at = now()
            FROM (
                SELECT due.id FROM unnest(CAST(:subscribers AS uuid[])) AS s (id), LATERAL (
                    SELECT id, next_attempt_at FROM conversations.deliveries
                    WHERE subscription_id = s.id AND state = 'pending' AND next_attempt_at <= now()
                        AND (held_until IS NULL OR held_until <= now())
                    ORDER BY next_attempt_at, id
                    LIMIT GREATEST(:most_each - (
                        SELECT count(*) FROM conversations.deliveries
                        WHERE subscription_id = s.id AND state = 'pending' AND held_until > now()
                    ), 0)
                ) AS due
                ORDER BY due.next_attempt_at, due.id LIMIT :most
            ) AS due
            WHERE d.id = due.id
            RETURNING d.id, d.attempts, d.held_until
        """),
        {"subscribers": list(subscribers), "most": most, "most_each": max_each, "held": held},
    )
    taken = {row.id: (row.attempts, row.held_until) for row in rows}
    if not taken:
        return []
    whole = await session.execute(
        select(DeliveryRow.id, EventRow, SubscriptionRow)
        .join(EventRow, EventRow.id == DeliveryRow.event_id)
        .join(SubscriptionRow, SubscriptionRow.id == DeliveryRow.subscription_id)
        .where(DeliveryRow.id.in_(taken))
    )
    return [
        Claimed(delivery_id, *taken[delivery_id], event_of(event), subscription_of(subscription))
        for delivery_id, event, subscription in whole
    ]


async def record(session: WriteSession, claimed: Claimed, outcome: Outcome, *, wait: timedelta | None) -> bool:
    """Keep what came of an attempt, unless it was set anew or taken over meanwhile; returns whether it was kept."""
    state = DeliveryState.PENDING
    if wait is None:
        state = DeliveryState.DELIVERED if outcome.delivered else DeliveryState.FAILED
    kept = await session.scalar(
        text("""
            UPDATE conversations.deliveries
            SET state = :state, status = :status, error = :error, held_until = NULL,
                next_attempt_at = now() + CAST(:wait AS interval)
            WHERE id = :id AND held_until = :held_until RETURNING id
        """),
        {
            "id": claimed.delivery_id,
            "held_until": claimed.held_until,
            "state": state.value,
            "status": outcome.status,
            "error": outcome.error,
            "wait": wait,
        },
    )
    return kept is not None


_Whole = Select[DeliveryRow, str]


def _whole() -> _Whole:
    return select(DeliveryRow, EventRow.type).join(EventRow, EventRow.id == DeliveryRow.event_id)


async def _list(session: ReadSession, statement: _Whole) -> list[Delivery]:
    return [
        Delivery(
            id=row.id,
            event_id=row.event_id,
            type=event_type,
            state=DeliveryState(row.state),
            attempts=row.attempts,
            status=row.status,
            error=row.error,
            last_attempt_at=row.last_attempt_at,
            next_attempt_at=row.next_attempt_at,
            created_at=row.created_at,
        )
        for row, event_type in await session.execute(statement)
    ]

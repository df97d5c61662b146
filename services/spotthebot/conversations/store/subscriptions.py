"""The only SQL over subscriptions."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.access import Role
from spotthebot.contracts.conversations import EventType
from spotthebot.conversations.domain.errors import NoSuchSubscription
from spotthebot.conversations.domain.events import Subscription
from spotthebot.conversations.tables import SubscriptionRow
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def add_subscription(
    session: WriteSession, *, team: str | None, url: str, events: tuple[EventType, ...], sealed_secret: bytes
) -> Subscription:
    values = {"id": new_id(), "team": team, "url": url, "events": list(events), "sealed_secret": sealed_secret}
    row = await session.scalar(insert(SubscriptionRow).values(**values, active=True).returning(SubscriptionRow))
    return subscription_of(_there(row, values["id"]))


async def get_subscription(session: ReadSession, subscription_id: UUID, *, of: Principal) -> Subscription:
    """Return a subscription that the caller may see; raises NoSuchSubscription."""
    statement = _of(select(SubscriptionRow), of).where(SubscriptionRow.id == subscription_id)
    return subscription_of(_there(await session.scalar(statement), subscription_id))


async def list_subscriptions(
    session: ReadSession, *, of: Principal, after: UUID | None, limit: int
) -> list[Subscription]:
    statement = _of(select(SubscriptionRow), of).order_by(SubscriptionRow.id).limit(limit)
    if after is not None:
        statement = statement.where(SubscriptionRow.id > after)
    return [subscription_of(row) for row in await session.scalars(statement)]


async def count_subscriptions(session: ReadSession, *, team: str | None) -> int:
    statement = select(func.count()).where(SubscriptionRow.team.is_not_distinct_from(team))
    return await session.scalar(statement) or 0


async def change_subscription(session: WriteSession, subscription_id: UUID, **values: object) -> None:
    await session.execute(update(SubscriptionRow).where(SubscriptionRow.id == subscription_id).values(**values))


async def replace_secret(
    session: WriteSession, subscription_id: UUID, sealed_secret: bytes, *, overlap: timedelta
) -> None:
    """Sign with another secret, and with the one until now for a while longer."""
    await session.execute(
        update(SubscriptionRow)
        .where(SubscriptionRow.id == subscription_id)
        .values(
            sealed_secret=sealed_secret,
            old_sealed_secret=SubscriptionRow.sealed_secret if overlap else None,
            old_secret_until=func.now() + overlap if overlap else None,
        )
    )


async def delete_subscription(session: WriteSession, subscription_id: UUID) -> None:
    """Forget a subscription and its deliveries."""
    await session.execute(delete(SubscriptionRow).where(SubscriptionRow.id == subscription_id))


def _of(statement: Select[SubscriptionRow], caller: Principal) -> Select[SubscriptionRow]:
    return statement if caller.role == Role.ADMIN else statement.where(SubscriptionRow.team == (caller.team or ""))


def _there(row: SubscriptionRow | None, subscription_id: object) -> SubscriptionRow:
    if row is None:
        raise NoSuchSubscription(subscription_id=subscription_id)
    return row


def subscription_of(row: SubscriptionRow) -> Subscription:
    return Subscription(
        id=row.id,
        team=row.team,
        url=row.url,
        events=tuple(EventType(each) for each in row.events),
        sealed_secret=row.sealed_secret,
        old_sealed_secret=row.old_sealed_secret,
        old_secret_until=row.old_secret_until,
        active=row.active,
        inactive_reason=row.inactive_reason,
        created_at=row.created_at,
    )

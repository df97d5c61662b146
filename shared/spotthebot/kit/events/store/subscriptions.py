"""All SQL of subscriptions is here."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, delete, func, insert, select, update

from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.events.domain import Subscription
from spotthebot.kit.events.errors import NoSuchSubscription
from spotthebot.kit.events.tables import EventTables
from spotthebot.kit.ids import new_id


class SubscriptionStore:
    """The subscriptions of one service.

    A method with `team` sees only this team's subscriptions; with None it sees all.
    """

    def __init__(self, tables: EventTables) -> None:
        self._table = tables.subscriptions

    async def add_subscription(
        self, session: WriteSession, *, team: str | None, url: str, events: tuple[str, ...], sealed_secret: bytes
    ) -> Subscription:
        values = {"id": new_id(), "team": team, "url": url, "events": list(events), "sealed_secret": sealed_secret}
        row = await session.execute(insert(self._table).values(**values, active=True).returning(self._table))
        return subscription_of(row.one())

    async def get_subscription(self, session: ReadSession, subscription_id: UUID, *, team: str | None) -> Subscription:
        """Return a subscription; raises NoSuchSubscription."""
        found = await session.execute(self._visible(team).where(self._table.c.id == subscription_id))
        row = found.one_or_none()
        if row is None:
            raise NoSuchSubscription(subscription_id=subscription_id)
        return subscription_of(row)

    async def list_subscriptions(
        self, session: ReadSession, *, team: str | None, after: UUID | None, limit: int
    ) -> list[Subscription]:
        statement = self._visible(team).order_by(self._table.c.id).limit(limit)
        if after is not None:
            statement = statement.where(self._table.c.id > after)
        return [subscription_of(row) for row in await session.execute(statement)]

    async def count_subscriptions(self, session: ReadSession, *, team: str | None) -> int:
        """Count the subscriptions of a team; with None, the operator's own subscriptions."""
        statement = select(func.count()).where(self._table.c.team.is_not_distinct_from(team))
        return await session.scalar(statement) or 0

    async def change_subscription(self, session: WriteSession, subscription_id: UUID, **values: object) -> None:
        await session.execute(update(self._table).where(self._table.c.id == subscription_id).values(**values))

    async def replace_secret(
        self, session: WriteSession, subscription_id: UUID, sealed_secret: bytes, *, overlap: timedelta
    ) -> None:
        """Replace the signing secret. During the overlap, messages are signed with the old secret as well."""
        await self.change_subscription(
            session,
            subscription_id,
            sealed_secret=sealed_secret,
            old_sealed_secret=self._table.c.sealed_secret if overlap else None,
            old_secret_until=func.now() + overlap if overlap else None,
        )

    async def delete_subscription(self, session: WriteSession, subscription_id: UUID) -> None:
        """Delete a subscription and its deliveries."""
        await session.execute(delete(self._table).where(self._table.c.id == subscription_id))

    def _visible(self, team: str | None) -> Select[Any]:
        statement = select(self._table)
        return statement if team is None else statement.where(self._table.c.team == team)


def subscription_of(row: Row[Any]) -> Subscription:
    return from_row(Subscription, row, events=tuple(row.events))

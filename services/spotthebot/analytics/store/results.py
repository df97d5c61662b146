"""Results that were computed, as they were sent."""

from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.analytics.tables import ResultRow
from spotthebot.kit.database import ReadSession, WriteSession

MAX_KEPT = 1000
"""Results of one campaign that are kept; the oldest are deleted, and computed again on request."""


async def find_result(session: ReadSession, key: bytes) -> bytes | None:
    return (await session.scalars(select(ResultRow.body).where(ResultRow.key == key))).one_or_none()


async def put_result(session: WriteSession, key: bytes, campaign_id: UUID, revision: str, body: bytes) -> bytes:
    """Keep a result, delete those of earlier revisions and the oldest; return the one that was kept first."""
    mine = ResultRow.campaign_id == campaign_id
    await session.execute(delete(ResultRow).where(mine, ResultRow.revision != revision))
    newest_first = select(ResultRow.key).where(mine).order_by(ResultRow.created_at.desc(), ResultRow.key)
    await session.execute(delete(ResultRow).where(ResultRow.key.in_(newest_first.offset(MAX_KEPT - 1))))
    values = {"key": key, "campaign_id": campaign_id, "revision": revision, "body": body}
    await session.execute(insert(ResultRow).values(values).on_conflict_do_nothing())
    return (await session.scalars(select(ResultRow.body).where(ResultRow.key == key))).one()

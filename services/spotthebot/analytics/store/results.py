"""Results that were computed, as they were sent."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.analytics.tables import ResultRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession

MAX_KEPT = 1000
"""Results of one campaign that are kept; the oldest are deleted, and computed again on request."""


async def find_results(session: ReadSession, keys: Collection[bytes]) -> dict[bytes, bytes]:
    """Return the results that are kept, by their keys."""
    rows = await session.execute(select(ResultRow.key, ResultRow.body).where(ResultRow.key.in_(keys)))
    return {row.key: row.body for row in rows}


async def put_result(session: WriteSession, key: bytes, campaign_id: UUID, revision: str, body: bytes) -> bytes:
    """Keep a result, delete those of earlier revisions and the oldest; return the one that was kept first.

    One statement keeps and returns it: a process that keeps a result of another revision may delete this one in between
    two. The rows to delete are those that nobody has locked, so that two processes never wait for each other.
    """
    values = {"key": key, "campaign_id": campaign_id, "revision": revision, "body": body}
    kept = insert(ResultRow).values(values)
    kept = kept.on_conflict_do_update(index_elements=[ResultRow.key], set_={"revision": revision})
    first = (await session.scalars(kept.returning(ResultRow.body))).one()
    others = [ResultRow.campaign_id == campaign_id, ResultRow.key != key]
    newest = select(ResultRow.key).where(*others, ResultRow.revision == revision)
    newest = newest.order_by(ResultRow.created_at.desc(), ResultRow.key).limit(MAX_KEPT - 1)
    spare = select(ResultRow.key).where(*others, ResultRow.key.not_in(newest)).with_for_update(skip_locked=True)
    await session.execute(delete(ResultRow).where(ResultRow.key.in_(spare.scalar_subquery())))
    return first

"""The cache of computed results, as bytes that were sent."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.analytics.kept_results.tables import ResultRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession

MAX_KEPT = 1000
"""The limit of kept results of one campaign or study. The oldest are deleted, and computed again on request."""


async def find_results(session: ReadSession, keys: Collection[bytes]) -> dict[bytes, bytes]:
    """Return the cached results that have these keys, by key."""
    rows = await session.execute(select(ResultRow.key, ResultRow.body).where(ResultRow.key.in_(keys)))
    return {row.key: row.body for row in rows}


async def put_result(session: WriteSession, key: bytes, subject_id: UUID, revision: str, body: bytes) -> bytes:
    """Store a result, and return the result that was stored first under this key.

    The oldest results and results of earlier revisions are deleted. The same statement stores and returns the result:
    between two statements, a process with a result of another revision could delete it. Locked rows are not deleted, so
    that two processes never wait for each other.
    """
    values = {"key": key, "subject_id": subject_id, "revision": revision, "body": body}
    kept = insert(ResultRow).values(values)
    kept = kept.on_conflict_do_update(index_elements=[ResultRow.key], set_={"revision": revision})
    first = (await session.scalars(kept.returning(ResultRow.body))).one()
    others = [ResultRow.subject_id == subject_id, ResultRow.key != key]
    newest = select(ResultRow.key).where(*others, ResultRow.revision == revision)
    newest = newest.order_by(ResultRow.created_at.desc(), ResultRow.key).limit(MAX_KEPT - 1)
    spare = select(ResultRow.key).where(*others, ResultRow.key.not_in(newest)).with_for_update(skip_locked=True)
    await session.execute(delete(ResultRow).where(ResultRow.key.in_(spare.scalar_subquery())))
    return first

"""Reads the scores of a job in batches. Each batch has a transaction of its own."""

from collections.abc import AsyncIterator, Sequence
from typing import Final
from uuid import UUID

from spotthebot.fed.domain.score_sets import ScoredContext
from spotthebot.fed.store import score_sets as score_sets_store
from spotthebot.kit.database.sessions import Database

_ROWS_AT_ONCE: Final = 1000


async def stream_contexts(database: Database, job_id: UUID) -> AsyncIterator[Sequence[ScoredContext]]:
    """Yield all scored contexts of a job in batches, ordered by conversation and turn."""
    after: tuple[UUID, int] | None = None
    while True:
        async with database.read() as session:
            batch = await score_sets_store.list_in_order(session, job_id, after=after, limit=_ROWS_AT_ONCE)
        if not batch:
            return
        yield batch
        after = batch[-1].conversation_id, batch[-1].turn


async def read_contexts(database: Database, job_id: UUID) -> list[ScoredContext]:
    """Return all scored contexts of a job, ordered by conversation and turn."""
    return [each async for batch in stream_contexts(database, job_id) for each in batch]

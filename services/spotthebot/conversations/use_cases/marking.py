"""Marks the conversations of a collection: what their texts say, then how they compare with each other.

In batches that are committed one by one; a job that is run again goes on with what has no marks yet. Nothing is
deleted, and nothing that a mark says keeps a conversation from being used.
"""

import asyncio
from uuid import UUID

import numpy as np

from spotthebot.contracts.conversations import MarkingState, TrainingSplit
from spotthebot.conversations import store
from spotthebot.conversations.domain.quality.duplicates import PERMUTATIONS, near_duplicates
from spotthebot.conversations.domain.quality.training_overlap import TrainingExchanges
from spotthebot.conversations.use_cases.marking_process import marking_process
from spotthebot.kit.database import Database

_TEXTS_AT_ONCE = 200
_ROWS_AT_ONCE = 1000


async def mark_conversations(database: Database, collection_id: UUID, *, last_attempt: bool = False) -> None:
    """Mark what is not marked yet, compare all with each other and with the training split, draw up the account.

    Where the last attempt fails, the collection says why; a new request tries again.
    """
    async with database.write() as session:
        asked = await store.markings.begin(session, collection_id)
    try:
        await _mark(database, asked)
    except Exception as error:
        if last_attempt:
            reason = f"{type(error).__name__}: {error}"[:1000]
            await _move_to(database, asked, MarkingState.FAILED, reason)
        raise


async def _mark(database: Database, asked: store.markings.Request) -> None:
    collection_id = asked.collection_id
    await _mark_texts(database, collection_id)
    await _move_to(database, asked, MarkingState.COMPARING)
    async with database.write() as session:
        await store.marks.mark_exact_duplicates(session, collection_id)
    await _mark_near_duplicates(database, collection_id)
    await _mark_training(database, collection_id, asked.training)
    async with database.write() as session:
        account = await store.accounts.draw_up(session, collection_id, asked.training)
        await store.markings.finish(session, asked, account)


async def _move_to(
    database: Database, asked: store.markings.Request, state: MarkingState, failure: str | None = None
) -> None:
    async with database.write() as session:
        await store.markings.move_to(session, asked, state, failure)


async def _mark_texts(database: Database, collection_id: UUID) -> None:
    async def read(after: UUID | None) -> list[store.marks.Unmarked]:
        async with database.read() as session:
            return await store.marks.list_unmarked(session, collection_id, after=after, limit=_TEXTS_AT_ONCE)

    async with marking_process() as mark_texts:
        batch = await read(None)
        while batch:
            marks, following = await asyncio.gather(
                mark_texts([each.turns for each in batch]), read(batch[-1].conversation_id)
            )
            async with database.write() as session:
                await store.marks.add_marks(session, collection_id, list(zip(batch, marks, strict=True)))
            batch = following


async def _mark_near_duplicates(database: Database, collection_id: UUID) -> None:
    ids: list[UUID] = []
    signatures = bytearray()
    while True:
        async with database.read() as session:
            rows = await store.marks.list_signatures(
                session, collection_id, after=ids[-1] if ids else None, limit=_ROWS_AT_ONCE
            )
        if not rows:
            break
        ids += (conversation_id for conversation_id, _ in rows)
        signatures += b"".join(signature for _, signature in rows)
    table = np.frombuffer(signatures, dtype=np.uint32).reshape(-1, PERMUTATIONS)
    resembled, similarity = await asyncio.to_thread(near_duplicates, table)
    places = np.flatnonzero(resembled >= 0)
    found = [(ids[place], ids[resembled[place]], round(float(similarity[place]), 4)) for place in places]
    async with database.write() as session:
        await store.marks.mark_near_duplicates(session, collection_id, found)


async def _mark_training(database: Database, collection_id: UUID, training: TrainingSplit | None) -> None:
    if training is None:
        async with database.write() as session:
            await store.marks.forget_training(session, collection_id)
        return
    known = await _training_exchanges(database, training)
    after: UUID | None = None
    while True:
        async with database.read() as session:
            rows = await store.marks.list_exchange_hashes(session, collection_id, after=after, limit=_ROWS_AT_ONCE)
        if not rows:
            return
        after = rows[-1][0]
        counts = await asyncio.to_thread(known.count, [hashes for _, hashes in rows])
        async with database.write() as session:
            await store.marks.mark_in_training(session, [(each, n) for (each, _), n in zip(rows, counts, strict=True)])


async def _training_exchanges(database: Database, training: TrainingSplit) -> TrainingExchanges:
    known = TrainingExchanges()
    after: UUID | None = None
    while True:
        async with database.read() as session:
            dialogues = await store.corpora.list_dialogues(
                session, training.corpus_id, split=training.split, after=after, limit=_ROWS_AT_ONCE
            )
        if not dialogues:
            break
        after = dialogues[-1].id
        await asyncio.to_thread(known.add, [dialogue.turns for dialogue in dialogues])
    await asyncio.to_thread(known.sort)
    return known

"""Flags the conversations of a collection: each by its text, then in comparison with the others.

Each batch is committed separately. A restarted job continues with the unflagged conversations. A check deletes nothing,
and no flag excludes a conversation from use.
"""

import asyncio
from uuid import UUID

import numpy as np

from spotthebot.contracts.conversations.quality import QualityCheckState, TrainingSplit
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.quality.domain.checks import CheckRequest
from spotthebot.conversations.quality.domain.duplicates import PERMUTATIONS, near_duplicates
from spotthebot.conversations.quality.domain.flags import UnflaggedConversation
from spotthebot.conversations.quality.domain.training_overlap import TrainingExchanges
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.conversations.quality.store import summaries as summaries_store
from spotthebot.conversations.quality.use_cases.flag_process import flag_process
from spotthebot.kit.database.sessions import Database

_TEXTS_PER_BATCH = 200
_ROWS_PER_BATCH = 1000


async def check_quality(database: Database, collection_id: UUID) -> None:
    """Flag unflagged conversations, compare all with each other and with the training split, and store a summary."""
    async with database.write() as session:
        request = await checks_store.start_check(session, collection_id)
    await _check(database, request)


async def fail_check(database: Database, collection_id: UUID, reason: str) -> None:
    """Store why a check failed; a waiting request or a new request checks again."""
    async with database.write() as session:
        await checks_store.fail_check(session, collection_id, reason)


async def _check(database: Database, request: CheckRequest) -> None:
    collection_id = request.collection_id
    await _flag_texts(database, collection_id)
    async with database.write() as session:
        await checks_store.move_check(session, request, QualityCheckState.COMPARING)
    async with database.write() as session:
        await flags_store.flag_exact_duplicates(session, collection_id)
    await _flag_near_duplicates(database, collection_id)
    await _flag_training_overlap(database, collection_id, request.training)
    async with database.write() as session:
        summary = await summaries_store.summarise(session, collection_id, request.training)
        await checks_store.finish_check(session, request, summary)


async def _flag_texts(database: Database, collection_id: UUID) -> None:
    async def read(after: UUID | None) -> list[UnflaggedConversation]:
        async with database.read() as session:
            return await flags_store.list_unflagged(session, collection_id, after=after, limit=_TEXTS_PER_BATCH)

    async with flag_process() as flag_texts:
        batch = await read(None)
        while batch:
            flags, following = await asyncio.gather(
                flag_texts([each.turns for each in batch]), read(batch[-1].conversation_id)
            )
            async with database.write() as session:
                await flags_store.add_flags(session, collection_id, list(zip(batch, flags, strict=True)))
            batch = following


async def _flag_near_duplicates(database: Database, collection_id: UUID) -> None:
    ids: list[UUID] = []
    signatures = bytearray()
    while True:
        async with database.read() as session:
            rows = await flags_store.list_signatures(
                session, collection_id, after=ids[-1] if ids else None, limit=_ROWS_PER_BATCH
            )
        if not rows:
            break
        ids += (conversation_id for conversation_id, _ in rows)
        signatures += b"".join(signature for _, signature in rows)
    table = np.frombuffer(signatures, dtype=np.uint32).reshape(-1, PERMUTATIONS)
    resembled, similarity = await asyncio.to_thread(near_duplicates, table)
    positions = np.flatnonzero(resembled >= 0)
    found = [(ids[position], ids[resembled[position]], round(float(similarity[position]), 4)) for position in positions]
    async with database.write() as session:
        await flags_store.flag_near_duplicates(session, collection_id, found)


async def _flag_training_overlap(database: Database, collection_id: UUID, training: TrainingSplit | None) -> None:
    if training is None:
        async with database.write() as session:
            await flags_store.clear_training_overlap(session, collection_id)
        return
    known = await _training_exchanges(database, training)
    after: UUID | None = None
    while True:
        async with database.read() as session:
            rows = await flags_store.list_exchange_hashes(session, collection_id, after=after, limit=_ROWS_PER_BATCH)
        if not rows:
            return
        after = rows[-1][0]
        counts = await asyncio.to_thread(known.count, [hashes for _, hashes in rows])
        async with database.write() as session:
            await flags_store.flag_training_overlap(
                session, [(each, n) for (each, _), n in zip(rows, counts, strict=True)]
            )


async def _training_exchanges(database: Database, training: TrainingSplit) -> TrainingExchanges:
    known = TrainingExchanges()
    after: UUID | None = None
    while True:
        async with database.read() as session:
            dialogues = await corpora_store.list_dialogues(
                session, training.corpus_id, split=training.split, after=after, limit=_ROWS_PER_BATCH
            )
        if not dialogues:
            break
        after = dialogues[-1].id
        await asyncio.to_thread(known.add, [dialogue.turns for dialogue in dialogues])
    await asyncio.to_thread(known.sort)
    return known

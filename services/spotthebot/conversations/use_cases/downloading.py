"""Whole collections as files: read a batch, write a batch, so that memory stays flat however large they are."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from importlib.metadata import version
from uuid import UUID

from spotthebot.contracts.conversations import ExportedConversation, ExportFormat
from spotthebot.conversations import store
from spotthebot.conversations.exporting import DatasetFolder, ParquetFile, Provenance, SourceCorpus, write_card
from spotthebot.conversations.store.exports import Origin
from spotthebot.kit.database import Database, ReadSession

_AT_ONCE = 500
_TOLD_OF_THE_PLAN = ("exchanges", "conversations_per_pair", "order", "seed", "opening", "stop")


async def write_export(
    database: Database, origin: Origin, form: ExportFormat, conversations: int, card: str
) -> AsyncIterator[bytes]:
    """Yield the bytes of a collection's first `conversations`, in the order of its plan; `card` is for `datasets`."""
    batches = _batches(database, origin, conversations)
    if form is ExportFormat.NDJSON:
        async for batch in batches:
            yield await asyncio.to_thread(_lines, batch)
        return
    file = await asyncio.to_thread(
        lambda: ParquetFile() if form is ExportFormat.PARQUET else DatasetFolder(card, conversations)
    )
    async for batch in batches:
        yield await asyncio.to_thread(file.add, batch)
    yield await asyncio.to_thread(file.close)


async def describe(session: ReadSession, origin: Origin, conversations: int) -> str:
    """Return the card of a collection: how it came about, who spoke, whose the texts are."""
    pools = [origin.plan.get(key) or {} for key in ("opening", "humans")]
    ids = [UUID(pool["corpus_id"]) for pool in pools if "corpus_id" in pool]
    corpora = await store.exports.list_corpora_named(session, ids)
    return write_card(
        Provenance(
            name=origin.name,
            domain=origin.domain,
            mode=origin.held_as or origin.mode,
            collection_id=str(origin.id),
            begun=origin.created_at.date(),
            conversations=conversations,
            asked_for={key: origin.plan[key] for key in _TOLD_OF_THE_PLAN if origin.plan.get(key) is not None},
            speakers=await store.exports.list_speakers_of(session, origin.id),
            corpora=[SourceCorpus(each.name, each.origin, each.licence) for each in corpora],
            software=f"spotthebot {version('spotthebot')}",
        )
    )


def _lines(conversations: Sequence[ExportedConversation]) -> bytes:
    return "".join(f"{each.model_dump_json()}\n" for each in conversations).encode()


async def _batches(database: Database, origin: Origin, most: int) -> AsyncIterator[Sequence[ExportedConversation]]:
    after: UUID | None = None
    while most > 0:
        async with database.read() as session:
            rows = await store.exports.list_exported(session, origin, after=after, limit=min(_AT_ONCE, most))
        if not rows:
            return
        yield [row.conversation for row in rows]
        after = rows[-1].id
        most -= len(rows)

"""The export of a collection: all its conversations in one file of any format."""

from collections.abc import AsyncIterator, Sequence
from importlib.metadata import version
from uuid import UUID

from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.conversations.collections.domain import ExportSource
from spotthebot.conversations.exports import store
from spotthebot.conversations.exports.domain import CardFacts, write_card
from spotthebot.kit.database.sessions import Database, ReadSession
from spotthebot.kit.exports.batches import export
from spotthebot.kit.exports.formats import ExportFormat

_ROWS_PER_BATCH = 500
_SETTINGS_ON_THE_CARD = ("exchanges", "conversations_per_pair", "order", "seed", "opening", "stop")


async def export_collection(
    session: ReadSession, database: Database, source: ExportSource, form: ExportFormat
) -> AsyncIterator[bytes]:
    """Yield the bytes of an export of the collection's present conversations, in the order of its plan."""
    rows = await store.count_conversations(session, source.id)
    card = await _card(session, source, rows) if form is ExportFormat.DATASETS else ""
    return export(_batches(database, source, rows), form, ExportedConversation, rows=rows, card=card)


async def _card(session: ReadSession, source: ExportSource, conversations: int) -> str:
    pools = [source.plan.get(key) or {} for key in ("opening", "humans")]
    corpora = [UUID(pool["corpus_id"]) for pool in pools if "corpus_id" in pool]
    return write_card(
        CardFacts(
            name=source.name,
            domain=source.domain,
            mode=source.exported_mode,
            collection_id=str(source.id),
            started=source.created_at.date(),
            conversations=conversations,
            settings={key: source.plan[key] for key in _SETTINGS_ON_THE_CARD if source.plan.get(key) is not None},
            participants=await store.list_participants(session, source.id),
            corpora=await store.list_source_corpora(session, corpora),
            software=f"spotthebot {version('spotthebot')}",
        )
    )


async def _batches(
    database: Database, source: ExportSource, limit: int
) -> AsyncIterator[Sequence[ExportedConversation]]:
    after: UUID | None = None
    while limit > 0:
        async with database.read() as session:
            rows = await store.list_rows(session, source, after=after, limit=min(_ROWS_PER_BATCH, limit))
        if not rows:
            return
        yield [row.conversation for row in rows]
        after = rows[-1].id
        limit -= len(rows)

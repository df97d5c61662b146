"""The only SQL that stores imported exports."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.conversations.chats.store import ratings as ratings_store
from spotthebot.conversations.collections.domain import Sides
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.kit.database.sessions import WriteSession


async def claim_mode(session: WriteSession, collection_id: UUID, held_as: str) -> str:
    """Set the mode in which a collection's conversations were held, unless it is set; return the stored mode."""
    stands = await session.scalar(
        text("""
            UPDATE conversations.collections
            SET plan = plan || jsonb_build_object('held_as', COALESCE(plan ->> 'held_as', :held_as))
            WHERE id = :id RETURNING plan ->> 'held_as'
        """),
        {"id": collection_id, "held_as": held_as},
    )
    return str(stands)


async def add_exported(
    session: WriteSession,
    collection_id: UUID,
    conversations: Sequence[tuple[UUID, ExportedConversation]],
    pairs: Mapping[Sides, int],
) -> frozenset[UUID]:
    """Store each conversation under the given id, unless its exported id is stored already; return the ids stored."""
    statement = insert(ConversationRow).on_conflict_do_nothing().returning(ConversationRow.id)
    rows = [
        {
            "id": row_id,
            "collection_id": collection_id,
            "pair": pairs[each.participants],
            "round": 0,
            "external_id": each.id,
            "state": each.state,
            "ended_by": each.ended_by,
            "failure": each.failure,
            "opening": [turn.text for turn in each.opening],
            "opening_shown": each.opening_shown,
            "personas": None if each.personas is None else [*each.personas],
            "turns_planned": len(each.turns),
            "turns_said": len(each.turns),
            "seed": each.seed,
            "next_bot": None,
        }
        for row_id, each in conversations
    ]
    stored = frozenset(await session.scalars(statement, rows))
    said = [
        (row_id, position, turn)
        for row_id, each in conversations
        if row_id in stored
        for position, turn in enumerate(each.turns)
    ]
    await ratings_store.add_ratings(
        session,
        collection_id,
        [(row_id, each.rating) for row_id, each in conversations if row_id in stored and each.rating is not None],
    )
    await session.execute(
        text("""
            INSERT INTO conversations.turns (conversation_id, position, text, raw, latency_ms, said_at)
            SELECT * FROM unnest(
                CAST(:ids AS uuid[]), CAST(:positions AS int[]), CAST(:texts AS text[]), CAST(:raws AS text[]),
                CAST(:latencies AS float8[]), CAST(:times AS timestamptz[])
            )
        """),
        {
            "ids": [row_id for row_id, _, _ in said],
            "positions": [position for _, position, _ in said],
            "texts": [turn.text for _, _, turn in said],
            "raws": [turn.raw for _, _, turn in said],
            "latencies": [turn.latency_ms for _, _, turn in said],
            "times": [turn.said_at for _, _, turn in said],
        },
    )
    return stored

"""The only SQL over complete conversations for exports."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select

from spotthebot.contracts.conversations.conversations import Participant
from spotthebot.contracts.conversations.exports import ExportedConversation, ExportedQualityFlags, ExportedRating
from spotthebot.contracts.conversations.ids import ConversationId
from spotthebot.conversations.chats.store import ratings as ratings_store
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import ExportSource
from spotthebot.conversations.collections.tables import PairRow
from spotthebot.conversations.conversations.domain import speaker_at
from spotthebot.conversations.conversations.errors import NoSuchConversation
from spotthebot.conversations.conversations.tables import ConversationRow, TurnRow
from spotthebot.conversations.corpora.tables import CorpusRow
from spotthebot.conversations.exports.domain import ExportedRow, SourceCorpus
from spotthebot.conversations.quality.tables import QualityFlagsRow
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession

_OTHERS = ("exact_duplicate_of", "near_duplicate_of")
"""Flags that name another conversation."""


async def list_participants(session: ReadSession, collection_id: UUID) -> list[Participant]:
    """Return the participants of a collection, each once, in the order of its pairs."""
    rows = await session.scalars(
        select(PairRow.participants).where(PairRow.collection_id == collection_id).order_by(PairRow.number)
    )
    return list(dict.fromkeys(Participant.model_validate(side) for sides in rows for side in sides))


async def list_source_corpora(session: ReadSession, ids: Sequence[UUID]) -> list[SourceCorpus]:
    """Return the corpora with these ids that still exist, ordered by name."""
    rows = await session.scalars(select(CorpusRow).where(CorpusRow.id.in_(ids)).order_by(CorpusRow.name))
    return [from_row(SourceCorpus, row) for row in rows]


async def list_rows(
    session: ReadSession, source: ExportSource, *, after: UUID | None, limit: int, ids: Sequence[str] | None = None
) -> list[ExportedRow]:
    """Return rows of an export, in the order of the collection's plan.

    With `ids`, only conversations that were imported under these ids.
    """
    statement = (
        select(ConversationRow, PairRow.participants)
        .select_from(ConversationRow)
        .join(PairRow)
        .where(ConversationRow.collection_id == source.id)
        .order_by(ConversationRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    if ids is not None:
        statement = statement.where(ConversationRow.external_id.in_(ids))
    return await _rows(session, source, statement)


async def get_row(session: ReadSession, conversation_id: UUID) -> ExportedRow:
    """Return the row of one conversation in the export of its collection; raises NoSuchConversation."""
    own = ConversationRow.id == conversation_id
    collection_id = await session.scalar(select(ConversationRow.collection_id).where(own))
    if collection_id is None:
        raise NoSuchConversation(conversation_id=conversation_id)
    statement = select(ConversationRow, PairRow.participants).select_from(ConversationRow).join(PairRow).where(own)
    return (await _rows(session, await collections_store.get_source(session, collection_id), statement))[0]


async def _rows(
    session: ReadSession, source: ExportSource, statement: Select[ConversationRow, list[dict[str, Any]]]
) -> list[ExportedRow]:
    rows = (await session.execute(statement)).all()
    found = [row.id for row, _ in rows]
    turns, quality_flags = await _turns(session, found), await _quality_flags(session, found)
    ratings = await ratings_store.find_ratings(session, source, found)

    def build() -> list[ExportedRow]:
        return [
            ExportedRow(
                ConversationId(row.id),
                _exported(row, sides, source, turns[row.id], quality_flags.get(row.id), ratings.get(row.id)),
            )
            for row, sides in rows
        ]

    return await asyncio.to_thread(build)  # thousands of turns to validate: let other requests run meanwhile


async def count_conversations(session: ReadSession, collection_id: UUID) -> int:
    statement = select(func.count()).where(ConversationRow.collection_id == collection_id)
    return await session.scalar(statement) or 0


async def _turns(session: ReadSession, ids: Sequence[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    """Return turns in wire form. It selects plain columns, because a million ORM objects would take minutes."""
    said = select(
        TurnRow.conversation_id, TurnRow.position, TurnRow.text, TurnRow.raw, TurnRow.latency_ms, TurnRow.said_at
    )
    rows = await session.execute(
        said.where(TurnRow.conversation_id.in_(ids)).order_by(TurnRow.conversation_id, TurnRow.position)
    )
    turns: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for conversation_id, position, words, raw, latency_ms, said_at in rows:
        turns[conversation_id].append(
            {
                "speaker": speaker_at(position),
                "text": words,
                "raw": raw,
                "latency_ms": latency_ms,
                "said_at": said_at and said_at.astimezone(UTC),
            }
        )
    return turns


async def _quality_flags(session: ReadSession, ids: Sequence[UUID]) -> dict[UUID, ExportedQualityFlags]:
    shown = (
        QualityFlagsRow.words,
        QualityFlagsRow.language,
        QualityFlagsRow.language_probability,
        QualityFlagsRow.exact_duplicate_of,
        QualityFlagsRow.near_duplicate_of,
        QualityFlagsRow.similarity,
        QualityFlagsRow.in_training,
        QualityFlagsRow.profanity,
        QualityFlagsRow.personal_data,
    )
    rows = (
        await session.execute(
            select(QualityFlagsRow.conversation_id, *shown).where(QualityFlagsRow.conversation_id.in_(ids))
        )
    ).mappings()
    quality_flags = {row["conversation_id"]: {column.key: row[column.key] for column in shown} for row in rows}
    others = {each[key] for each in quality_flags.values() for key in _OTHERS if each[key] is not None}
    names = await session.execute(
        select(ConversationRow.id, ConversationRow.external_id).where(ConversationRow.id.in_(others))
    )
    named = {row_id: external_id or str(row_id) for row_id, external_id in names}
    return {
        row_id: ExportedQualityFlags.model_validate(each | {key: named.get(each[key]) for key in _OTHERS})
        for row_id, each in quality_flags.items()
    }


def _exported(
    row: ConversationRow,
    sides: Sequence[dict[str, Any]],
    source: ExportSource,
    turns: Sequence[dict[str, Any]],
    quality_flags: ExportedQualityFlags | None,
    rating: ExportedRating | None,
) -> ExportedConversation:
    return ExportedConversation.model_validate(
        {
            "id": row.external_id or str(row.id),
            "collection": source.name,
            "domain": source.domain,
            "mode": source.exported_mode,
            "collection_cancelled": source.is_cancelled,
            "bots": [side["name"] for side in sides],
            "participants": sides,
            "personas": row.personas,
            "opening": [
                {"speaker": speaker_at(position - len(row.opening)), "text": said}
                for position, said in enumerate(row.opening)
            ],
            "opening_shown": row.opening_shown,
            "seed": row.seed,
            "state": row.state,
            "ended_by": row.ended_by,
            "failure": row.failure,
            "turns": turns,
            "rating": rating,
            "quality_flags": quality_flags,
        }
    )

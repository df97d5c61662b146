"""The only SQL over marks: what is not marked yet, what is, how conversations compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Select, Uuid, cast, func, select, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.orm import InstrumentedAttribute

from spotthebot.contracts.conversations import ConversationState, MarkKind, ParticipantKind
from spotthebot.conversations.domain.quality.noted import RULES, TextMarks
from spotthebot.conversations.tables import ConversationRow, MarkRow, PairRow, TurnRow
from spotthebot.kit.database import ReadSession, WriteSession

_SHOWN = {
    "exact_duplicate": MarkRow.exact_duplicate_of.is_not(None),
    "near_duplicate": MarkRow.near_duplicate_of.is_not(None),
    "in_training": MarkRow.in_training > 0,
    "profanity": func.cardinality(MarkRow.profanity) > 0,
    "personal_data": MarkRow.personal_data != cast([], JSONB),
}


@dataclass(frozen=True)
class Unmarked:
    """A conversation that is to be marked."""

    conversation_id: UUID
    bot_speaks: bool
    turns: tuple[str, ...]


async def list_unmarked(session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int) -> list[Unmarked]:
    """Return complete conversations after this one that have no marks of the present rules, with their turns."""
    bot_speaks = PairRow.participants.contains([{"kind": ParticipantKind.BOT}])
    marked = select(MarkRow.conversation_id).where(
        MarkRow.conversation_id == ConversationRow.id, MarkRow.rules == RULES
    )
    statement = (
        select(ConversationRow.id, bot_speaks)
        .select_from(ConversationRow)
        .join(PairRow)
        .where(
            ConversationRow.collection_id == collection_id,
            ConversationRow.state == ConversationState.COMPLETE,
            ~marked.exists(),
        )
        .order_by(ConversationRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    found: dict[UUID, bool] = dict((await session.execute(statement)).all())
    turns: dict[UUID, list[str]] = {row_id: [] for row_id in found}
    said = (
        select(TurnRow.conversation_id, TurnRow.text)
        .where(TurnRow.conversation_id.in_(turns))
        .order_by(TurnRow.conversation_id, TurnRow.position)
    )
    for row_id, text in await session.execute(said):
        turns[row_id].append(text)
    return [Unmarked(row_id, speaks, tuple(turns[row_id])) for row_id, speaks in found.items()]


async def add_marks(session: WriteSession, collection_id: UUID, marked: Sequence[tuple[Unmarked, TextMarks]]) -> None:
    """Store what the texts say, in place of what older rules said."""
    rows = [
        {
            "conversation_id": conversation.conversation_id,
            "collection_id": collection_id,
            "rules": RULES,
            "bot_speaks": conversation.bot_speaks,
            "turns": marks.turns,
            "words": marks.words,
            "language": marks.language[0] if marks.language else None,
            "language_probability": marks.language[1] if marks.language else None,
            "profanity": [*marks.profanity],
            "personal_data": [{"position": position, "kind": kind} for position, kind in marks.personal_data],
            "text_hash": marks.text_hash,
            "signature": marks.signature,
            "exchange_hashes": marks.exchange_hashes,
        }
        for conversation, marks in marked
    ]
    statement = insert(MarkRow)
    renewed = {name: statement.excluded[name] for name in rows[0] if name != "conversation_id"}
    await session.execute(statement.on_conflict_do_update(index_elements=[MarkRow.conversation_id], set_=renewed), rows)


async def mark_exact_duplicates(session: WriteSession, collection_id: UUID) -> None:
    """Note of each conversation which earlier one has the same words, the first of several."""
    earliest = func.first_value(MarkRow.conversation_id).over(
        partition_by=MarkRow.text_hash, order_by=MarkRow.conversation_id
    )
    of_collection = MarkRow.collection_id == collection_id
    first = select(MarkRow.conversation_id, earliest.label("earliest")).where(of_collection).subquery()
    duplicate_of = func.nullif(first.c.earliest, MarkRow.conversation_id)
    await session.execute(
        update(MarkRow)
        .where(
            first.c.conversation_id == MarkRow.conversation_id,
            MarkRow.exact_duplicate_of.is_distinct_from(duplicate_of),
        )
        .values(exact_duplicate_of=duplicate_of)
        .execution_options(synchronize_session=False)
    )


async def list_signatures(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> Sequence[tuple[UUID, bytes]]:
    """Return the signatures of conversations that are no exact duplicates, in the order of the plan."""
    statement = _page(MarkRow.signature, collection_id, after, limit).where(MarkRow.exact_duplicate_of.is_(None))
    return [(row_id, signature) for row_id, signature in await session.execute(statement)]


async def mark_near_duplicates(
    session: WriteSession, collection_id: UUID, found: Sequence[tuple[UUID, UUID, float]]
) -> None:
    """Note of conversations which earlier one they resemble and how much; the others resemble none."""
    await session.execute(
        update(MarkRow)
        .where(MarkRow.collection_id == collection_id, MarkRow.near_duplicate_of.is_not(None))
        .values(near_duplicate_of=None, similarity=None)
        .execution_options(synchronize_session=False)
    )
    rows = [
        {"conversation_id": one, "near_duplicate_of": other, "similarity": similarity}
        for one, other, similarity in found
    ]
    if rows:
        await session.execute(update(MarkRow), rows)


async def list_exchange_hashes(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> Sequence[tuple[UUID, bytes]]:
    statement = _page(MarkRow.exchange_hashes, collection_id, after, limit)
    return [(row_id, hashes) for row_id, hashes in await session.execute(statement)]


async def mark_in_training(session: WriteSession, counts: Sequence[tuple[UUID, int]]) -> None:
    """Note how many exchanges of conversations stand in the training split."""
    ids, numbers = zip(*counts, strict=True)
    given = func.unnest(cast(ids, ARRAY(Uuid)), cast(numbers, ARRAY(Integer))).table_valued("id", "number")
    found = given.render_derived()
    await session.execute(
        update(MarkRow)
        .where(MarkRow.conversation_id == found.c.id, MarkRow.in_training.is_distinct_from(found.c.number))
        .values(in_training=found.c.number)
        .execution_options(synchronize_session=False)
    )


async def forget_training(session: WriteSession, collection_id: UUID) -> None:
    await session.execute(
        update(MarkRow)
        .where(MarkRow.collection_id == collection_id, MarkRow.in_training.is_not(None))
        .values(in_training=None)
        .execution_options(synchronize_session=False)
    )


async def list_marks(
    session: ReadSession, collection_id: UUID, *, only: MarkKind | None, after: UUID | None, limit: int
) -> Sequence[Any]:
    """Return the marks of a collection's conversations, or of those that bear this one, in the order of the plan."""
    shown = (
        MarkRow.conversation_id,
        MarkRow.turns,
        MarkRow.words,
        MarkRow.language,
        MarkRow.language_probability,
        MarkRow.exact_duplicate_of,
        MarkRow.near_duplicate_of,
        MarkRow.similarity,
        exchanges().label("exchanges"),
        MarkRow.in_training,
        MarkRow.profanity,
        MarkRow.personal_data,
    )
    statement = (
        select(*shown).where(MarkRow.collection_id == collection_id).order_by(MarkRow.conversation_id).limit(limit)
    )
    if only is not None:
        statement = statement.where(_SHOWN[only])
    if after is not None:
        statement = statement.where(MarkRow.conversation_id > after)
    return (await session.execute(statement)).mappings().all()


def exchanges() -> ColumnElement[int]:
    """Two adjacent turns each: one fewer than turns."""
    return func.greatest(MarkRow.turns - 1, 0)


def bears(kind: MarkKind) -> ColumnElement[bool]:
    """Say whether a conversation bears a mark."""
    return _SHOWN[kind]


def _page(
    what: InstrumentedAttribute[bytes], collection_id: UUID, after: UUID | None, limit: int
) -> Select[UUID, bytes]:
    statement = (
        select(MarkRow.conversation_id, what)
        .where(MarkRow.collection_id == collection_id)
        .order_by(MarkRow.conversation_id)
        .limit(limit)
    )
    return statement if after is None else statement.where(MarkRow.conversation_id > after)

"""The only SQL over quality flags: unflagged conversations, flags, comparisons."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Select, String, Uuid, cast, func, select, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.orm import InstrumentedAttribute, aliased

from spotthebot.contracts.conversations.conversations import ConversationState, ParticipantKind
from spotthebot.contracts.conversations.quality import FlagKind
from spotthebot.conversations.collections.tables import PairRow
from spotthebot.conversations.conversations.tables import ConversationRow, TurnRow
from spotthebot.conversations.quality.domain.flags import RULES, QualityFlags, TextFlags, UnflaggedConversation
from spotthebot.conversations.quality.tables import QualityFlagsRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_CONDITIONS = {
    "exact_duplicate": QualityFlagsRow.exact_duplicate_of.is_not(None),
    "near_duplicate": QualityFlagsRow.near_duplicate_of.is_not(None),
    "in_training": QualityFlagsRow.in_training > 0,
    "profanity": func.cardinality(QualityFlagsRow.profanity) > 0,
    "personal_data": QualityFlagsRow.personal_data != cast([], JSONB),
}


async def list_unflagged(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> list[UnflaggedConversation]:
    """Return complete conversations with ids above `after` and without flags from the present rules."""
    bot_speaks = PairRow.participants.contains([{"kind": ParticipantKind.BOT}])
    flagged = select(QualityFlagsRow.conversation_id).where(
        QualityFlagsRow.conversation_id == ConversationRow.id, QualityFlagsRow.rules == RULES
    )
    statement = (
        select(ConversationRow.id, bot_speaks)
        .select_from(ConversationRow)
        .join(PairRow)
        .where(
            ConversationRow.collection_id == collection_id,
            ConversationRow.state == ConversationState.COMPLETE,
            ~flagged.exists(),
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
    return [UnflaggedConversation(row_id, speaks, tuple(turns[row_id])) for row_id, speaks in found.items()]


async def add_flags(
    session: WriteSession, collection_id: UUID, flagged: Sequence[tuple[UnflaggedConversation, TextFlags]]
) -> None:
    """Store flags from texts, and replace flags from older rules."""
    rows = [
        {
            "conversation_id": conversation.conversation_id,
            "collection_id": collection_id,
            "rules": RULES,
            "bot_speaks": conversation.bot_speaks,
            "turns": flags.turns,
            "words": flags.words,
            "language": flags.language[0] if flags.language else None,
            "language_probability": flags.language[1] if flags.language else None,
            "profanity": [*flags.profanity],
            "personal_data": [{"position": position, "kind": kind} for position, kind in flags.personal_data],
            "text_hash": flags.text_hash,
            "signature": flags.signature,
            "exchange_hashes": flags.exchange_hashes,
        }
        for conversation, flags in flagged
    ]
    statement = insert(QualityFlagsRow)
    renewed = {name: statement.excluded[name] for name in rows[0] if name != "conversation_id"}
    await session.execute(
        statement.on_conflict_do_update(index_elements=[QualityFlagsRow.conversation_id], set_=renewed), rows
    )


async def flag_exact_duplicates(session: WriteSession, collection_id: UUID) -> None:
    """Store for each conversation the first earlier conversation with the same words."""
    earliest = func.first_value(QualityFlagsRow.conversation_id).over(
        partition_by=QualityFlagsRow.text_hash, order_by=QualityFlagsRow.conversation_id
    )
    of_collection = QualityFlagsRow.collection_id == collection_id
    first = select(QualityFlagsRow.conversation_id, earliest.label("earliest")).where(of_collection).subquery()
    duplicate_of = func.nullif(first.c.earliest, QualityFlagsRow.conversation_id)
    await session.execute(
        update(QualityFlagsRow)
        .where(
            first.c.conversation_id == QualityFlagsRow.conversation_id,
            QualityFlagsRow.exact_duplicate_of.is_distinct_from(duplicate_of),
        )
        .values(exact_duplicate_of=duplicate_of)
        .execution_options(synchronize_session=False)
    )


async def list_signatures(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> Sequence[tuple[UUID, bytes]]:
    """Return the signatures of all conversations except exact duplicates, in the order of the plan."""
    statement = _page(QualityFlagsRow.signature, collection_id, after, limit).where(
        QualityFlagsRow.exact_duplicate_of.is_(None)
    )
    return [(row_id, signature) for row_id, signature in await session.execute(statement)]


async def flag_near_duplicates(
    session: WriteSession, collection_id: UUID, found: Sequence[tuple[UUID, UUID, float]]
) -> None:
    """Store near duplicates: (conversation, earlier conversation, similarity). All others lose this flag."""
    await session.execute(
        update(QualityFlagsRow)
        .where(QualityFlagsRow.collection_id == collection_id, QualityFlagsRow.near_duplicate_of.is_not(None))
        .values(near_duplicate_of=None, similarity=None)
        .execution_options(synchronize_session=False)
    )
    rows = [
        {"conversation_id": one, "near_duplicate_of": other, "similarity": similarity}
        for one, other, similarity in found
    ]
    if rows:
        await session.execute(update(QualityFlagsRow), rows)


async def list_exchange_hashes(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> Sequence[tuple[UUID, bytes]]:
    statement = _page(QualityFlagsRow.exchange_hashes, collection_id, after, limit)
    return [(row_id, hashes) for row_id, hashes in await session.execute(statement)]


async def flag_training_overlap(session: WriteSession, counts: Sequence[tuple[UUID, int]]) -> None:
    """Store the number of exchanges that each conversation shares with the training split."""
    ids, numbers = zip(*counts, strict=True)
    given = func.unnest(cast(ids, ARRAY(Uuid)), cast(numbers, ARRAY(Integer))).table_valued("id", "number")
    found = given.render_derived()
    await session.execute(
        update(QualityFlagsRow)
        .where(
            QualityFlagsRow.conversation_id == found.c.id, QualityFlagsRow.in_training.is_distinct_from(found.c.number)
        )
        .values(in_training=found.c.number)
        .execution_options(synchronize_session=False)
    )


async def clear_training_overlap(session: WriteSession, collection_id: UUID) -> None:
    await session.execute(
        update(QualityFlagsRow)
        .where(QualityFlagsRow.collection_id == collection_id, QualityFlagsRow.in_training.is_not(None))
        .values(in_training=None)
        .execution_options(synchronize_session=False)
    )


async def list_flags(
    session: ReadSession, collection_id: UUID, *, only: FlagKind | None, after: UUID | None, limit: int
) -> list[QualityFlags]:
    """Return the flags of a collection's conversations in the order of the plan.

    With `only`, return only conversations with this flag.
    """
    own, exact, near = (aliased(ConversationRow) for _ in range(3))
    shown = (
        QualityFlagsRow.conversation_id,
        exported_id(own).label("exported_id"),
        QualityFlagsRow.turns,
        QualityFlagsRow.words,
        QualityFlagsRow.language,
        QualityFlagsRow.language_probability,
        QualityFlagsRow.exact_duplicate_of,
        QualityFlagsRow.near_duplicate_of,
        exported_id(exact).label("exact_duplicate_of_exported"),
        exported_id(near).label("near_duplicate_of_exported"),
        QualityFlagsRow.similarity,
        exchanges().label("exchanges"),
        QualityFlagsRow.in_training,
        QualityFlagsRow.profanity,
        QualityFlagsRow.personal_data,
    )
    statement = (
        select(*shown)
        .join(own, own.id == QualityFlagsRow.conversation_id)
        .outerjoin(exact, exact.id == QualityFlagsRow.exact_duplicate_of)
        .outerjoin(near, near.id == QualityFlagsRow.near_duplicate_of)
        .where(QualityFlagsRow.collection_id == collection_id)
        .order_by(QualityFlagsRow.conversation_id)
        .limit(limit)
    )
    if only is not None:
        statement = statement.where(_CONDITIONS[only])
    if after is not None:
        statement = statement.where(QualityFlagsRow.conversation_id > after)
    return [QualityFlags(**row) for row in (await session.execute(statement)).mappings()]


def exported_id(conversation: type[ConversationRow]) -> ColumnElement[str]:
    """Return a conversation's id in exports: its imported id, or else its id in this database."""
    return func.coalesce(conversation.external_id, cast(conversation.id, String))


def exchanges() -> ColumnElement[int]:
    """Return the number of exchanges, i.e. of adjacent turns: one fewer than turns."""
    return func.greatest(QualityFlagsRow.turns - 1, 0)


def has_flag(kind: FlagKind) -> ColumnElement[bool]:
    """Return the condition that a conversation has a flag."""
    return _CONDITIONS[kind]


def _page(
    what: InstrumentedAttribute[bytes], collection_id: UUID, after: UUID | None, limit: int
) -> Select[UUID, bytes]:
    statement = (
        select(QualityFlagsRow.conversation_id, what)
        .where(QualityFlagsRow.collection_id == collection_id)
        .order_by(QualityFlagsRow.conversation_id)
        .limit(limit)
    )
    return statement if after is None else statement.where(QualityFlagsRow.conversation_id > after)

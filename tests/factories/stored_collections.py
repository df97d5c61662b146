"""Rows of the schema `conversations`, written without a service, for tests of its store."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.orm import InstrumentedAttribute

from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.conversations.chats.tables import ChatEventRow, ChatRow, ImportedRatingRow
from spotthebot.conversations.collections.tables import CollectionRow, PairRow
from spotthebot.conversations.conversations.tables import ConversationRow, TurnRow
from spotthebot.conversations.quality.tables import QualityFlagsRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def bot(bot_id: UUID, name: str) -> Participant:
    return Participant(kind=ParticipantKind.BOT, name=name, bot_id=bot_id)


async def store_collection(session: WriteSession, sides: Sequence[Participant], **values: Any) -> UUID:
    """Store a collection that collects, with one pair: of these two; `values` are of its row."""
    collection = new_id()
    row = {"name": "stored", "domain": "small-talk", "mode": "self_play", "plan": {}, "state": "collecting"}
    bots = [side.bot_id for side in sides if side.bot_id is not None]
    await session.execute(insert(CollectionRow).values(row | {"id": collection, "bots": bots} | values))
    await store_pairs(session, collection, sides, numbers=[0])
    return collection


async def store_pairs(
    session: WriteSession, collection: UUID, sides: Sequence[Participant], *, numbers: Sequence[int]
) -> None:
    participants = [side.model_dump(mode="json") for side in sides]
    rows = [{"collection_id": collection, "number": number, "participants": participants} for number in numbers]
    await session.execute(insert(PairRow), rows)


async def store_conversations(
    session: WriteSession, collection: UUID, count: int, *, turns: Sequence[str] = (), **values: Any
) -> list[UUID]:
    """Store conversations of the collection's first pair with these turns; `values` are of their rows."""
    row = {
        "collection_id": collection,
        "pair": 0,
        "round": 0,
        "state": "running",
        "opening": [],
        "opening_shown": False,
        "turns_planned": 4,
        "turns_said": len(turns),
        "seed": 0,
        "attempts": 0,
    }
    ids = new_ids(count)
    await session.execute(insert(ConversationRow), [row | {"id": each} | values for each in ids])
    said = [
        {"conversation_id": each, "position": position, "text": text}
        for each in ids
        for position, text in reversed([*enumerate(turns)])  # no order of storing is the order of reading
    ]
    if said:
        await session.execute(insert(TurnRow), said)
    return ids


async def value_of(session: ReadSession, column: InstrumentedAttribute[Any], conversation: UUID) -> object:
    """Return what a conversation's row has in a column."""
    return await session.scalar(select(column).where(ConversationRow.id == conversation))


async def store_flags(session: WriteSession, collection: UUID, ids: Sequence[UUID], **values: Any) -> None:
    """Store quality flags of conversations in which nothing is wrong, but for `values`."""
    row = {
        "collection_id": collection,
        "rules": 0,
        "bot_speaks": True,
        "turns": 4,
        "words": 8,
        "language": "en",
        "language_probability": 1.0,
        "profanity": [],
        "personal_data": [],
        "text_hash": b"",
        "signature": b"signature",
        "exchange_hashes": b"hashes",
    }
    await session.execute(
        insert(QualityFlagsRow), [row | {"conversation_id": each, "text_hash": each.bytes} | values for each in ids]
    )


async def store_chats(session: WriteSession, collection: UUID, count: int, **values: Any) -> list[UUID]:
    """Store chats of a person, without bots; `values` are of their rows."""
    row = {"collection_id": collection, "interactor": "ann", "state": "chatting", "bots": [], "conversations": []}
    ids = new_ids(count)
    await session.execute(insert(ChatRow), [row | {"id": each} | values for each in ids])
    return ids


async def store_chat_events(session: WriteSession, chat: UUID, count: int) -> None:
    rows = [{"chat_id": chat, "number": number, "kind": "turn", "data": {}} for number in range(count, 0, -1)]
    await session.execute(insert(ChatEventRow), rows)


async def store_imported_ratings(session: WriteSession, collection: UUID, conversations: Sequence[UUID]) -> list[UUID]:
    """Store a rating of each conversation, each of a chat of its own; returns the ids of the chats."""
    chats = new_ids(len(conversations))
    row = {"collection_id": collection, "interactor": "ann", "number": 1, "scores": {"quality": 4}, "rated_at": NOON}
    rows = [row | {"conversation_id": one, "chat_id": chat} for one, chat in zip(conversations, chats, strict=True)]
    await session.execute(insert(ImportedRatingRow), rows)
    return chats

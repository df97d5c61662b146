"""The only SQL over chats, their events and their ratings."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations.chats import ChatRatingsIn, ChatState, HumanBotIn
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.conversations import Participant
from spotthebot.contracts.conversations.ids import CollectionId
from spotthebot.conversations.chats.domain.chats import (
    AwaitedReply,
    Chat,
    ChatCollection,
    ChatEvent,
    Drawn,
    states_before,
)
from spotthebot.conversations.chats.errors import NoSuchChat, NotForChats
from spotthebot.conversations.chats.tables import ChatEventRow, ChatRow, ImportedRatingRow
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import ENDED
from spotthebot.conversations.collections.errors import NoSuchCollection
from spotthebot.conversations.collections.tables import CollectionRow
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.kit.database.retention import KeptRows
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id

_PARTNERS = "partners"


def plan_of(request: HumanBotIn, partners: Sequence[Participant]) -> dict[str, Any]:
    """Return a plan as it is stored with its collection: the request, and the bots in their present versions."""
    return request.model_dump(mode="json") | {_PARTNERS: [each.model_dump(mode="json") for each in partners]}


async def get_chat_collection(session: ReadSession, collection_id: UUID) -> ChatCollection:
    """Return a collection of chats; raises NoSuchCollection, NotForChats."""
    row = await session.get(CollectionRow, collection_id)
    if row is None:
        raise NoSuchCollection(collection_id=collection_id)
    if row.mode != "human_bot":
        raise NotForChats(name=row.name)
    plan = dict(row.plan)
    partners = [Participant.model_validate(each) for each in plan.pop(_PARTNERS)]
    return ChatCollection(
        id=CollectionId(row.id),
        state=CollectionState(row.state),
        plan=HumanBotIn.model_validate(plan),
        partners={each.bot_id: each for each in partners if each.bot_id is not None},
    )


async def find_plan(session: ReadSession, collection_id: UUID) -> HumanBotIn | None:
    """Return the plan of a collection of chats; None for imported chats. Raises NoSuchCollection, NotForChats."""
    source = await collections_store.get_source(session, collection_id)
    if source.mode != source.exported_mode == "human_bot":
        return None
    return (await get_chat_collection(session, collection_id)).plan


async def lock_draws(session: WriteSession, collection_id: UUID) -> None:
    """Let only one transaction at a time draw bots for a collection, so that each draw knows the earlier draws.

    An erasure takes the same lock, so that it misses no chat that begins and no rating that is imported meanwhile.
    """
    key = f"draws/{collection_id}"
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": key})


async def count_draws(session: ReadSession, collection_id: UUID) -> dict[Drawn, int]:
    """Return the number of chats, without abandoned ones, for each draw of bots."""
    statement = (
        select(ChatRow.bots, func.count())
        .where(ChatRow.collection_id == collection_id, ChatRow.state != ChatState.ABANDONED)
        .group_by(ChatRow.bots)
    )
    counts: dict[Drawn, int] = {}
    for bots, number in await session.execute(statement):
        counts[frozenset(bots)] = counts.get(frozenset(bots), 0) + number
    return counts


async def list_chats_of(session: ReadSession, collection_id: UUID, interactor: str) -> list[Chat]:
    """Return a person's chats in a collection, oldest first."""
    statement = select(ChatRow).where(ChatRow.collection_id == collection_id, ChatRow.interactor == interactor)
    return [chat_of(row) for row in await session.scalars(statement.order_by(ChatRow.id))]


async def list_interactors(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> list[tuple[UUID, str | None]]:
    """Return the id of the person in each conversation of a collection, imported or not; None without a person."""
    held = (
        select(func.unnest(ChatRow.conversations).label("conversation_id"), ChatRow.interactor)
        .where(ChatRow.collection_id == collection_id)
        .subquery()
    )
    statement = (
        select(ConversationRow.id, func.coalesce(held.c.interactor, ImportedRatingRow.interactor))
        .outerjoin(held, held.c.conversation_id == ConversationRow.id)
        .outerjoin(ImportedRatingRow, ImportedRatingRow.conversation_id == ConversationRow.id)
        .where(ConversationRow.collection_id == collection_id)
        .order_by(ConversationRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    return [(row_id, interactor) for row_id, interactor in await session.execute(statement)]


async def add_chat(
    session: WriteSession,
    *,
    collection_id: UUID,
    interactor: str,
    bots: Sequence[UUID],
    conversations: Sequence[UUID],
    link: str | None = None,
) -> UUID:
    chat_id = new_id()
    await session.execute(
        insert(ChatRow).values(
            id=chat_id,
            collection_id=collection_id,
            interactor=interactor,
            link=link,
            state=ChatState.CHATTING,
            bots=list(bots),
            conversations=list(conversations),
        )
    )
    return chat_id


async def get_chat(session: ReadSession, chat_id: UUID) -> Chat:
    row = await session.scalar(select(ChatRow).where(ChatRow.id == chat_id))
    if row is None:
        raise NoSuchChat(chat_id=chat_id)
    return chat_of(row)


async def list_unanswered(session: ReadSession) -> list[AwaitedReply]:
    """Return the turns of bots for which people are waiting."""
    rows = await session.execute(
        text(f"""
            SELECT c.id AS chat_id, v.id AS conversation_id, v.turns_said AS turns
            FROM conversations.chats AS c
            JOIN conversations.conversations AS v ON v.id = c.conversations[cardinality(c.conversations)]
            JOIN conversations.pairs AS p ON p.collection_id = v.collection_id AND p.number = v.pair
            WHERE {collections_store.is_one_of("c.state", [ChatState.CHATTING])} AND v.state = 'running'
                AND p.participants -> (v.turns_said % 2) ->> 'kind' = 'bot'
            ORDER BY c.last_turn_at
        """)  # noqa: S608 - a constant condition
    )
    return [from_row(AwaitedReply, row) for row in rows]


async def lock_chat(session: WriteSession, chat_id: UUID, *, shared: bool = False) -> Chat:
    """Lock a chat and its conversations until this transaction ends, and return the chat.

    The chat's row is locked first. With `shared`, other transactions may take a shared lock, too.
    """
    row = await session.scalar(select(ChatRow).where(ChatRow.id == chat_id).with_for_update(read=shared))
    if row is None:
        raise NoSuchChat(chat_id=chat_id)
    return chat_of(row)


async def change_chat(session: WriteSession, chat_id: UUID, **values: object) -> None:
    await session.execute(update(ChatRow).where(ChatRow.id == chat_id).values(**values))


async def touch(session: WriteSession, chat_id: UUID) -> None:
    """Store the time of the chat's last activity."""
    await change_chat(session, chat_id, last_turn_at=func.now())


async def rate(session: WriteSession, chat_id: UUID, ratings: ChatRatingsIn) -> None:
    kept = ratings.model_dump(mode="json")
    await change_chat(session, chat_id, ratings=kept, state=ChatState.RATED, rated_at=func.now())


async def add_event(session: WriteSession, chat_id: UUID, kind: str, data: Mapping[str, Any]) -> None:
    """Add an event to a locked chat, in the transaction that causes it."""
    number = await session.scalar(
        update(ChatRow).where(ChatRow.id == chat_id).values(events=ChatRow.events + 1).returning(ChatRow.events)
    )
    await session.execute(insert(ChatEventRow).values(chat_id=chat_id, number=number, kind=kind, data=dict(data)))


async def list_events(session: ReadSession, chat_id: UUID, *, after: int, limit: int) -> list[ChatEvent]:
    statement = (
        select(ChatEventRow)
        .where(ChatEventRow.chat_id == chat_id, ChatEventRow.number > after)
        .order_by(ChatEventRow.number)
        .limit(limit)
    )
    return [from_row(ChatEvent, row) for row in await session.scalars(statement)]


async def count_events(session: ReadSession, chats: Sequence[UUID]) -> dict[UUID, int]:
    """Return the number of events of each of these chats."""
    rows = await session.execute(select(ChatRow.id, ChatRow.events).where(ChatRow.id.in_(chats)))
    return {row.id: row.events for row in rows}


async def list_chats(
    session: ReadSession, collection_id: UUID, *, rated: bool, after: UUID | None, limit: int
) -> list[Chat]:
    """Return a collection's chats, oldest first; with `rated` only rated chats."""
    statement: Select[ChatRow] = select(ChatRow).where(ChatRow.collection_id == collection_id)
    if rated:
        statement = statement.where(ChatRow.rated_at.is_not(None))
    if after is not None:
        statement = statement.where(ChatRow.id > after)
    return [chat_of(row) for row in await session.scalars(statement.order_by(ChatRow.id).limit(limit))]


async def list_idle(session: ReadSession, *, limit: int) -> list[UUID]:
    """Return the ids of chats that are idle for too long or belong to an ended collection."""
    rows = await session.execute(
        text(f"""
            SELECT t.id FROM conversations.chats AS t JOIN conversations.collections AS c ON c.id = t.collection_id
            WHERE {collections_store.is_one_of("t.state", states_before(ChatState.ABANDONED))} AND (
                {collections_store.is_one_of("c.state", ENDED)}
                OR t.last_turn_at < now() - make_interval(secs => (c.plan ->> 'abandoned_after_seconds')::float8)
            )
            ORDER BY t.id LIMIT :limit
        """),  # noqa: S608 - constant conditions
        {"limit": limit},
    )
    return list(rows.scalars())


async def lock_chatting(session: WriteSession, collection_id: UUID) -> list[Chat]:
    """Lock all running chats of a collection, and return them."""
    statement = select(ChatRow).where(
        ChatRow.collection_id == collection_id, ChatRow.state.in_(states_before(ChatState.ABANDONED))
    )
    return [chat_of(row) for row in await session.scalars(statement.order_by(ChatRow.id).with_for_update())]


async def cancel_conversation(session: WriteSession, conversation_id: UUID, reason: str) -> None:
    """Cancel a running conversation; its turns stay."""
    await session.execute(
        text("""
            WITH cancelled AS (
                UPDATE conversations.conversations SET state = 'cancelled', failure = :reason
                WHERE id = :id AND state = 'running' RETURNING collection_id
            )
            UPDATE conversations.collections AS c SET cancelled = c.cancelled + 1
            FROM cancelled WHERE c.id = cancelled.collection_id
        """),
        {"id": conversation_id, "reason": reason},
    )


def chat_of(row: ChatRow) -> Chat:
    """Return the chat that a row holds."""
    return from_row(
        Chat,
        row,
        state=ChatState(row.state),
        bots=tuple(row.bots),
        conversations=tuple(row.conversations),
        ratings=ChatRatingsIn.model_validate(row.ratings) if row.ratings is not None else None,
    )


def old_chat_events(days: int) -> KeptRows:
    """Return which rows to delete: old events of ended chats.

    Turns and ratings stay. A client that asks later learns that the chat ended.
    """
    is_over = "id = chat_events.chat_id AND state <> 'chatting' AND last_turn_at < :before"
    return KeptRows(
        "chat_events",
        f"EXISTS (SELECT FROM conversations.chats WHERE {is_over})",
        timedelta(days=days),
    )

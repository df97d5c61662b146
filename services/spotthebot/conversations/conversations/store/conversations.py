"""The only SQL that adds conversations and reads them with their turns."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Select, bindparam, cast, func, select, tuple_
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by, insert

from spotthebot.contracts.conversations.collections import StopRules
from spotthebot.contracts.conversations.conversations import ConversationState, Ending, Participant
from spotthebot.contracts.conversations.ids import ConversationId
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import Sides, check_looks
from spotthebot.conversations.collections.tables import CollectionRow, PairRow
from spotthebot.conversations.conversations.domain import Conversation, Latencies, Speakers
from spotthebot.conversations.conversations.errors import NoSuchConversation
from spotthebot.conversations.conversations.tables import ConversationRow, TurnRow
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def number_pairs(session: WriteSession, collection_id: UUID, sides: Sequence[Sides]) -> dict[Sides, int]:
    """Return the numbers of these pairs in the collection; new pairs get new numbers.

    Concurrent uploads wait for each other, so that two pairs never get the same number. Raises NamesLookAlike.
    """
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"pairs/{collection_id}", 0))))
    rows = await session.execute(
        select(PairRow.number, PairRow.participants).where(PairRow.collection_id == collection_id)
    )
    known = {_sides(participants): number for number, participants in rows}
    request = [each for each in dict.fromkeys(sides) if each not in known]
    check_looks(_names_in(request), _names_in(known))
    fresh = dict(zip(request, range(len(known), len(known) + len(request)), strict=True))
    if fresh:
        await session.execute(
            insert(PairRow),
            [
                {
                    "collection_id": collection_id,
                    "number": number,
                    "participants": [side.model_dump(mode="json") for side in each],
                }
                for each, number in fresh.items()
            ],
        )
    return known | fresh


def _names_in(sides: Iterable[Sides]) -> dict[str, None]:
    return dict.fromkeys(side.name for each in sides for side in each)


async def add_conversations(session: WriteSession, conversations: Sequence[Conversation]) -> Sequence[ConversationId]:
    """Store conversations with their turns, and return the ids of the conversations that are new.

    Conversations with a known external id stay unchanged.
    """
    statement = insert(ConversationRow).on_conflict_do_nothing().returning(ConversationRow.id)
    rows = [
        {
            "id": conversation.id,
            "collection_id": conversation.collection_id,
            "pair": conversation.pair,
            "round": conversation.round,
            "external_id": conversation.external_id,
            "state": conversation.state,
            "ended_by": conversation.ended_by,
            "failure": conversation.failure,
            "opening": [*conversation.opening],
            "opening_shown": conversation.opening_shown,
            "personas": None if conversation.personas is None else [*conversation.personas],
            "turns_planned": conversation.turns_planned,
            "turns_said": len(conversation.turns),
            "seed": conversation.seed,
            # A bot's reply to a person is requested by the chat: no runner may claim the conversation.
            "next_bot": None if conversation.has_person else conversation.next_bot,
        }
        for conversation in conversations
    ]
    stored = set(await session.scalars(statement, rows))
    turns = [
        {"conversation_id": conversation.id, "position": position, "text": text, "latency_ms": None}
        for conversation in conversations
        if conversation.id in stored
        for position, text in enumerate(conversation.turns)
    ]
    if turns:
        await session.execute(insert(TurnRow), turns)
    return [ConversationId(row_id) for row_id in stored]


async def get_conversation(session: ReadSession, conversation_id: UUID) -> Conversation:
    conversations = await _with_turns(session, _whole().where(ConversationRow.id == conversation_id))
    if not conversations:
        raise NoSuchConversation(conversation_id=conversation_id)
    return conversations[0]


async def list_conversations(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> list[Conversation]:
    """Return a collection's conversations with their turns, in the order of its plan."""
    statement = _whole().where(ConversationRow.collection_id == collection_id)
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    return await _with_turns(session, statement.order_by(ConversationRow.id).limit(limit))


async def list_conversations_of_bot(
    session: ReadSession, bot_id: UUID, *, after: UUID | None, limit: int
) -> list[Conversation]:
    """Return the conversations that a bot takes part in, with their turns, oldest first."""
    theirs = select(PairRow.collection_id, PairRow.number).where(collections_store.takes_part(bot_id))
    statement = _whole().where(tuple_(ConversationRow.collection_id, ConversationRow.pair).in_(theirs))
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    return await _with_turns(session, statement.order_by(ConversationRow.id).limit(limit))


async def list_claimed(session: ReadSession, job_id: int) -> list[Conversation]:
    """Return the conversations that a runner has claimed, with their turns."""
    claimed = ConversationRow.runner_job_id == bindparam("job_id", job_id, BigInteger)
    return await _with_turns(session, _whole().where(claimed).order_by(ConversationRow.id))


async def list_by_ids(session: ReadSession, ids: Sequence[UUID]) -> list[Conversation]:
    """Return these conversations with their turns, in the order of the plan."""
    return await _with_turns(session, _whole().where(ConversationRow.id.in_(ids)).order_by(ConversationRow.id))


async def list_speakers(session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int) -> list[Speakers]:
    """Return the participants of a collection's conversations, in the order of its plan."""
    statement = (
        select(ConversationRow.id, ConversationRow.state, PairRow.participants)
        .select_from(ConversationRow)
        .join(PairRow)
        .where(ConversationRow.collection_id == collection_id)
        .order_by(ConversationRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    return [
        Speakers(ConversationId(row_id), ConversationState(state), _sides(participants))
        for row_id, state, participants in await session.execute(statement)
    ]


async def list_latencies(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> list[Latencies]:
    """Return the latencies of a collection's conversations, in the order of its plan."""
    latencies = (
        select(func.array_agg(aggregate_order_by(TurnRow.latency_ms, TurnRow.position)))
        .where(TurnRow.conversation_id == ConversationRow.id)
        .scalar_subquery()
    )
    statement = (
        select(ConversationRow.id, latencies)
        .where(ConversationRow.collection_id == collection_id)
        .order_by(ConversationRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    return [Latencies(ConversationId(row_id), tuple(found or ())) for row_id, found in await session.execute(statement)]


_Whole = Select[ConversationRow, list[dict[str, Any]], str, dict[str, Any]]


def _whole() -> _Whole:
    stop = func.coalesce(CollectionRow.plan["stop"], cast({}, JSONB))
    return (
        select(ConversationRow, PairRow.participants, CollectionRow.domain, stop)
        .select_from(ConversationRow)
        .join(PairRow)
        .join(CollectionRow, CollectionRow.id == ConversationRow.collection_id)
    )


async def _with_turns(session: ReadSession, statement: _Whole) -> list[Conversation]:
    rows = (await session.execute(statement)).all()
    turns: dict[UUID, list[str]] = {row.id: [] for row, *_ in rows}
    said = (
        select(TurnRow.conversation_id, TurnRow.text)
        .where(TurnRow.conversation_id.in_(turns))
        .order_by(TurnRow.conversation_id, TurnRow.position)
    )
    for conversation_id, text in await session.execute(said):
        turns[conversation_id].append(text)
    return [
        _conversation(row, _sides(participants), domain, StopRules.model_validate(stop), turns[row.id])
        for row, participants, domain, stop in rows
    ]


def _sides(participants: Sequence[dict[str, Any]]) -> Sides:
    first, second = (Participant.model_validate(side) for side in participants)
    return first, second


def _conversation(
    row: ConversationRow, participants: Sides, domain: str, stop: StopRules, turns: Sequence[str]
) -> Conversation:
    return from_row(
        Conversation,
        row,
        state=ConversationState(row.state),
        participants=participants,
        opening=tuple(row.opening),
        personas=None if row.personas is None else (row.personas[0], row.personas[1]),
        turns=tuple(turns),
        domain=domain,
        ended_by=Ending(row.ended_by) if row.ended_by else None,
        stop=stop,
    )

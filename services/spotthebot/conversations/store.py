"""The only SQL over corpora, collections, conversations and turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations import (
    CollectionId,
    ConversationId,
    ConversationState,
    CorpusId,
    DialogueIn,
    Participant,
    SpeakersOut,
)
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.conversations.domain.errors import (
    CorpusNameTaken,
    NoSuchCollection,
    NoSuchConversation,
    NoSuchCorpus,
)
from spotthebot.conversations.tables import CollectionRow, ConversationRow, CorpusRow, DialogueRow, TurnRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids


@dataclass(frozen=True)
class Corpus:
    """A corpus and its number of dialogues by split."""

    id: CorpusId
    name: str
    domain: str
    origin: str
    licence: str
    dialogues: Mapping[str, int]
    created_at: datetime


@dataclass(frozen=True)
class Collection:
    """A collection and its number of conversations by state."""

    id: CollectionId
    name: str
    domain: str
    mode: str
    conversations: Mapping[str, int]
    turns: int
    created_at: datetime


async def add_corpus(session: WriteSession, *, name: str, domain: str, origin: str, licence: str) -> Corpus:
    """Store an empty corpus; raises CorpusNameTaken."""
    corpus_id = new_id()
    statement = insert(CorpusRow).values(id=corpus_id, name=name, domain=domain, origin=origin, licence=licence)
    added = await session.scalar(statement.on_conflict_do_nothing().returning(CorpusRow.id))
    if added is None:
        raise CorpusNameTaken(name=name)
    return await get_corpus(session, corpus_id)


async def get_corpus(session: ReadSession, corpus_id: UUID) -> Corpus:
    row = await session.get(CorpusRow, corpus_id)
    if row is None:
        raise NoSuchCorpus(corpus_id=corpus_id)
    return (await _with_counts(session, [row]))[0]


async def list_corpora(session: ReadSession, *, name: str | None, after: UUID | None, limit: int) -> list[Corpus]:
    statement = select(CorpusRow).order_by(CorpusRow.id).limit(limit)
    if name is not None:
        statement = statement.where(CorpusRow.name == name)
    if after is not None:
        statement = statement.where(CorpusRow.id > after)
    return await _with_counts(session, list(await session.scalars(statement)))


async def add_dialogues(session: WriteSession, corpus_id: UUID, dialogues: Sequence[DialogueIn]) -> int:
    """Store the dialogues whose keys are new, in order; returns how many."""
    rows = [
        {"id": row_id, "corpus_id": corpus_id, "key": dialogue.key, "split": dialogue.split, "turns": [*dialogue.turns]}
        for row_id, dialogue in zip(new_ids(len(dialogues)), dialogues, strict=True)
    ]
    statement = insert(DialogueRow).values(rows).on_conflict_do_nothing().returning(DialogueRow.id)
    return len((await session.scalars(statement)).all())


async def list_dialogues(
    session: ReadSession, corpus_id: UUID, *, split: str | None, after: UUID | None = None, limit: int | None = None
) -> Sequence[DialogueRow]:
    """Return dialogues in the order of their upload."""
    statement = select(DialogueRow).where(DialogueRow.corpus_id == corpus_id).order_by(DialogueRow.id).limit(limit)
    if split is not None:
        statement = statement.where(DialogueRow.split == split)
    if after is not None:
        statement = statement.where(DialogueRow.id > after)
    return (await session.scalars(statement)).all()


async def add_collection(
    session: WriteSession, *, name: str, domain: str, mode: str, plan: dict[str, Any]
) -> CollectionId:
    collection_id = new_id()
    await session.execute(
        insert(CollectionRow).values(id=collection_id, name=name, domain=domain, mode=mode, plan=plan)
    )
    return CollectionId(collection_id)


async def get_collection(session: ReadSession, collection_id: UUID) -> Collection:
    collections = await _list_collections(session, select(CollectionRow).where(CollectionRow.id == collection_id))
    if not collections:
        raise NoSuchCollection(collection_id=collection_id)
    return collections[0]


async def list_collections(
    session: ReadSession, *, name: str | None, after: UUID | None, limit: int
) -> list[Collection]:
    statement = select(CollectionRow).order_by(CollectionRow.id).limit(limit)
    if name is not None:
        statement = statement.where(CollectionRow.name == name)
    if after is not None:
        statement = statement.where(CollectionRow.id > after)
    return await _list_collections(session, statement)


async def add_conversations(session: WriteSession, conversations: Sequence[Conversation]) -> Sequence[ConversationId]:
    """Store conversations with their turns; those whose external id is known are left as they are.

    Returns the ids of those that were stored.
    """
    statement = insert(ConversationRow).on_conflict_do_nothing().returning(ConversationRow.id)
    rows = [
        {
            "id": conversation.id,
            "collection_id": conversation.collection_id,
            "external_id": conversation.external_id,
            "state": conversation.state,
            "failure": conversation.failure,
            "participants": [side.model_dump(mode="json") for side in conversation.participants],
            "opening": [*conversation.opening],
            "opening_shown": conversation.opening_shown,
            "turns_wanted": conversation.turns_wanted,
            "seed": conversation.seed,
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
    statement = select(ConversationRow).where(ConversationRow.id == conversation_id)
    conversations = await _with_turns(session, statement)
    if not conversations:
        raise NoSuchConversation(conversation_id=conversation_id)
    return conversations[0]


async def list_conversations(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> list[Conversation]:
    """Return a collection's conversations with their turns, in the order of its plan."""
    statement = (
        select(ConversationRow)
        .where(ConversationRow.collection_id == collection_id)
        .order_by(ConversationRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    return await _with_turns(session, statement)


async def list_conversations_of_bot(
    session: ReadSession, bot_id: UUID, *, after: UUID | None, limit: int
) -> list[Conversation]:
    """Return the conversations that a bot takes part in, with their turns, oldest first."""
    takes_part = ConversationRow.participants.contains([{"bot_id": str(bot_id)}])
    statement = select(ConversationRow).where(takes_part).order_by(ConversationRow.id).limit(limit)
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    return await _with_turns(session, statement)


async def list_speakers(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> list[SpeakersOut]:
    """Return who speaks in a collection's conversations, in the order of its plan."""
    statement = (
        select(ConversationRow.id, ConversationRow.state, ConversationRow.participants)
        .where(ConversationRow.collection_id == collection_id)
        .order_by(ConversationRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(ConversationRow.id > after)
    return [
        SpeakersOut.model_validate({"id": row_id, "state": state, "participants": participants})
        for row_id, state, participants in await session.execute(statement)
    ]


async def list_running(session: ReadSession, ids: Sequence[UUID]) -> list[Conversation]:
    """Return those of the conversations that are still to be continued."""
    statement = select(ConversationRow).where(
        ConversationRow.id.in_(ids), ConversationRow.state == ConversationState.RUNNING
    )
    return await _with_turns(session, statement.order_by(ConversationRow.id))


async def add_replies(session: WriteSession, replies: Sequence[tuple[Conversation, Reply]]) -> None:
    """Store a wave: each reply is its conversation's next turn, or its end. A turn that is there already stays."""
    turns, ended = [], []
    for conversation, reply in replies:
        position = len(conversation.turns)
        if reply.text is None:
            ended.append({"conversation": conversation.id, "state": "failed", "failure": reply.failure})
            continue
        turns.append(
            {
                "conversation_id": conversation.id,
                "position": position,
                "text": reply.text,
                "latency_ms": reply.latency_ms,
            }
        )
        if position + 1 >= conversation.turns_wanted:
            ended.append({"conversation": conversation.id, "state": "complete", "failure": None})
    if turns:
        await session.execute(insert(TurnRow).on_conflict_do_nothing(), turns)
    for end in ended:
        await session.execute(
            update(ConversationRow)
            .where(ConversationRow.id == end["conversation"], ConversationRow.state == ConversationState.RUNNING)
            .values(state=end["state"], failure=end["failure"])
        )


async def _with_counts(session: ReadSession, rows: Sequence[CorpusRow]) -> list[Corpus]:
    counts: dict[UUID, dict[str, int]] = {row.id: {} for row in rows}
    statement = (
        select(DialogueRow.corpus_id, DialogueRow.split, func.count())
        .where(DialogueRow.corpus_id.in_(counts))
        .group_by(DialogueRow.corpus_id, DialogueRow.split)
        .order_by(DialogueRow.split)
    )
    for corpus_id, split, count in await session.execute(statement):
        counts[corpus_id][split] = count
    return [
        Corpus(CorpusId(row.id), row.name, row.domain, row.origin, row.licence, counts[row.id], row.created_at)
        for row in rows
    ]


async def _list_collections(session: ReadSession, statement: Select[CollectionRow]) -> list[Collection]:
    rows = (await session.scalars(statement)).all()
    states: dict[UUID, dict[str, int]] = {row.id: {} for row in rows}
    by_state = (
        select(ConversationRow.collection_id, ConversationRow.state, func.count())
        .where(ConversationRow.collection_id.in_(states))
        .group_by(ConversationRow.collection_id, ConversationRow.state)
    )
    for collection_id, state, count in await session.execute(by_state):
        states[collection_id][state] = count
    spoken = (
        select(ConversationRow.collection_id, func.count().label("turns"))
        .join(TurnRow)
        .where(ConversationRow.collection_id.in_(states))
        .group_by(ConversationRow.collection_id)
    )
    turns = {row.collection_id: row.turns for row in await session.execute(spoken)}
    return [
        Collection(
            CollectionId(row.id), row.name, row.domain, row.mode, states[row.id], turns.get(row.id, 0), row.created_at
        )
        for row in rows
    ]


async def _with_turns(session: ReadSession, statement: Select[ConversationRow]) -> list[Conversation]:
    joined = statement.join(CollectionRow).add_columns(CollectionRow.domain)
    rows = (await session.execute(joined)).all()
    turns: dict[UUID, list[str]] = {row.id: [] for row, _ in rows}
    said = (
        select(TurnRow.conversation_id, TurnRow.text)
        .where(TurnRow.conversation_id.in_(turns))
        .order_by(TurnRow.conversation_id, TurnRow.position)
    )
    for conversation_id, text in await session.execute(said):
        turns[conversation_id].append(text)
    return [_conversation(row, domain, turns[row.id]) for row, domain in rows]


def _conversation(row: ConversationRow, domain: str, turns: Sequence[str]) -> Conversation:
    first, second = (Participant.model_validate(side) for side in row.participants)
    return Conversation(
        id=ConversationId(row.id),
        collection_id=CollectionId(row.collection_id),
        external_id=row.external_id,
        state=ConversationState(row.state),
        failure=row.failure,
        participants=(first, second),
        opening=tuple(row.opening),
        opening_shown=row.opening_shown,
        turns=tuple(turns),
        turns_wanted=row.turns_wanted,
        seed=row.seed,
        domain=domain,
    )

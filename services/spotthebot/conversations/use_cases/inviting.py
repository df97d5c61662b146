"""Opening a collection that people chat in, drawing bots for each of them, and finishing it."""

import secrets
from collections.abc import Iterable
from uuid import UUID

from spotthebot.contracts.bots import BotStatus
from spotthebot.contracts.conversations import (
    HUMAN_NAME,
    ChatState,
    CollectionState,
    ConversationId,
    ConversationState,
    HumanBotIn,
    Participant,
    ParticipantKind,
)
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.chats import Chat, Study, draw
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.errors import CollectionNotOpen, NobodyToTalkTo, UnknownBot
from spotthebot.conversations.store.collections import Collection
from spotthebot.conversations.use_cases.planning import find_sides
from spotthebot.conversations.use_cases.telling import tell_finished
from spotthebot.kit.database import Database, WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.jobs import Jobs

_PERSON = Participant(kind=ParticipantKind.HUMAN, name=HUMAN_NAME)
_ASKED = {BotStatus.ACTIVE, BotStatus.PROBING}


async def open_chats(session: WriteSession, bots: Bots, request: HumanBotIn) -> Collection:
    """Open a collection that people chat in; its bots speak throughout in the versions of now."""
    partners = await find_sides(bots, request.bots)
    collection_id = await store.collections.add_collection(
        session,
        name=request.name,
        domain=request.domain,
        mode=request.mode,
        plan=store.chats.plan_of(request, partners),
        state=CollectionState.COLLECTING,
        bots=list(request.bots),
    )
    await store.conversations.number_pairs(session, collection_id, [(_PERSON, partner) for partner in partners])
    return await store.collections.get_collection(session, collection_id)


async def start_chat(session: WriteSession, bots: Bots, collection_id: UUID, interactor: str) -> Chat:
    """Draw bots for a person and begin; whoever has an open chat there gets that one again."""
    study = await store.chats.get_study(session, collection_id)
    if study.state is not CollectionState.COLLECTING:
        raise CollectionNotOpen(name=study.plan.name, state=study.state)
    await store.chats.lock_draws(session, collection_id)
    theirs = await store.chats.list_chats_of(session, collection_id, interactor)
    if open_ones := [chat for chat in theirs if store.chats.is_open(chat)]:
        return open_ones[0]
    used = await store.chats.count_draws(session, collection_id)
    seen = {frozenset(chat.bots) for chat in theirs}
    drawn = await _first_that_answer(bots, draw(study.plan, used=used, seen=seen, chats=sum(used.values())))
    if drawn is None:
        raise NobodyToTalkTo
    chat_id = await store.chats.add_chat(
        session, collection_id=collection_id, interactor=interactor, bots=drawn, conversations=()
    )
    await begin_next(session, study, await store.chats.lock_chat(session, chat_id))
    return await store.chats.get_chat(session, chat_id)


async def begin_next(session: WriteSession, study: Study, chat: Chat) -> None:
    """Begin the next conversation of a chat, in which the person speaks first."""
    bot_id = chat.bots[len(chat.conversations)]
    conversation = Conversation(
        id=ConversationId(new_id()),
        collection_id=study.id,
        external_id=None,
        state=ConversationState.RUNNING,
        failure=None,
        participants=(_PERSON, study.partners[bot_id]),
        opening=(),
        opening_shown=False,
        turns=(),
        turns_wanted=study.plan.maximum_turns,
        seed=secrets.randbelow(2**31),  # what people say can't be repeated anyway
        domain=study.plan.domain,
        pair=study.plan.bots.index(bot_id),  # numbered so when the collection was opened
    )
    await store.conversations.add_conversations(session, [conversation])
    await store.collections.count_in(
        session, study.id, conversations=1, complete=0, turns=0, turns_wanted=study.plan.maximum_turns
    )
    await store.chats.change_chat(session, chat.id, conversations=[*chat.conversations, conversation.id])


async def finish_collection(session: WriteSession, jobs: Jobs, collection_id: UUID) -> Collection:
    """Take no more chats; those that go on count as abandoned. Finishing twice changes nothing."""
    study = await store.chats.get_study(session, collection_id)
    if study.state is CollectionState.CANCELLED:
        raise CollectionNotOpen(name=study.plan.name, state=study.state)
    await store.chats.lock_draws(session, collection_id)
    for chat in await store.chats.lock_chatting(session, collection_id):
        await _abandon(session, chat)
    if await store.chats.finish(session, collection_id):
        await tell_finished(session, jobs, [collection_id])
    return await store.collections.get_collection(session, collection_id)


async def abandon_idle(database: Database, *, limit: int = 1000) -> None:
    """End chats in which nothing was said for too long, each by itself: nobody waits for more than one of them."""
    async with database.read() as session:
        idle = await store.chats.list_idle(session, limit=limit)
    for chat_id in idle:
        async with database.write() as session:
            chat = await store.chats.lock_chat(session, chat_id)
            if chat.state is ChatState.CHATTING:
                await _abandon(session, chat)


async def _abandon(session: WriteSession, chat: Chat) -> None:
    await store.chats.cancel_conversation(session, chat.conversations[-1], "The chat was abandoned.")
    await store.chats.change_chat(session, chat.id, state=ChatState.ABANDONED)
    await store.chats.add_event(session, chat.id, "done", {"state": ChatState.ABANDONED})


async def _first_that_answer(bots: Bots, choices: Iterable[tuple[UUID, ...]]) -> tuple[UUID, ...] | None:
    answers: dict[UUID, bool] = {}
    for choice in choices:
        for bot_id in choice:
            if bot_id not in answers:
                answers[bot_id] = await _is_asked(bots, bot_id)
        if all(answers[bot_id] for bot_id in choice):
            return choice
    return None


async def _is_asked(bots: Bots, bot_id: UUID) -> bool:
    try:
        return (await bots.get(bot_id)).status in _ASKED
    except UnknownBot:
        return False

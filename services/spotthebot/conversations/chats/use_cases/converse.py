"""A person's part in a chat: speak, advance to the next partner, rate."""

from dataclasses import dataclass, replace
from time import time_ns
from uuid import UUID

from spotthebot.contracts.conversations.chats import ChatRatingsIn, ChatState
from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.conversations.chats.domain.chats import TRANSITIONS, Chat, ChatCollection, check_ratings
from spotthebot.conversations.chats.errors import (
    ChatIsOver,
    ConsentRequired,
    NotThisConversation,
    NotTimeToRate,
    PartnerSpeaksNext,
    TooFewTurns,
)
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.conversations.chats.use_cases.start import begin_next
from spotthebot.conversations.chats.use_cases.turns import add_turn_event, request_reply
from spotthebot.conversations.conversations.domain import Conversation, Step
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.store import turns as turns_store
from spotthebot.conversations.conversations.use_cases import record_commits
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.jobs.queue import Jobs


@dataclass(frozen=True)
class ChatView:
    """A chat with its conversations; while chatting, the last conversation is running."""

    chat: Chat
    collection: ChatCollection
    conversations: tuple[Conversation, ...]

    @property
    def awaits_reply(self) -> bool:
        return self.chat.state is ChatState.CHATTING and self.conversations[-1].next_bot is not None

    @property
    def may_advance(self) -> bool:
        said = len(self.conversations[-1].history)
        is_persons = self.chat.state is ChatState.CHATTING and not self.awaits_reply
        return is_persons and said >= self.collection.plan.minimum_turns


async def view_chat(session: WriteSession, chat_id: UUID) -> ChatView:
    """Return a chat as one snapshot, in which state, turns and the number of the last event match."""
    return await _view(session, await chats_store.lock_chat(session, chat_id, shared=True))


async def speak(session: WriteSession, jobs: Jobs, chat_id: UUID, number: int, text: str) -> ChatView:
    """Add the person's turn to the conversation `number` and queue the job that requests the partner's reply.

    Raises NotThisConversation if another conversation is running. So words for one partner never reach the next
    partner.
    """
    view = await _chatting(session, chat_id)
    current = len(view.conversations)
    if number != current:
        fact = "is over" if number < current else "has not begun"
        raise NotThisConversation(number=number, fact=fact, current=current)
    if view.awaits_reply:
        raise PartnerSpeaksNext
    before = view.conversations[-1]
    after = replace(before, turns=(*before.turns, text))
    since, step = time_ns(), Step(before, after, text=text)
    committed = await turns_store.commit_steps(session, [step])
    if before.id not in committed.conversations:
        raise ChatIsOver(state=view.chat.state)
    record_commits([step], committed.conversations, since)
    await add_turn_event(session, chat_id, number, after)
    await chats_store.touch(session, chat_id)
    await request_reply(session, jobs, chat_id, number, after)
    return await view_chat(session, chat_id)


async def advance(session: WriteSession, jobs: Jobs, chat_id: UUID) -> ChatView:
    """End the present conversation and begin the next partner's conversation, or the ratings."""
    view = await _chatting(session, chat_id)
    if view.awaits_reply:
        raise PartnerSpeaksNext
    before = view.conversations[-1]
    if not view.may_advance:
        raise TooFewTurns(said=len(before.history), minimum=view.collection.plan.minimum_turns)
    ended = replace(before, state=ConversationState.COMPLETE, ended_by=Ending.PERSON)
    since, step = time_ns(), Step(before, ended)
    committed = await turns_store.commit_steps(session, [step])
    if before.id not in committed.conversations:
        raise ChatIsOver(state=view.chat.state)
    record_commits([step], committed.conversations, since)
    await continue_chat(session, jobs, view.chat)
    return await view_chat(session, chat_id)


async def rate(session: WriteSession, chat_id: UUID, ratings: ChatRatingsIn) -> ChatView:
    """Store the person's ratings; a repeat replaces the earlier ratings.

    Raises ConsentRequired if the person withdrew their consent.
    """
    view = await _view(session, await chats_store.lock_chat(session, chat_id))
    if ChatState.RATED not in TRANSITIONS[view.chat.state]:
        raise NotTimeToRate(state=view.chat.state)
    if await people_store.has_withdrawn(session, view.collection.id, view.chat.interactor):
        raise ConsentRequired
    check_ratings(view.collection.plan, view.conversations, ratings)
    await chats_store.rate(session, chat_id, ratings)
    return await view_chat(session, chat_id)


async def continue_chat(session: WriteSession, jobs: Jobs, chat: Chat) -> None:
    """Begin the next conversation of a locked chat, or its ratings."""
    await chats_store.touch(session, chat.id)
    if chat.has_next:
        await chats_store.add_event(session, chat.id, "next", {"number": len(chat.conversations) + 1})
        collection = await chats_store.get_chat_collection(session, chat.collection_id)
        await begin_next(session, jobs, collection, chat)
        return
    await chats_store.change_chat(session, chat.id, state=ChatState.RATING)
    await chats_store.add_event(session, chat.id, "done", {"state": ChatState.RATING})


async def _chatting(session: WriteSession, chat_id: UUID) -> ChatView:
    view = await _view(session, await chats_store.lock_chat(session, chat_id))
    is_running = view.conversations[-1].state is ConversationState.RUNNING
    if view.chat.state is not ChatState.CHATTING or not is_running:
        raise ChatIsOver(state=view.chat.state if is_running else "over")
    return view


async def _view(session: ReadSession, chat: Chat) -> ChatView:
    listed = await conversations_store.list_by_ids(session, chat.conversations)
    found: dict[UUID, Conversation] = {each.id: each for each in listed}
    collection = await chats_store.get_chat_collection(session, chat.collection_id)
    return ChatView(chat, collection, tuple(found[each] for each in chat.conversations))

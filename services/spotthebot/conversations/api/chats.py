"""`/v1/chats`: people talk to bots, turn by turn, and rate them; the frontend never learns which bots these are."""

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent

from spotthebot.contracts.conversations import (
    ChatConversationOut,
    ChatIn,
    ChatOut,
    ChatRatingOut,
    ChatRatingsIn,
    ChatState,
    ChatSummaryOut,
    ChatTurn,
    ChatTurnIn,
    CollectionOut,
    ConversationState,
    RatedConversationOut,
)
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import Admin, ChatReader, Chatter, JobQueue, Reader, Watch
from spotthebot.conversations.api.fetched import ReplyingBots
from spotthebot.conversations.api.shapes import collection_out
from spotthebot.conversations.domain.chats import Chat
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.use_cases.chats import converse
from spotthebot.conversations.use_cases.chats.start import start_chat as start
from spotthebot.conversations.use_cases.chats.study import finish_study
from spotthebot.kit.database import Database
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing, get_database

router = APIRouter(prefix="/v1", tags=["chats"], route_class=IdempotentRoute)

_EVENTS_AT_ONCE = 500


@router.post("/chats", status_code=201, operation_id="start_chat")
async def start_chat(replying: ReplyingBots, session: Writing, _caller: Chatter, request: ChatIn) -> ChatOut:
    """Draw bots for a person to talk to; a person with an open chat in the collection gets that chat again."""
    chat = await start(session, request.collection_id, request.interactor, replying.result())
    return _to_out(await converse.view_chat(session, chat.id))


@router.get("/chats/{chat_id}", operation_id="get_chat")
async def get_chat(session: Writing, _caller: ChatReader, chat_id: UUID) -> ChatOut:
    """Return a chat with all its turns, and the number of its last event."""
    return _to_out(await converse.view_chat(session, chat_id))


@router.post("/chats/{chat_id}/turns", status_code=202, operation_id="say_in_chat")
async def speak(session: Writing, _caller: Chatter, jobs: JobQueue, chat_id: UUID, said: ChatTurnIn) -> ChatOut:
    """Say something; the partner's reply comes as an event."""
    return _to_out(await converse.speak(session, jobs, chat_id, said.number, said.text))


@router.post("/chats/{chat_id}/advance", operation_id="advance_chat")
async def advance(session: Writing, _caller: Chatter, chat_id: UUID) -> ChatOut:
    """Go on to the next partner, or to the ratings, once the least number of turns was said."""
    return _to_out(await converse.advance(session, chat_id))


@router.put("/chats/{chat_id}/ratings", operation_id="rate_chat")
async def rate(session: Writing, _caller: ChatReader, chat_id: UUID, ratings: ChatRatingsIn) -> ChatOut:
    """Rate each conversation, and say which was better; ratings sent again replace the earlier ones."""
    return _to_out(await converse.rate(session, chat_id, ratings))


async def _known(session: Reading, _caller: ChatReader, chat_id: UUID) -> UUID:
    return (await store.chats.get_chat(session, chat_id)).id


@router.get("/chats/{chat_id}/events", operation_id="watch_chat", response_class=EventSourceResponse)
async def watch_chat(
    chat_id: Annotated[UUID, Depends(_known)],
    database: Annotated[Database, Depends(get_database)],
    watch: Watch,
    last_event_id: Annotated[
        int, Header(alias="Last-Event-ID", ge=0, lt=2**31, description="Send only events after this one.")
    ] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Stream events as they happen: `turn`, `typing`, `failed`, `next`, and `done`, which is the last.

    A client that was cut off sends the id of its last event as `Last-Event-ID`, as browsers do, and misses nothing.
    """
    last = last_event_id
    while True:
        async with database.read() as session:
            chat = await store.chats.get_chat(session, chat_id)
            events = await store.chats.list_events(session, chat_id, after=last, limit=_EVENTS_AT_ONCE)
        for event in events:
            yield ServerSentEvent(id=str(event.number), event=event.kind, data=event.data, retry=1000)
            last = event.number
        if not events:
            if chat.state is not ChatState.CHATTING:
                return
            await watch.wait_beyond(chat_id, last)


@router.post("/collections/{collection_id}/finish", operation_id="finish_collection")
async def finish_collection(session: Writing, _caller: Admin, jobs: JobQueue, collection_id: UUID) -> CollectionOut:
    """Take no more chats; those that go on count as abandoned, those that are over can still be rated."""
    return collection_out(await finish_study(session, jobs, collection_id))


@router.get("/collections/{collection_id}/chats", operation_id="list_chats")
async def list_chats(session: Reading, _caller: Reader, collection_id: UUID, paging: Paging) -> Page[ChatSummaryOut]:
    """List a collection's chats with their bots, oldest first."""
    await store.chats.get_study(session, collection_id)
    rows = await store.chats.list_chats(session, collection_id, rated=False, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda chat: chat.id, to_out=_summary)


@router.get("/collections/{collection_id}/ratings", operation_id="list_chat_ratings")
async def list_ratings(session: Reading, _caller: Reader, collection_id: UUID, paging: Paging) -> Page[ChatRatingOut]:
    """List how people rated their chats, with the bots, oldest chat first."""
    study = await store.chats.get_study(session, collection_id)
    rows = await store.chats.list_chats(session, collection_id, rated=True, after=paging.after, limit=paging.limit + 1)

    def to_out(chat: Chat) -> ChatRatingOut:
        scores = {each.number: each.scores for each in chat.ratings.conversations} if chat.ratings else {}
        preferred = chat.ratings.preferred if chat.ratings else None
        return ChatRatingOut(
            chat_id=chat.id,
            interactor=chat.interactor,
            conversations=tuple(
                RatedConversationOut(
                    conversation_id=conversation_id, participant=study.partners[bot], scores=scores.get(number, {})
                )
                for number, (bot, conversation_id) in enumerate(zip(chat.bots, chat.conversations, strict=False), 1)
            ),
            preferred=chat.conversations[preferred - 1] if preferred else None,
            rated_at=chat.rated_at or chat.last_turn_at,
        )

    return page_of(rows, paging, key=lambda chat: chat.id, to_out=to_out)


def _summary(chat: Chat) -> ChatSummaryOut:
    return ChatSummaryOut(
        id=chat.id,
        interactor=chat.interactor,
        state=chat.state,
        bots=chat.bots,
        conversations=chat.conversations,
        created_at=chat.created_at,
        last_turn_at=chat.last_turn_at,
    )


def _to_out(view: converse.ChatView) -> ChatOut:
    plan = view.study.plan
    return ChatOut(
        id=view.chat.id,
        state=view.chat.state,
        conversations=tuple(_conversation(number, each) for number, each in enumerate(view.conversations, start=1)),
        partners=len(view.chat.bots),
        minimum_turns=plan.minimum_turns,
        maximum_turns=plan.maximum_turns,
        awaits_reply=view.awaits_reply,
        may_advance=view.may_advance,
        questions=plan.questions,
        last_event=view.chat.events,
    )


def _conversation(number: int, conversation: Conversation) -> ChatConversationOut:
    return ChatConversationOut(
        number=number,
        over=conversation.state is not ConversationState.RUNNING,
        broken_off=conversation.state is ConversationState.FAILED,
        turns=tuple(
            ChatTurn(speaker="partner" if position % 2 else "you", text=text)
            for position, text in enumerate(conversation.turns)
        ),
    )

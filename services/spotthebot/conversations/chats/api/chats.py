"""`/v1/chats`: people talk to bots and rate them. The frontend never learns which bots take part."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from spotthebot.contracts.access import Role
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chat_entries import ChatIn, ChatTokenOut
from spotthebot.contracts.conversations.chats import (
    ChatConversationOut,
    ChatOut,
    ChatRatingsIn,
    ChatState,
    ChatSummaryOut,
    ChatTurnIn,
)
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.contracts.conversations.progress import ChatBotOut, ChatBotsOut
from spotthebot.conversations.chats.api.access import (
    ChatListener,
    ChatReader,
    Chatter,
    Chatting,
    FrontendsClaim,
    expiry_of,
)
from spotthebot.conversations.chats.domain.chats import BotProgress, Chat, persona_of_person, shown_turns
from spotthebot.conversations.chats.domain.people import pseudonym_of
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.conversations.chats.store import progress as progress_store
from spotthebot.conversations.chats.store import tokens as tokens_store
from spotthebot.conversations.chats.use_cases import converse as converse_use_cases
from spotthebot.conversations.chats.use_cases.collection import finish_chat_collection
from spotthebot.conversations.chats.use_cases.converse import ChatView, view_chat
from spotthebot.conversations.chats.use_cases.start import find_replying_bots
from spotthebot.conversations.chats.use_cases.start import start_chat as start
from spotthebot.conversations.chats.use_cases.watch import require_room
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.api import collection_out
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.deps import Admin, Reader
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool, Reading, Writing

_EVENTS_AT_ONCE = 500


class _NoMoreEventsError(Exception):
    """Ends a request for events if the chat will have no more events."""


class _ChatRoute(IdempotentRoute):
    """Answers 204 if no event will follow, which stops an `EventSource` that reconnects after the event `done`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except _NoMoreEventsError:
                return Response(status_code=204)

        return handler


router = APIRouter(prefix="/v1", tags=["chats"], route_class=_ChatRoute)


@router.post("/chats", status_code=201, operation_id="start_chat")
async def start_chat(claim: FrontendsClaim, database: Pool, resources: ServiceResources, request: ChatIn) -> ChatOut:
    """Draw bots for a person to talk to. A person with an open chat in the collection gets the same chat again."""
    replying = await find_replying_bots(database, resources.bots, request.collection_id, request.interactor)
    session = await claim.begin()
    chat = await start(session, resources.jobs, request, replying, admit=resources.new_people.admit)
    return _to_out(await view_chat(session, chat.id))


@router.get("/chats/{chat_id}", operation_id="get_chat")
async def get_chat(session: Writing, _caller: ChatReader, chat_id: UUID) -> ChatOut:
    """Return a chat with all its turns, and the number of its last event."""
    return _to_out(await view_chat(session, chat_id))


@router.put("/chats/{chat_id}/token", operation_id="replace_chat_token")
async def replace_token(
    session: Writing, _caller: Chatting, resources: ServiceResources, now: Now, chat_id: UUID
) -> ChatTokenOut:
    """Make a new token with which the person's browser may use only this chat. The previous token becomes invalid."""
    expires_at = now + timedelta(seconds=resources.settings.chat_token_seconds)
    token = await tokens_store.replace_token(session, chat_id, expires_at)
    return ChatTokenOut(token=token, expires_at=expires_at)


@router.post("/chats/{chat_id}/turns", status_code=202, operation_id="say_in_chat")
async def speak(
    session: Writing, _caller: Chatter, resources: ServiceResources, chat_id: UUID, said: ChatTurnIn
) -> ChatOut:
    """Add the person's turn; the partner's reply arrives as an event."""
    return _to_out(await converse_use_cases.speak(session, resources.jobs, chat_id, said.number, said.text))


@router.post("/chats/{chat_id}/advance", operation_id="advance_chat")
async def advance(session: Writing, _caller: Chatter, resources: ServiceResources, chat_id: UUID) -> ChatOut:
    """Advance to the next partner, or to the ratings; only after the minimum number of turns."""
    return _to_out(await converse_use_cases.advance(session, resources.jobs, chat_id))


@router.put("/chats/{chat_id}/ratings", operation_id="rate_chat")
async def rate(session: Writing, _caller: ChatReader, chat_id: UUID, ratings: ChatRatingsIn) -> ChatOut:
    """Rate each conversation, and name the better one; a repeat replaces the earlier ratings.

    If `compares` of the chat is `each_question`, also name the better one for each question.
    """
    return _to_out(await converse_use_cases.rate(session, chat_id, ratings))


LastEventId = Annotated[
    int, Header(alias="Last-Event-ID", ge=0, lt=2**31, description="Send only events after this one.")
]
TokenInUrl = Annotated[
    str | None, Query(alias="token", description="The chat's token, where no header can be sent; or a cookie.")
]


async def _with_events_to_come(
    session: Reading,
    _caller: ChatListener,
    resources: ServiceResources,
    chat_id: UUID,
    last_event_id: LastEventId = 0,
    _token: TokenInUrl = None,
) -> UUID:
    chat = await chats_store.get_chat(session, chat_id)
    if chat.state is not ChatState.CHATTING and not await chats_store.list_events(
        session, chat_id, after=last_event_id, limit=1
    ):
        raise _NoMoreEventsError
    require_room(resources.chat_watch, chat_id)
    return chat_id


@router.get(
    "/chats/{chat_id}/events",
    operation_id="watch_chat",
    response_class=EventSourceResponse,
    responses={204: {"description": "The chat is over, and the client has all its events."}},
)
async def watch_chat(
    chat_id: Annotated[UUID, Depends(_with_events_to_come)],
    request: Request,
    database: Pool,
    resources: ServiceResources,
    now: Now,
    last_event_id: LastEventId = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Stream events as they happen: `turn`, `typing`, `failed`, `next`, and finally `done`.

    A reconnecting client sends the id of its last event as `Last-Event-ID`, as browsers do, and misses no event. A
    browser's `EventSource` sends the chat's token as `?token=` or as the cookie `spotthebot_chat`. The stream ends when
    the token expires.
    """
    watch = resources.chat_watch
    last, expires_at = last_event_id, expiry_of(request)
    ends_at = None if expires_at is None else asyncio.get_running_loop().time() + (expires_at - now).total_seconds()
    with watch.listening(chat_id):
        while True:
            async with database.read() as session:
                chat = await chats_store.get_chat(session, chat_id)
                events = await chats_store.list_events(session, chat_id, after=last, limit=_EVENTS_AT_ONCE)
            for event in events:
                yield ServerSentEvent(id=str(event.number), event=event.kind, data=event.data, retry=1000)
                last = event.number
            if events:
                continue
            if chat.state is not ChatState.CHATTING:
                return
            try:
                async with asyncio.timeout_at(ends_at):
                    await watch.wait_beyond(chat_id, last)
            except TimeoutError:
                return


@router.post("/collections/{collection_id}/finish", operation_id="finish_collection")
async def finish_collection(
    session: Writing, _caller: Admin, resources: ServiceResources, collection_id: UUID
) -> CollectionOut:
    """Close a collection to new chats. Running chats count as abandoned; finished chats can still be rated."""
    return collection_out(await finish_chat_collection(session, resources.jobs, collection_id))


@router.get("/collections/{collection_id}/chats", operation_id="list_chats")
async def list_chats(session: Reading, caller: Reader, collection_id: UUID, paging: Paging) -> Page[ChatSummaryOut]:
    """List a collection's chats with their bots, oldest first; administrators also see the people's ids."""
    await chats_store.get_chat_collection(session, collection_id)
    key = (await collections_store.get_source(session, collection_id)).pseudonym_key
    rows = await chats_store.list_chats(session, collection_id, rated=False, after=paging.after, limit=paging.limit + 1)
    kinds = await people_store.get_kinds(session, collection_id, rows)
    return page_of(
        rows,
        paging,
        key=lambda chat: chat.id,
        to_out=lambda chat: _summary(chat, kinds[chat.interactor], key, knows_people=caller.role == Role.ADMIN),
    )


@router.get("/collections/{collection_id}/chat-bots", operation_id="list_chat_bots")
async def list_chat_bots(session: Reading, _caller: Reader, collection_id: UUID) -> ChatBotsOut:
    """Return how many conversations people had with each bot, and how many of them they rated."""
    collection = await chats_store.get_chat_collection(session, collection_id)
    found = await progress_store.count_by_bot(session, collection_id)
    return ChatBotsOut(
        bots=tuple(
            ChatBotOut.of(found.get(bot_id, BotProgress({}, 0)), bot_id=bot_id, name=collection.partners[bot_id].name)
            for bot_id in collection.plan.bots
        )
    )


def _summary(chat: Chat, kind: AnnotatorKind, key: bytes | None, *, knows_people: bool) -> ChatSummaryOut:
    return ChatSummaryOut(
        id=chat.id,
        interactor=pseudonym_of(chat.interactor, kind, key),
        interactor_kind=kind,
        person=chat.interactor if knows_people else None,
        link=chat.link,
        state=chat.state,
        bots=chat.bots,
        conversations=chat.conversations,
        created_at=chat.created_at,
        last_turn_at=chat.last_turn_at,
    )


def _to_out(view: ChatView) -> ChatOut:
    plan = view.collection.plan
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
        compares=plan.compares,
        asks_consent=bool(plan.consent),
        last_event=view.chat.events,
    )


def _conversation(number: int, conversation: Conversation) -> ChatConversationOut:
    return ChatConversationOut(
        number=number,
        over=conversation.state is not ConversationState.RUNNING,
        broken_off=conversation.state is ConversationState.FAILED,
        turns=shown_turns(conversation),
        opening=len(conversation.opening),
        persona=persona_of_person(conversation),
    )

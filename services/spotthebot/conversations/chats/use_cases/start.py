"""Starting a chat: bots are drawn for a person, and the first conversation begins."""

import secrets
from collections.abc import Callable
from uuid import UUID

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chat_entries import ChatIn
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.contracts.conversations.ids import ConversationId
from spotthebot.contracts.terms import consent_sha256_of
from spotthebot.conversations.chats.domain.chats import Chat, ChatCollection, allowance, draw
from spotthebot.conversations.chats.domain.people import require_kind
from spotthebot.conversations.chats.errors import (
    ChatEndedMeanwhile,
    ChatLinkRevoked,
    ChatLinkUsedUp,
    CollectionNotOpen,
    ConsentRequired,
    ConsentToAnotherText,
    NobodyToTalkTo,
    NoConversationsLeft,
)
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import links as links_store
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.conversations.chats.store import progress as progress_store
from spotthebot.conversations.chats.use_cases.turns import add_turn_event, request_reply
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import REQUESTS_TURNS
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.turn_loop.domain import REPLIES
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.jobs.queue import Jobs


async def find_replying_bots(
    database: Database, bots: Bots, collection_id: UUID, interactor: str
) -> frozenset[UUID] | None:
    """Return the bots of a collection of chats that reply at present; None if the person has an open chat.

    No transaction is open while `bots` is asked. Raises NoSuchCollection, NotForChats, CollectionNotOpen, PEER_TROUBLE.
    """
    async with database.read() as session:
        collection = await _get_open_collection(session, collection_id)
        theirs = await chats_store.list_chats_of(session, collection_id, interactor)
    if any(chat.is_open for chat in theirs):
        return None
    found = await bots.find_all(collection.plan.bots)
    return frozenset(bot.id for bot in found if bot.status in REPLIES)


async def start_chat(
    session: WriteSession,
    jobs: Jobs,
    request: ChatIn,
    replying: frozenset[UUID] | None,
    *,
    admit: Callable[[str, str | None], None] = lambda _link, _address: None,
) -> Chat:
    """Draw bots for a person and begin the first conversation; a person with an open chat gets that chat again.

    A person who withdrew their consent has to consent again for either.

    Only bots in `replying` are drawn. `replying` is None if the person had an open chat, so that no bot was asked;
    ChatEndedMeanwhile is raised if that chat has ended since. `admit` is called with the link and the address of a
    person who has not chatted in this collection before.

    Raises CollectionNotOpen, OtherInteractorKind and ProgramNameUnusable; for a new chat also NobodyToTalkTo if no bot
    can talk, NoConversationsLeft, ConsentRequired, ConsentToAnotherText, and by a link ChatLinkRevoked, ChatLinkUsedUp
    and the errors of `admit`.
    """
    collection_id, interactor, link = request.collection_id, request.interactor, request.link
    # First the locks, then the state: a collection that is finished meanwhile begins no chat. `finish` holds the same
    # lock on draws, `cancel` the lock on the collection.
    await chats_store.lock_draws(session, collection_id)
    await collections_store.lock_collection(session, collection_id)
    collection = await _get_open_collection(session, collection_id)
    require_kind(interactor, request.kind, known=await people_store.find_kind(session, collection_id, interactor))
    if link is not None:
        require_kind(interactor, request.kind, known=AnnotatorKind.PERSON)
    theirs = await chats_store.list_chats_of(session, collection_id, interactor)
    if open_ones := [chat for chat in theirs if chat.is_open]:
        await _require_consent(session, collection, interactor, request.consent_sha256)
        await people_store.add_person(
            session, collection_id, interactor, request.kind, consent_sha256=request.consent_sha256
        )
        return open_ones[0]
    await require_link(session, collection_id, link)
    allowed = allowance(collection.plan, theirs)
    if allowed.chats_left == 0:
        raise NoConversationsLeft(started=allowed.started, limit=collection.plan.conversations_per_person)
    if link is not None:
        if not theirs:
            admit(link, request.address)
        others = await links_store.count_people(session, collection_id, link, but=interactor)
        if request.max_people is not None and others >= request.max_people:
            raise ChatLinkUsedUp(limit=request.max_people)
    await _require_consent(session, collection, interactor, request.consent_sha256)
    if replying is None:
        raise ChatEndedMeanwhile
    used = await chats_store.count_draws(session, collection_id)
    seen = {frozenset(chat.bots) for chat in theirs}
    held = await progress_store.count_held(session, collection_id)
    choices = draw(collection.plan, used=used, held=held, seen=seen, chats=sum(used.values()))
    drawn = next((choice for choice in choices if replying.issuperset(choice)), None)
    if drawn is None:
        raise NobodyToTalkTo
    await people_store.add_person(
        session, collection_id, interactor, request.kind, consent_sha256=request.consent_sha256
    )
    chat_id = await chats_store.add_chat(
        session, collection_id=collection_id, interactor=interactor, bots=drawn, conversations=(), link=link
    )
    await begin_next(session, jobs, collection, await chats_store.lock_chat(session, chat_id))
    return await chats_store.get_chat(session, chat_id)


async def _require_consent(
    session: ReadSession, collection: ChatCollection, interactor: str, given: str | None
) -> None:
    """Raise ConsentRequired unless the person consents now or did before; raise ConsentToAnotherText."""
    asked = consent_sha256_of(collection.plan.consent)
    if given not in {None, asked}:
        raise ConsentToAnotherText
    if given != asked and await people_store.find_consent(session, collection.id, interactor) != asked:
        raise ConsentRequired


async def require_link(session: ReadSession, collection_id: UUID, link: str | None) -> None:
    """Raise ChatLinkRevoked if the link was revoked."""
    if link is not None and await links_store.is_revoked(session, collection_id, link):
        raise ChatLinkRevoked


async def begin_next(session: WriteSession, jobs: Jobs, collection: ChatCollection, chat: Chat) -> None:
    """Begin the next conversation of a chat with the collection's opening."""
    bot_id, first_words = chat.bots[len(chat.conversations)], collection.plan.opening.first_words
    pool = collection.plan.personas
    conversation = Conversation(
        id=ConversationId(new_id()),
        collection_id=collection.id,
        external_id=None,
        state=ConversationState.RUNNING,
        failure=None,
        participants=collection.sides(collection.partners[bot_id]),
        opening=() if first_words is None else (first_words,),
        opening_shown=first_words is not None,
        turns=(),
        turns_planned=collection.turns_planned,
        seed=secrets.randbelow(2**31),  # people's turns can't be reproduced anyway
        domain=collection.plan.domain,
        pair=collection.plan.bots.index(bot_id),  # numbered so when the collection was opened
        personas=await corpora_store.draw_personas(session, pool.corpus_id, split=pool.split) if pool else None,
    )
    await conversations_store.add_conversations(session, [conversation])
    await collections_store.count_in(
        session, collection.id, conversations=1, complete=0, turns=0, turns_planned=conversation.turns_planned
    )
    await chats_store.change_chat(session, chat.id, conversations=[*chat.conversations, conversation.id])
    number = len(chat.conversations) + 1
    if conversation.opening:
        await add_turn_event(session, chat.id, number, conversation)
    if conversation.next_bot is not None:
        await request_reply(session, jobs, chat.id, number, conversation)


async def _get_open_collection(session: ReadSession, collection_id: UUID) -> ChatCollection:
    collection = await chats_store.get_chat_collection(session, collection_id)
    if collection.state not in REQUESTS_TURNS:
        raise CollectionNotOpen(name=collection.plan.name, state=collection.state)
    return collection

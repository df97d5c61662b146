"""Starting a chat: bots are drawn for a person, and the first conversation begins."""

import secrets
from collections.abc import Callable
from uuid import UUID

from spotthebot.contracts.conversations.chats import ChatIn
from spotthebot.contracts.conversations.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.contracts.conversations.ids import ConversationId
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.conversations.chats.domain import Chat, Study, draw
from spotthebot.conversations.chats.errors import (
    ChatEndedMeanwhile,
    ChatLinkRevoked,
    ChatLinkUsedUp,
    CollectionNotOpen,
    NobodyToTalkTo,
)
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import links as links_store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import REQUESTS_TURNS
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.turn_loop.domain import REPLIES
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.ids import new_id

PERSON = Participant(kind=ParticipantKind.HUMAN, name=HUMAN_NAME)


async def find_replying_bots(
    database: Database, bots: Bots, collection_id: UUID, interactor: str
) -> frozenset[UUID] | None:
    """Return the bots of a study that reply at present, None for a person with an open chat, who needs none.

    No transaction is open while `bots` is asked. Raises NoSuchCollection, NotForChats, CollectionNotOpen,
    PEER_TROUBLE.
    """
    async with database.read() as session:
        study = await _get_open_study(session, collection_id)
        theirs = await chats_store.list_chats_of(session, collection_id, interactor)
    if any(chat.is_open for chat in theirs):
        return None
    found = await bots.find_all(study.plan.bots)
    return frozenset(bot.id for bot in found if bot.status in REPLIES)


async def start_chat(
    session: WriteSession,
    request: ChatIn,
    replying: frozenset[UUID] | None,
    *,
    admit: Callable[[str, str | None], None] = lambda _link, _address: None,
) -> Chat:
    """Draw bots for a person and begin the first conversation; a person with an open chat gets that chat again.

    Only bots in `replying` are drawn; None stands for a person who had an open chat. Raises CollectionNotOpen,
    NobodyToTalkTo, ChatEndedMeanwhile, and for a new chat of a person who came by a link ChatLinkRevoked,
    ChatLinkUsedUp and what `admit` raises, which gets the link and the address of a person who never chatted here.
    """
    collection_id, interactor, link = request.collection_id, request.interactor, request.link
    # First the locks, then the state: a collection that is finished meanwhile begins no chat. `finish` holds the same
    # lock on draws, `cancel` that on the collection.
    await chats_store.lock_draws(session, collection_id)
    await collections_store.lock_collection(session, collection_id)
    study = await _get_open_study(session, collection_id)
    theirs = await chats_store.list_chats_of(session, collection_id, interactor)
    if open_ones := [chat for chat in theirs if chat.is_open]:
        return open_ones[0]
    await require_link(session, collection_id, link)
    if link is not None:
        if not theirs:
            admit(link, request.address)
        others = await links_store.count_people(session, collection_id, link, but=interactor)
        if request.max_people is not None and others >= request.max_people:
            raise ChatLinkUsedUp(limit=request.max_people)
    if replying is None:
        raise ChatEndedMeanwhile
    used = await chats_store.count_draws(session, collection_id)
    seen = {frozenset(chat.bots) for chat in theirs}
    choices = draw(study.plan, used=used, seen=seen, chats=sum(used.values()))
    drawn = next((choice for choice in choices if replying.issuperset(choice)), None)
    if drawn is None:
        raise NobodyToTalkTo
    chat_id = await chats_store.add_chat(
        session, collection_id=collection_id, interactor=interactor, bots=drawn, conversations=(), link=link
    )
    await begin_next(session, study, await chats_store.lock_chat(session, chat_id))
    return await chats_store.get_chat(session, chat_id)


async def require_link(session: ReadSession, collection_id: UUID, link: str | None) -> None:
    """Raise ChatLinkRevoked where somebody came by a link that was revoked."""
    if link is not None and await links_store.is_revoked(session, collection_id, link):
        raise ChatLinkRevoked


async def begin_next(session: WriteSession, study: Study, chat: Chat) -> None:
    """Begin the next conversation of a chat, in which the person speaks first."""
    bot_id = chat.bots[len(chat.conversations)]
    conversation = Conversation(
        id=ConversationId(new_id()),
        collection_id=study.id,
        external_id=None,
        state=ConversationState.RUNNING,
        failure=None,
        participants=(PERSON, study.partners[bot_id]),
        opening=(),
        opening_shown=False,
        turns=(),
        turns_planned=study.plan.maximum_turns,
        seed=secrets.randbelow(2**31),  # people's turns can't be reproduced anyway
        domain=study.plan.domain,
        pair=study.plan.bots.index(bot_id),  # numbered so when the collection was opened
    )
    await conversations_store.add_conversations(session, [conversation])
    await collections_store.count_in(
        session, study.id, conversations=1, complete=0, turns=0, turns_planned=study.plan.maximum_turns
    )
    await chats_store.change_chat(session, chat.id, conversations=[*chat.conversations, conversation.id])


async def _get_open_study(session: ReadSession, collection_id: UUID) -> Study:
    study = await chats_store.get_study(session, collection_id)
    if study.state not in REQUESTS_TURNS:
        raise CollectionNotOpen(name=study.plan.name, state=study.state)
    return study

"""A collection of chats with people: an operator opens it with its bots, and finishes it."""

from uuid import UUID

from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.conversations.chats.errors import CollectionNotOpen
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.use_cases.idle import abandon
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import Collection
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.events.use_cases import publish_finished_collections
from spotthebot.conversations.participants.use_cases import Participants
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.jobs.queue import Jobs


async def open_chat_collection(session: WriteSession, request: HumanBotIn, participants: Participants) -> Collection:
    """Open a collection of chats with people; its bots keep their present versions."""
    partners = participants.sides(participants.bots)
    collection_id = await collections_store.add_collection(
        session,
        name=request.name,
        domain=request.domain,
        mode=request.mode,
        plan=chats_store.plan_of(request, partners),
        state=CollectionState.COLLECTING,
        bots=list(request.bots),
    )
    opened = await chats_store.get_chat_collection(session, collection_id)
    await conversations_store.number_pairs(session, collection_id, [opened.sides(partner) for partner in partners])
    return await collections_store.get_collection(session, collection_id)


async def finish_chat_collection(session: WriteSession, jobs: Jobs, collection_id: UUID) -> Collection:
    """Close a collection to new chats and abandon its running chats. Finishing it again changes nothing."""
    collection = await chats_store.get_chat_collection(session, collection_id)
    if collection.state is CollectionState.CANCELLED:
        raise CollectionNotOpen(name=collection.plan.name, state=collection.state)
    await chats_store.lock_draws(session, collection_id)
    for chat in await chats_store.lock_chatting(session, collection_id):
        await abandon(session, chat)
    if await collections_store.change_state(session, [collection_id], CollectionState.COMPLETE):
        await publish_finished_collections(session, jobs, [collection_id])
    return await collections_store.get_collection(session, collection_id)

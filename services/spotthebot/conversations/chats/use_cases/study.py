"""Studies: collections of human-bot chats, opened with their bots and finished by the operator."""

from uuid import UUID

from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.conversations.chats.errors import CollectionNotOpen
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.use_cases.idle import abandon
from spotthebot.conversations.chats.use_cases.start import PERSON
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import Collection
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.events.use_cases import publish_finished_collections
from spotthebot.conversations.participants.use_cases import Participants
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.jobs import Jobs


async def open_study(session: WriteSession, request: HumanBotIn, participants: Participants) -> Collection:
    """Open a collection that people chat in; its bots keep the versions they have now."""
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
    await conversations_store.number_pairs(session, collection_id, [(PERSON, partner) for partner in partners])
    return await collections_store.get_collection(session, collection_id)


async def finish_study(session: WriteSession, jobs: Jobs, collection_id: UUID) -> Collection:
    """Close a study to new chats and abandon those that are running. Finishing twice changes nothing."""
    study = await chats_store.get_study(session, collection_id)
    if study.state is CollectionState.CANCELLED:
        raise CollectionNotOpen(name=study.plan.name, state=study.state)
    await chats_store.lock_draws(session, collection_id)
    for chat in await chats_store.lock_chatting(session, collection_id):
        await abandon(session, chat)
    if await collections_store.change_state(session, [collection_id], CollectionState.COMPLETE):
        await publish_finished_collections(session, jobs, [collection_id])
    return await collections_store.get_collection(session, collection_id)

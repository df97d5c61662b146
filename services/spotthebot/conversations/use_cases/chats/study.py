"""Studies: collections of human-bot chats, opened with their bots and finished by the operator."""

from uuid import UUID

from spotthebot.contracts.conversations import CollectionState, HumanBotIn
from spotthebot.conversations import store
from spotthebot.conversations.domain.collections import Collection
from spotthebot.conversations.domain.errors import CollectionNotOpen
from spotthebot.conversations.use_cases.chats.idle import abandon
from spotthebot.conversations.use_cases.chats.start import PERSON
from spotthebot.conversations.use_cases.collections.participants import Participants
from spotthebot.conversations.use_cases.events import publish_finished_collections
from spotthebot.kit.database import WriteSession
from spotthebot.kit.jobs import Jobs


async def open_study(session: WriteSession, request: HumanBotIn, participants: Participants) -> Collection:
    """Open a collection that people chat in; its bots keep the versions they have now."""
    partners = participants.sides(participants.bots)
    collection_id = await store.collections.add_collection(
        session,
        name=request.name,
        domain=request.domain,
        mode=request.mode,
        plan=store.chats.plan_of(request, partners),
        state=CollectionState.COLLECTING,
        bots=list(request.bots),
    )
    await store.conversations.number_pairs(session, collection_id, [(PERSON, partner) for partner in partners])
    return await store.collections.get_collection(session, collection_id)


async def finish_study(session: WriteSession, jobs: Jobs, collection_id: UUID) -> Collection:
    """Close a study to new chats and abandon those that are running. Finishing twice changes nothing."""
    study = await store.chats.get_study(session, collection_id)
    if study.state is CollectionState.CANCELLED:
        raise CollectionNotOpen(name=study.plan.name, state=study.state)
    await store.chats.lock_draws(session, collection_id)
    for chat in await store.chats.lock_chatting(session, collection_id):
        await abandon(session, chat)
    if await store.collections.change_state(session, [collection_id], CollectionState.COMPLETE):
        await publish_finished_collections(session, jobs, [collection_id])
    return await store.collections.get_collection(session, collection_id)

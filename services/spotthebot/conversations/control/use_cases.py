"""Controlling collections: pause, resume, cancel, rename, prioritise."""

from uuid import UUID

from spotthebot.contracts.conversations.collections import CollectionChangesIn, CollectionState
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import CANCELLED, COLLECTING, PAUSED, Collection, require_transition
from spotthebot.conversations.control import store
from spotthebot.conversations.events.use_cases import publish_cancelled_collection
from spotthebot.conversations.turn_loop.use_cases.maintenance import queue_runners
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.jobs.queue import Jobs


async def pause(session: WriteSession, collection_id: UUID) -> Collection:
    """Pause a collection; replies to pending requests are still committed. Pausing twice changes nothing."""
    collection, _ = await _change_state(session, collection_id, PAUSED, verb="pause")
    return collection


async def resume(session: WriteSession, jobs: Jobs, collection_id: UUID, *, batch: int) -> Collection:
    """Continue a paused collection. Resuming twice changes nothing."""
    collection, _ = await _change_state(session, collection_id, COLLECTING, verb="resume")
    await queue_runners(session, jobs, waiting=collection.running, batch=batch)
    return collection


async def cancel(session: WriteSession, collection_id: UUID) -> Collection:
    """Cancel all running conversations for good; their turns stay. Cancelling twice changes nothing."""
    await collections_store.get_collection(session, collection_id)
    # Conversations are locked before their collection, as batches of turns lock them.
    cancelled = await store.cancel_conversations(session, collection_id)
    await collections_store.count_in(session, collection_id, cancelled=cancelled)
    collection, is_changed = await _change_state(session, collection_id, CANCELLED, verb="cancel")
    if is_changed:
        await publish_cancelled_collection(session, collection)
    return collection


async def change(session: WriteSession, collection_id: UUID, request: CollectionChangesIn) -> Collection:
    """Change a collection's name or priority. A priority applies from the next claim."""
    await collections_store.get_collection(session, collection_id)
    if changes := request.model_dump(exclude_none=True):
        await collections_store.change_settings(session, collection_id, changes)
    return await collections_store.get_collection(session, collection_id)


async def _change_state(
    session: WriteSession, collection_id: UUID, state: CollectionState, *, verb: str
) -> tuple[Collection, bool]:
    """Change the state of a collection; return the collection, and whether its state changed."""
    before = await collections_store.lock_collection(session, collection_id)
    collection = await collections_store.get_collection(session, collection_id)
    is_changed = require_transition(collection.name, before, state, verb=verb)
    if is_changed:
        await collections_store.change_state(session, [collection_id], state)
    return await collections_store.get_collection(session, collection_id), is_changed

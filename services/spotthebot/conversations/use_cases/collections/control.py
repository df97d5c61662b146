"""Controlling collections: pause, resume, cancel, prioritise."""

from uuid import UUID

from spotthebot.contracts.conversations import CollectionState
from spotthebot.conversations import store
from spotthebot.conversations.domain.errors import HasEnded
from spotthebot.conversations.store.collections import Collection
from spotthebot.conversations.use_cases.turn_loop.maintenance import queue_runners
from spotthebot.kit.database import WriteSession
from spotthebot.kit.jobs import Jobs


async def pause(session: WriteSession, collection_id: UUID) -> Collection:
    """Request no more turns; pending requests are still committed. Pausing twice changes nothing."""
    await _require_open(session, collection_id, "pause")
    await store.collections.change_collection(session, collection_id, state=CollectionState.PAUSED)
    return await store.collections.get_collection(session, collection_id)


async def resume(session: WriteSession, jobs: Jobs, collection_id: UUID, *, batch: int) -> Collection:
    """Continue a paused collection."""
    collection = await _require_open(session, collection_id, "resume")
    await store.collections.change_collection(session, collection_id, state=CollectionState.COLLECTING)
    await queue_runners(session, jobs, waiting=collection.open, batch=batch)
    return await store.collections.get_collection(session, collection_id)


async def cancel(session: WriteSession, collection_id: UUID) -> Collection:
    """End all running conversations for good; their turns stay. Cancelling twice changes nothing."""
    collection = await store.collections.get_collection(session, collection_id)
    if collection.state is CollectionState.CANCELLED:
        return collection
    cancelled = await store.collections.cancel_conversations(session, collection_id)
    await _require_open(session, collection_id, "cancel")
    await store.collections.finish_cancelled(session, collection_id, cancelled)
    return await store.collections.get_collection(session, collection_id)


async def prioritise(session: WriteSession, collection_id: UUID, priority: int) -> Collection:
    """Change a collection's priority, from the next claim on."""
    await store.collections.get_collection(session, collection_id)
    await store.collections.change_collection(session, collection_id, priority=priority)
    return await store.collections.get_collection(session, collection_id)


async def _require_open(session: WriteSession, collection_id: UUID, verb: str) -> Collection:
    state = await store.collections.lock_collection(session, collection_id)
    collection = await store.collections.get_collection(session, collection_id)
    if state in {CollectionState.COMPLETE, CollectionState.CANCELLED}:
        raise HasEnded(name=collection.name, state=state, verb=verb)
    return collection

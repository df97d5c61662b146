"""`/v1/collections/{id}`: pause, resume, cancel, rename and prioritise collections."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.contracts.conversations.collections import CollectionChangesIn, CollectionOut
from spotthebot.conversations.collections.api import collection_out
from spotthebot.conversations.control.use_cases import cancel, change, pause, resume
from spotthebot.conversations.deps import Admin
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Writing

router = APIRouter(prefix="/v1", tags=["collections"], route_class=IdempotentRoute)


@router.patch("/collections/{collection_id}", operation_id="change_collection")
async def change_collection(
    session: Writing, _caller: Admin, collection_id: UUID, request: CollectionChangesIn
) -> CollectionOut:
    """Change a collection's name or priority. Campaigns, scores and exports refer to its id, which stays."""
    return collection_out(await change(session, collection_id, request))


@router.post("/collections/{collection_id}/pause", operation_id="pause_collection")
async def pause_collection(session: Writing, _caller: Admin, collection_id: UUID) -> CollectionOut:
    """Pause a collection: request no turns until it is resumed. Replies to pending requests are still stored."""
    return collection_out(await pause(session, collection_id))


@router.post("/collections/{collection_id}/resume", operation_id="resume_collection")
async def resume_collection(
    session: Writing, _caller: Admin, resources: ServiceResources, collection_id: UUID
) -> CollectionOut:
    """Resume a paused collection."""
    batch = resources.settings.conversations_per_batch
    return collection_out(await resume(session, resources.jobs, collection_id, batch=batch))


@router.post("/collections/{collection_id}/cancel", operation_id="cancel_collection")
async def cancel_collection(session: Writing, _caller: Admin, collection_id: UUID) -> CollectionOut:
    """Cancel all running conversations for good; their turns stay."""
    return collection_out(await cancel(session, collection_id))

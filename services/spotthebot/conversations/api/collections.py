"""`/v1/collections`: start, pause, resume, cancel and read collections; import conversations from elsewhere."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from spotthebot.contracts.conversations import (
    CollectionChangesIn,
    CollectionIn,
    CollectionOut,
    CollectionPlanOut,
    ConversationBatchIn,
    EstimateOut,
    HumanBotIn,
    ImportIn,
    PlannedIn,
    StartedCollectionOut,
    StoredOut,
)
from spotthebot.contracts.wire import Name
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import (
    Admin,
    AdminsClaim,
    BotsClient,
    JobQueue,
    Reader,
    Settings,
)
from spotthebot.conversations.api.shapes import (
    collection_out,
    plan_out,
    speakers_out,
    started_collection_out,
    texts_out,
)
from spotthebot.conversations.domain.conversations import Conversation, Speakers
from spotthebot.conversations.use_cases.chats.study import open_study
from spotthebot.conversations.use_cases.collections import control, estimate, imports
from spotthebot.conversations.use_cases.collections.participants import Participants, find_bots, find_participants
from spotthebot.conversations.use_cases.collections.start import start_collection
from spotthebot.kit.database import ReadSession
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.core.pagination import Order, Page, Paging, page_of
from spotthebot.kit.web.core.streams import stream
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool, Reading, Writing

router = APIRouter(prefix="/v1", tags=["collections"], route_class=IdempotentRoute)
_CONVERSATIONS = large_batch(max_bytes=32 * 1024 * 1024, max_values=500_000)


@router.post("/collections", status_code=201, operation_id="create_collection")
async def create_collection(
    claim: AdminsClaim,
    database: Pool,
    bots: BotsClient,
    jobs: JobQueue,
    settings: Settings,
    request: CollectionIn,
) -> StartedCollectionOut:
    """Start a collection: run its planned conversations, or open it for people's chats or for upload.

    `warnings` names bots that are failing or registered for other domains; the dry run names them before.
    """
    if isinstance(request, ImportIn):
        takes_part = Participants(())
        started = await imports.open_import(await claim.begin(), request)
    elif isinstance(request, HumanBotIn):
        takes_part = await find_bots(bots, request.bots)
        started = await open_study(await claim.begin(), request, takes_part)
    else:
        takes_part = await find_participants(database, bots, request)
        batch = settings.conversations_per_batch
        started = await start_collection(await claim.begin(), jobs, request, takes_part, batch=batch)
    return started_collection_out(started, takes_part.warnings(request.domain))


@router.post("/collections/dry-run", operation_id="estimate_collection")
async def estimate_collection(_caller: Reader, database: Pool, bots: BotsClient, request: PlannedIn) -> EstimateOut:
    """Estimate what a collection would cost, with all the checks of a start; nothing is stored."""
    return await estimate.estimate_collection(database, bots, request)


@router.get("/collections", operation_id="list_collections")
async def list_collections(
    session: Reading,
    _caller: Reader,
    paging: Paging,
    name: Annotated[Name | None, Query()] = None,
    bot_id: Annotated[
        tuple[UUID, ...], Query(max_length=100, description="Those that one of these bots takes part in.")
    ] = (),
    order: Order = "oldest_first",
) -> Page[CollectionOut]:
    """List collections, oldest first unless asked otherwise."""
    rows = await store.collections.list_collections(
        session,
        name=name,
        bots=bot_id,
        newest_first=order == "newest_first",
        after=paging.after,
        limit=paging.limit + 1,
    )
    return page_of(rows, paging, key=lambda collection: collection.id, to_out=collection_out)


@router.get("/collections/{collection_id}", operation_id="get_collection")
async def get_collection(session: Reading, _caller: Reader, collection_id: UUID) -> CollectionOut:
    """Return a collection and its progress."""
    return collection_out(await store.collections.get_collection(session, collection_id))


@router.get("/collections/{collection_id}/plan", operation_id="get_plan")
async def get_plan(session: Reading, _caller: Reader, collection_id: UUID) -> CollectionPlanOut:
    """Return how a collection's conversations are held: openings, people, exchanges, seed."""
    return plan_out(await store.exports.get_source(session, collection_id))


@router.patch("/collections/{collection_id}", operation_id="change_collection")
async def change_collection(
    session: Writing, _caller: Admin, collection_id: UUID, request: CollectionChangesIn
) -> CollectionOut:
    """Change a collection's priority."""
    return collection_out(await control.prioritise(session, collection_id, request.priority))


@router.post("/collections/{collection_id}/pause", operation_id="pause_collection")
async def pause_collection(session: Writing, _caller: Admin, collection_id: UUID) -> CollectionOut:
    """Request no more turns until the collection is resumed; replies to pending requests are still stored."""
    return collection_out(await control.pause(session, collection_id))


@router.post("/collections/{collection_id}/resume", operation_id="resume_collection")
async def resume_collection(
    session: Writing, _caller: Admin, jobs: JobQueue, settings: Settings, collection_id: UUID
) -> CollectionOut:
    """Resume a paused collection."""
    batch = settings.conversations_per_batch
    return collection_out(await control.resume(session, jobs, collection_id, batch=batch))


@router.post("/collections/{collection_id}/cancel", operation_id="cancel_collection")
async def cancel_collection(session: Writing, _caller: Admin, collection_id: UUID) -> CollectionOut:
    """End all running conversations for good; their turns stay."""
    return collection_out(await control.cancel(session, collection_id))


@router.post(
    "/collections/{collection_id}/conversations",
    status_code=201,
    operation_id="import_conversations",
    openapi_extra=_CONVERSATIONS,
)
async def import_conversations(
    session: Writing, _caller: Admin, collection_id: UUID, batch: ConversationBatchIn
) -> StoredOut:
    """Import conversations; one whose external id is known stays as it is, so a batch can be sent again."""
    return await imports.import_conversations(session, collection_id, batch.conversations)


@router.get("/collections/{collection_id}/texts/stream", operation_id="stream_texts", response_class=StreamingResponse)
async def stream_texts(session: Reading, _caller: Reader, database: Pool, collection_id: UUID) -> StreamingResponse:
    """Return the texts of a collection's conversations as NDJSON, one `TextsOut` a line: without their participants."""
    await store.collections.get_collection(session, collection_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[Conversation]:
        return await store.conversations.list_conversations(reading, collection_id, after=after, limit=limit)

    return stream(database, fetch, key=lambda conversation: conversation.id, to_out=texts_out)


@router.get(
    "/collections/{collection_id}/speakers/stream", operation_id="stream_speakers", response_class=StreamingResponse
)
async def stream_speakers(session: Reading, _caller: Reader, database: Pool, collection_id: UUID) -> StreamingResponse:
    """Return the participants of a collection's conversations as NDJSON, one `SpeakersOut` a line: without texts."""
    await store.collections.get_collection(session, collection_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[Speakers]:
        return await store.conversations.list_speakers(reading, collection_id, after=after, limit=limit)

    return stream(database, fetch, key=lambda speakers: speakers.id, to_out=speakers_out)

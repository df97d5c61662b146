"""`/v1/collections`: plan conversations, watch them, upload those that were held elsewhere."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from starlette.responses import StreamingResponse

from spotthebot.contracts.conversations import (
    CollectionIn,
    CollectionOut,
    CollectionState,
    ConversationBatchIn,
    ConversationOut,
    ConversationState,
    ImportIn,
    SpeakersOut,
    StoredOut,
)
from spotthebot.contracts.wire import Name
from spotthebot.conversations import store, use_cases
from spotthebot.conversations.api.deps import Admin, BotsClient, JobQueue, Reader, Settings
from spotthebot.conversations.api.shapes import conversation_out
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.kit.database import Database, ReadSession
from spotthebot.kit.web.idempotency import IdempotentRoute
from spotthebot.kit.web.pagination import Page, Paging, page_of
from spotthebot.kit.web.sessions import Reading, Writing, get_database
from spotthebot.kit.web.streams import stream

router = APIRouter(prefix="/v1", tags=["collections"], route_class=IdempotentRoute)


@router.post("/collections", status_code=201, operation_id="create_collection")
async def create_collection(
    session: Writing, _caller: Admin, jobs: JobQueue, bots: BotsClient, settings: Settings, wanted: CollectionIn
) -> CollectionOut:
    """Plan a collection and begin to hold its conversations, or open one for upload."""
    if isinstance(wanted, ImportIn):
        return _shape(await use_cases.open_import(session, wanted))
    batch = settings.conversations_per_batch
    return _shape(await use_cases.start_collection(session, jobs, bots, wanted, batch=batch))


@router.get("/collections", operation_id="list_collections")
async def list_collections(
    session: Reading, _caller: Reader, paging: Paging, name: Annotated[Name | None, Query()] = None
) -> Page[CollectionOut]:
    """List collections, oldest first."""
    rows = await store.list_collections(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda collection: collection.id, shape=_shape)


@router.get("/collections/{collection_id}", operation_id="get_collection")
async def get_collection(session: Reading, _caller: Reader, collection_id: UUID) -> CollectionOut:
    """Return a collection and how far it is."""
    return _shape(await store.get_collection(session, collection_id))


@router.post("/collections/{collection_id}/conversations", status_code=201, operation_id="import_conversations")
async def import_conversations(
    session: Writing, _caller: Admin, collection_id: UUID, batch: ConversationBatchIn
) -> StoredOut:
    """Upload conversations; one whose external id is known is left as it is, so a batch can be sent again."""
    return await use_cases.import_conversations(session, collection_id, batch.conversations)


@router.get("/collections/{collection_id}/conversations", operation_id="list_conversations")
async def list_conversations(
    session: Reading, _caller: Reader, collection_id: UUID, paging: Paging
) -> Page[ConversationOut]:
    """List a collection's conversations with their turns, in the order of its plan."""
    await store.get_collection(session, collection_id)
    rows = await store.list_conversations(session, collection_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda conversation: conversation.id, shape=conversation_out)


@router.get(
    "/collections/{collection_id}/conversations/stream",
    operation_id="stream_conversations",
    response_class=StreamingResponse,
)
async def stream_conversations(
    session: Reading,
    _caller: Reader,
    database: Annotated[Database, Depends(get_database)],
    collection_id: UUID,
) -> StreamingResponse:
    """Return all of a collection's conversations as NDJSON, one `ConversationOut` a line."""
    await store.get_collection(session, collection_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[Conversation]:
        return await store.list_conversations(reading, collection_id, after=after, limit=limit)

    return stream(database, fetch, key=lambda conversation: conversation.id, shape=conversation_out)


@router.get(
    "/collections/{collection_id}/speakers/stream", operation_id="stream_speakers", response_class=StreamingResponse
)
async def stream_speakers(
    session: Reading, _caller: Reader, database: Annotated[Database, Depends(get_database)], collection_id: UUID
) -> StreamingResponse:
    """Return who speaks in each of a collection's conversations as NDJSON, one `SpeakersOut` a line."""
    await store.get_collection(session, collection_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[SpeakersOut]:
        return await store.list_speakers(reading, collection_id, after=after, limit=limit)

    return stream(database, fetch, key=lambda speakers: speakers.id, shape=lambda speakers: speakers)


def _shape(collection: store.Collection) -> CollectionOut:
    states = collection.conversations
    running = states.get(ConversationState.RUNNING, 0)
    return CollectionOut(
        id=collection.id,
        name=collection.name,
        domain=collection.domain,
        mode=collection.mode,
        state=CollectionState.COLLECTING if running else CollectionState.COMPLETE,
        conversations=sum(states.values()),
        complete=states.get(ConversationState.COMPLETE, 0),
        failed=states.get(ConversationState.FAILED, 0),
        turns=collection.turns,
        created_at=collection.created_at,
    )

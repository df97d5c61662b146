"""Import of conversations: in the body of a request, or as the upload of an exported file."""

from uuid import UUID

from fastapi import APIRouter, Request

from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.conversations import ConversationBatchIn
from spotthebot.contracts.conversations.exports import ImportedOut
from spotthebot.conversations.corpora.api import pieces_of
from spotthebot.conversations.deps import Admin, Uploader
from spotthebot.conversations.imports import use_cases
from spotthebot.conversations.imports.use_cases import import_export
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.core.bodies import file_upload, large_batch
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool, Writing

router = APIRouter(prefix="/v1", tags=["collections"], route_class=IdempotentRoute)
upload_router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["collections"], route_class=CheckedRoute)


@upload_router.post(
    "/uploads",
    operation_id="upload_export",
    openapi_extra=file_upload(setting="largest_upload_bytes"),
)
async def upload_export(
    database: Pool,
    _caller: Uploader,
    resources: ServiceResources,
    collection_id: UUID,
    request: Request,
) -> ImportedOut:
    """Store the lines of an export in `ndjson` in a collection of mode `import`; other lines are rejected.

    Afterwards the collection's export equals the uploaded file, except for quality flags. A file can be sent again,
    also after an interruption: conversations are recognised by their id. No Idempotency-Key is needed.
    """
    return await import_export(database, resources.jobs, collection_id, pieces_of(request))


_CONVERSATIONS = large_batch(max_bytes=32 * 1024 * 1024, max_values=500_000)


@router.post(
    "/collections/{collection_id}/conversations",
    status_code=201,
    operation_id="import_conversations",
    openapi_extra=_CONVERSATIONS,
)
async def import_conversations(
    session: Writing, _caller: Admin, collection_id: UUID, batch: ConversationBatchIn
) -> StoredOut:
    """Import conversations. Conversations with a known external id stay unchanged, so a batch can be sent again."""
    return await use_cases.import_conversations(session, collection_id, batch.conversations)

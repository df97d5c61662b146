"""Conversations leave the suite whole, and come back: downloads in several forms, uploads of what was exported."""

import re
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from starlette.responses import StreamingResponse

from spotthebot.contracts.conversations import ExportFormat, ImportedOut
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import JobQueue, Uploader, pieces_of
from spotthebot.conversations.use_cases import downloading
from spotthebot.conversations.use_cases.collections import exported_imports
from spotthebot.kit.database import Database, ReadSession
from spotthebot.kit.web.database.sessions import get_database

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["collections"])

_FILES = {
    ExportFormat.NDJSON: ("application/x-ndjson", "jsonl"),
    ExportFormat.PARQUET: ("application/vnd.apache.parquet", "parquet"),
    ExportFormat.DATASETS: ("application/zip", "zip"),
}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
DOWNLOADS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A page, or a file where a format was asked for.",
        "content": {media_type: _BINARY for media_type, _ in _FILES.values()},
    }
}


async def download(
    session: ReadSession, database: Database, collection_id: UUID, form: ExportFormat
) -> StreamingResponse:
    """Answer with all of a collection's conversations in one file."""
    origin = await store.exports.get_origin(session, collection_id)
    conversations = await store.exports.count_conversations(session, collection_id)
    card = await downloading.describe(session, origin, conversations) if form is ExportFormat.DATASETS else ""
    media_type, suffix = _FILES[form]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", origin.name).strip("-.") or "conversations"
    return StreamingResponse(
        downloading.write_export(database, origin, form, conversations, card),
        media_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}.{suffix}"'},
    )


@router.post(
    "/uploads",
    operation_id="upload_export",
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": _BINARY}}},
)
async def upload_export(
    database: Annotated[Database, Depends(get_database)],
    _caller: Uploader,
    jobs: JobQueue,
    collection_id: UUID,
    request: Request,
) -> ImportedOut:
    """Store exported conversations, one a line, in a collection of mode `import`; lines that are none are rejected.

    The collection's own export is then what was uploaded, marks aside. A file can be sent again, after an interruption
    too: conversations are known by their id. No Idempotency-Key is needed.
    """
    return await exported_imports.import_export(database, jobs, collection_id, pieces_of(request))

"""The export of a collection, and its way back: a download in several formats, the upload of an exported file."""

import re
from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from spotthebot.contracts.access import Role
from spotthebot.contracts.conversations import ImportedOut
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import DialogueReader, JobQueue, Uploader, pieces_of
from spotthebot.conversations.domain.errors import PeopleForAdministrators
from spotthebot.conversations.use_cases.collections import exported_imports
from spotthebot.conversations.use_cases.exports import export_collection
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.web.core.bodies import file_upload
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["collections"], route_class=CheckedRoute)

_BINARY = {"schema": {"type": "string", "format": "binary"}}


@router.get(
    "/export",
    operation_id="export_collection",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file.",
            "content": {form.media_type: _BINARY for form in ExportFormat},
        }
    },
)
async def download_export(
    session: Reading,
    caller: DialogueReader,
    database: Pool,
    collection_id: UUID,
    form: Annotated[ExportFormat, Query(alias="format")] = ExportFormat.NDJSON,
    people: Annotated[
        Literal["pseudonyms", "ids"],
        Query(description="What people who chatted are called; `ids` are for administrators, as `annotation` knows."),
    ] = "pseudonyms",
) -> StreamingResponse:
    """Return all conversations of a collection in one file, in the order of its plan.

    All formats have the same fields, those of `ExportedConversation`: `ndjson` is one JSON object a line, `csv` one row
    a line with JSON in cells that hold lists or objects, `parquet` has typed columns, `datasets` is a zip of the folder
    that Hugging Face's `load_dataset` reads. A download that breaks off is an incomplete body, never a shorter file.
    """
    source = await store.exports.get_source(session, collection_id)
    if people == "ids":
        if caller.role != Role.ADMIN:
            raise PeopleForAdministrators
        source = replace(source, pseudonym_key=None)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", source.name).strip("-.") or "conversations"
    return StreamingResponse(
        await export_collection(session, database, source, form),
        media_type=form.media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}.{form.suffix}"'},
    )


@router.post(
    "/uploads",
    operation_id="upload_export",
    openapi_extra=file_upload(setting="largest_upload_bytes"),
)
async def upload_export(
    database: Pool,
    _caller: Uploader,
    jobs: JobQueue,
    collection_id: UUID,
    request: Request,
) -> ImportedOut:
    """Store the lines of an export in `ndjson` in a collection of mode `import`; other lines are rejected.

    The collection's own export then equals the uploaded file, quality flags aside. A file can be sent again, also after
    an interruption: conversations are known by their id. No Idempotency-Key is needed.
    """
    return await exported_imports.import_export(database, jobs, collection_id, pieces_of(request))

"""The export of a collection, in several formats, and of one conversation."""

import re
from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from spotthebot.contracts.access import Role
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.deps import DialogueReader
from spotthebot.conversations.exports import store
from spotthebot.conversations.exports.errors import PeopleForAdministrators
from spotthebot.conversations.exports.use_cases import export_collection
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["collections"], route_class=CheckedRoute)
conversation_router = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=CheckedRoute)

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

    All formats have the fields of `ExportedConversation`. `ndjson` is one JSON object per line. `csv` is one row per
    line, with JSON in cells that hold lists or objects. `parquet` has typed columns. `datasets` is a zip of the folder
    that Hugging Face's `load_dataset` reads. An interrupted download ends as an incomplete HTTP body, so that no client
    takes it for a complete file.
    """
    source = await collections_store.get_source(session, collection_id)
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


@conversation_router.get("/{conversation_id}/export", operation_id="get_exported_conversation")
async def get_exported_conversation(
    session: Reading, _caller: DialogueReader, conversation_id: UUID
) -> ExportedConversation:
    """Return one conversation as in its collection's export, with times, ratings and quality flags."""
    return (await store.get_row(session, conversation_id)).conversation

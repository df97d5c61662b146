"""The export of a campaign as a download."""

import re
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.deps import AskedJudges, Reader
from spotthebot.annotation.exports.errors import NamesForAdministrators
from spotthebot.annotation.exports.use_cases import export_campaign, log_named_export
from spotthebot.contracts.access import Role
from spotthebot.contracts.annotation.exports import AnnotatorNames, ExportedRows
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["annotations"], route_class=CheckedRoute)

_FORMATS = (ExportFormat.NDJSON, ExportFormat.CSV, ExportFormat.PARQUET)
_BINARY = {"schema": {"type": "string", "format": "binary"}}
FileFormat = Literal[ExportFormat.NDJSON, ExportFormat.CSV, ExportFormat.PARQUET]


@router.get(
    "/export",
    operation_id="export_campaign",
    response_class=StreamingResponse,
    responses={200: {"description": "The file.", "content": {form.media_type: _BINARY for form in _FORMATS}}},
)
async def export_annotations(
    session: Reading,
    caller: Reader,
    database: Pool,
    campaign_id: UUID,
    form: Annotated[FileFormat, Query(alias="format")] = ExportFormat.NDJSON,
    rows: Annotated[ExportedRows, Query()] = ExportedRows.ANNOTATIONS,
    annotators: Annotated[AnnotatorNames, Query()] = AnnotatorNames.PSEUDONYMS,
    judges: AskedJudges = (),
) -> StreamingResponse:
    """Return all annotations of a campaign, their single values, or the items of its packages, in one file.

    All formats have the fields of `ExportedAnnotation`, `ExportedValue` or `ExportedItem`; in `csv` and `parquet` an
    answer is JSON. People appear under pseudonyms. Judges are left out unless named by `judges`. Only administrators
    may use `annotators=ids`; the audit log records it. An interrupted download ends as an incomplete HTTP body, so that
    no client takes it for a complete file.
    """
    if annotators is AnnotatorNames.IDS:
        if caller.role != Role.ADMIN:
            raise NamesForAdministrators
        async with database.write() as writing:
            await log_named_export(writing, campaign_id, key_id=caller.key_id, rows=rows)
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", campaign.name).strip("-.") or "campaign"
    return StreamingResponse(
        await export_campaign(session, database, campaign, rows, annotators, form, judges=judges),
        media_type=form.media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}-{rows}.{form.suffix}"'},
    )

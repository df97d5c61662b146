"""The download of a campaign's annotations as a file."""

from collections.abc import AsyncGenerator
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.contracts.annotation.exports import ExportedRows
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import services_with
from spotthebot.web.deps import Admin
from spotthebot.web.resources import resources_of
from spotthebot.web.settings import WebSettings
from spotthebot.web.streams import streamed

router = APIRouter(prefix="/admin/campaigns/{campaign_id}", route_class=PageRoute, include_in_schema=False)
_TYPES: Final = {
    ExportFormat.NDJSON: ("jsonl", "application/x-ndjson"),
    ExportFormat.CSV: ("csv", "text/csv"),
    ExportFormat.PARQUET: ("parquet", "application/vnd.apache.parquet"),
}


@router.get("/export/{rows}.{form}")
async def download_export(
    request: Request, visitor: Admin, campaign_id: UUID, rows: ExportedRows, form: ExportFormat
) -> Response:
    """Send a file from `annotation`. Its rows are annotations, values in their answers, or items of packages."""
    pieces = _pieces(resources_of(request).settings, visitor.key, campaign_id, rows, form)
    ending, media_type = _TYPES[form]
    headers = {"Content-Disposition": f'attachment; filename="{rows.value}.{ending}"', "Cache-Control": "no-store"}
    return await streamed(pieces, media_type, headers)


async def _pieces(
    settings: WebSettings, key: str, campaign_id: UUID, rows: ExportedRows, form: ExportFormat
) -> AsyncGenerator[bytes, None]:
    async with services_with(settings, key) as services:
        client = await services.annotation()
        async for piece in client.export_campaign(campaign_id, form, rows=rows):
            yield piece

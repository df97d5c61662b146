"""The download of a campaign's annotations, or of a collection's conversations, as a file."""

import re
from collections.abc import AsyncGenerator
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.contracts.annotation.exports import ExportedRows
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import services_with
from spotthebot.web.deps import Admin, Reader, ServicesOfVisitor
from spotthebot.web.resources import resources_of
from spotthebot.web.settings import WebSettings
from spotthebot.web.streams import streamed

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/admin/campaigns/{campaign_id}/export/{rows}.{form}")
async def download_export(
    request: Request, visitor: Admin, campaign_id: UUID, rows: ExportedRows, form: ExportFormat
) -> Response:
    """Send a file from `annotation`. Its rows are annotations, values in their answers, or items of packages."""
    pieces = _pieces(resources_of(request).settings, visitor.key, campaign_id, rows, form)
    return await _file(pieces, rows.value, form)


@router.get("/conversations/{collection_id}/export/{form}")
async def download_conversations(
    request: Request, visitor: Reader, services: ServicesOfVisitor, collection_id: UUID, form: ExportFormat
) -> Response:
    """Send a collection's conversations as a file from `conversations`; people who chatted have pseudonyms."""
    collection = await (await services.conversations()).get_collection(collection_id)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", collection.name).strip("-.") or "conversations"
    return await _file(_conversations(resources_of(request).settings, visitor.key, collection_id, form), name, form)


async def _file(pieces: AsyncGenerator[bytes, None], name: str, form: ExportFormat) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form.suffix}"', "Cache-Control": "no-store"}
    return await streamed(pieces, form.media_type, headers)


async def _conversations(
    settings: WebSettings, key: str, collection_id: UUID, form: ExportFormat
) -> AsyncGenerator[bytes, None]:
    async with services_with(settings, key) as services:
        async for piece in (await services.conversations()).export_collection(collection_id, form):
            yield piece


async def _pieces(
    settings: WebSettings, key: str, campaign_id: UUID, rows: ExportedRows, form: ExportFormat
) -> AsyncGenerator[bytes, None]:
    async with services_with(settings, key) as services:
        client = await services.annotation()
        async for piece in client.export_campaign(campaign_id, form, rows=rows):
            yield piece

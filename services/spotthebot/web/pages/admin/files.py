"""What annotators are paid, and a campaign's files: payments for panels, annotations for analysis."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.exports import ExportedRows
from spotthebot.contracts.annotation.payments import PaymentFile, PaymentOut
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import services_with
from spotthebot.web.domain.payroll import payroll_of
from spotthebot.web.pages.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.settings import WebSettings

router = APIRouter(prefix="/admin/campaigns/{campaign_id}", route_class=PageRoute, include_in_schema=False)
_PAYMENTS: Final = 50
_AT_ONCE: Final = 1000
_MOST: Final = 10_000
"""Annotators whose pay is added up for the page; of more, the file has all."""
_TYPES: Final = {
    ExportFormat.NDJSON: ("jsonl", "application/x-ndjson"),
    ExportFormat.CSV: ("csv", "text/csv"),
    ExportFormat.PARQUET: ("parquet", "application/vnd.apache.parquet"),
}


@router.get("/payments")
async def show_payments(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    cursor: str | None = None,
) -> Response:
    """Show what each annotator gets, what it comes to, and the files for those who pay."""
    client = await services.annotation()
    campaign = await client.get_campaign(campaign_id)
    page, payments = await asyncio.gather(
        client.list_payments(campaign_id, cursor=cursor, page_size=_PAYMENTS).page(), _payments(client, campaign)
    )
    return pages.page(
        request,
        "admin/payments.html.jinja",
        campaign=campaign,
        page=page,
        is_first=cursor is None,
        payroll=payroll_of(payments),
        is_whole=len(payments) < _MOST,
        files=[*PaymentFile],
    )


@router.get("/payments/{kind}.csv")
async def download_payments(
    services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, kind: PaymentFile
) -> Response:
    """Give a file for those who pay."""
    content = await (await services.annotation()).download_payments(campaign_id, kind)
    headers = {"Content-Disposition": f'attachment; filename="{kind.value}.csv"', "Cache-Control": "no-store"}
    return Response(content, media_type="text/csv", headers=headers)


@router.get("/export/{rows}.{form}")
async def download_export(
    request: Request, visitor: Admin, campaign_id: UUID, rows: ExportedRows, form: ExportFormat
) -> Response:
    """Give a campaign's annotations, their values or what its packages show, as they come from `annotation`."""
    pieces = _pieces(request.app.state.settings, visitor.key, campaign_id, rows, form)
    first = await anext(pieces, b"")  # a refusal is an error page, as long as nothing was sent
    ending, media_type = _TYPES[form]
    headers = {"Content-Disposition": f'attachment; filename="{rows.value}.{ending}"', "Cache-Control": "no-store"}
    return StreamingResponse(_joined(first, pieces), media_type=media_type, headers=headers)


async def _payments(client: AsyncAnnotation, campaign: CampaignOut) -> list[PaymentOut]:
    found: list[PaymentOut] = []
    async for each in client.list_payments(campaign.id, page_size=_AT_ONCE):
        found.append(each)
        if len(found) == _MOST:
            break
    return found


async def _pieces(
    settings: WebSettings, key: str, campaign_id: UUID, rows: ExportedRows, form: ExportFormat
) -> AsyncGenerator[bytes, None]:
    async with services_with(settings, key) as services:
        client = await services.annotation()
        async for piece in client.export_campaign(campaign_id, form, rows=rows):
            yield piece


async def _joined(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece

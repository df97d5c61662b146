"""The payments of a campaign's annotators, and files for the people or panels who pay them."""

import asyncio
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.payments import PaymentFile, PaymentOut
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.payments.domain import payroll_of

router = APIRouter(prefix="/admin/campaigns/{campaign_id}", route_class=PageRoute, include_in_schema=False)
_PAYMENTS: Final = 50
_AT_ONCE: Final = 1000
_MOST: Final = 10_000
"""The maximum number of annotators in the sums of the page. The file has all annotators."""


@router.get("/payments")
async def show_payments(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    cursor: str | None = None,
) -> Response:
    """Show the payment of each annotator, the sums, and the files for the people who pay."""
    client = await services.annotation()
    campaign = await client.get_campaign(campaign_id)
    page, payments = await asyncio.gather(
        client.list_payments(campaign_id, cursor=cursor, page_size=_PAYMENTS).page(), _payments(client, campaign)
    )
    return pages.page(
        request,
        "payments/payments.html.jinja",
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
    """Send a file with payments, for the people or panels who pay."""
    content = await (await services.annotation()).download_payments(campaign_id, kind)
    headers = {"Content-Disposition": f'attachment; filename="{kind.value}.csv"', "Cache-Control": "no-store"}
    return Response(content, media_type="text/csv", headers=headers)


async def _payments(client: AsyncAnnotation, campaign: CampaignOut) -> list[PaymentOut]:
    found: list[PaymentOut] = []
    async for each in client.list_payments(campaign.id, page_size=_AT_ONCE):
        found.append(each)
        if len(found) == _MOST:
            break
    return found

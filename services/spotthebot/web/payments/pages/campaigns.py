"""The payments of a campaign's annotators, and files for the people or panels who pay them."""

import asyncio
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.contracts.terms import PaymentFile
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.payments.domain import payroll_of
from spotthebot.web.payments.pages.sums import AT_ONCE, MOST, as_csv, first_of

router = APIRouter(prefix="/admin/campaigns/{campaign_id}", route_class=PageRoute, include_in_schema=False)
_PAYMENTS: Final = 50


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
        client.list_payments(campaign_id, cursor=cursor, page_size=_PAYMENTS).page(),
        first_of(client.list_payments(campaign_id, page_size=AT_ONCE)),
    )
    return pages.page(
        request,
        "payments/payments.html.jinja",
        campaign=campaign,
        page=page,
        is_first=cursor is None,
        payroll=payroll_of(payments),
        is_whole=len(payments) < MOST,
        files=[*PaymentFile],
    )


@router.get("/payments/{kind}.csv")
async def download_payments(
    services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, kind: PaymentFile
) -> Response:
    """Send a file with payments, for the people or panels who pay."""
    content = await (await services.annotation()).download_payments(campaign_id, kind)
    return as_csv(kind, content)

"""The audit log of a campaign: the decisions about its annotators and results."""

import asyncio
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.contracts.annotation.audit import AUDITED
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor

router = APIRouter(prefix="/admin/campaigns/{campaign_id}", route_class=PageRoute, include_in_schema=False)
_ENTRIES: Final = 50


@router.get("/audit")
async def show_audit_log(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    action: str = "",
    annotator: UUID | None = None,
    cursor: str | None = None,
) -> Response:
    """Show the decisions about annotators, labels and results of a campaign, newest first."""
    client = await services.annotation()
    only = action if action in AUDITED else None
    campaign, page = await asyncio.gather(
        client.get_campaign(campaign_id),
        client.list_audit_entries(
            campaign_id,
            action=only,
            annotator_id=annotator,
            order="newest_first",
            cursor=cursor,
            page_size=_ENTRIES,
        ).page(),
    )
    return pages.page(
        request,
        "audit/audit.html.jinja",
        campaign=campaign,
        page=page,
        actions=AUDITED,
        only=only,
        annotator=annotator,
        is_first=cursor is None,
    )

"""Pages about the annotators of a campaign: their work, their blocks and their appeals."""

import asyncio
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.audit import AUDITED
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.trainings import TrainingRecordOut
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.annotators.domain import annotator_actions
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor

router = APIRouter(prefix="/admin/campaigns/{campaign_id}", route_class=PageRoute, include_in_schema=False)
_ANNOTATORS: Final = 50
_ASSIGNMENTS: Final = 50
_DECISIONS: Final = 10
ONLY: Final = ("blocked", "appealed")
"""The filters of the list of annotators."""


@router.get("/annotators")
async def list_annotators(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator: Annotated[str, Query(max_length=200)] = "",
    only: str = "",
    cursor: str | None = None,
) -> Response:
    """Show a campaign's annotators.

    Filters by an annotator's id, by blocked annotators, or by annotators who appealed.
    """
    client = await services.annotation()
    found = client.list_annotators(
        campaign_id,
        annotator=annotator.strip() or None,
        blocked=True if only == "blocked" else None,
        appealed=True if only == "appealed" else None,
        cursor=cursor,
        page_size=_ANNOTATORS,
    )
    campaign, page = await asyncio.gather(client.get_campaign(campaign_id), found.page())
    return pages.page(
        request,
        "annotators/annotators.html.jinja",
        campaign=campaign,
        page=page,
        annotator=annotator.strip(),
        only=only if only in ONLY else "",
        choices=ONLY,
        is_first=cursor is None,
    )


@router.get("/annotators/{annotator_id}")
async def show_annotator(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
    cursor: str | None = None,
) -> Response:
    """Show how an annotator works, and the decisions about the annotator.

    The page does not name the speakers of items.
    """
    client = await services.annotation()
    campaign, quality, assignments, decisions = await asyncio.gather(
        client.get_campaign(campaign_id),
        client.get_annotator_quality(campaign_id, annotator_id),
        client.list_assignments(campaign_id, annotator_id, cursor=cursor, page_size=_ASSIGNMENTS).page(),
        client.list_audit_entries(
            campaign_id, annotator_id=annotator_id, order="newest_first", page_size=_DECISIONS
        ).page(),
    )
    record = await _training_record(client, campaign, annotator_id)
    return pages.page(
        request,
        "annotators/annotator.html.jinja",
        campaign=campaign,
        quality=quality,
        annotator=quality.annotator,
        assignments=assignments,
        is_first=cursor is None,
        decisions=decisions,
        audited=AUDITED,
        record=record,
        actions=annotator_actions(quality.annotator, currency=campaign.currency, record=record),
    )


async def _training_record(
    client: AsyncAnnotation, campaign: CampaignOut, annotator_id: UUID
) -> TrainingRecordOut | None:
    return await client.get_training_record(campaign.id, annotator_id) if campaign.training else None

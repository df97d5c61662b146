"""Annotators of a campaign: how they work, blocks and appeals; and the audit log of decisions about them."""

import asyncio
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.contracts.assignments import BlockIn
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.domain.reading_errors import NoSuchAction, ReasonNeeded
from spotthebot.web.pages.admin.confirmation import ask
from spotthebot.web.pages.deps import Admin, Pages, ServicesOfVisitor

router = APIRouter(prefix="/admin/campaigns/{campaign_id}", route_class=PageRoute, include_in_schema=False)
_ANNOTATORS: Final = 50
_DECISIONS: Final = ("block", "unblock")
_ENTRIES: Final = 50
_ASSIGNMENTS: Final = 100
AUDITED: Final = (
    "annotator.blocked",
    "annotator.unblocked",
    "annotator.appealed",
    "annotator.bonus_granted",
    "annotator.consent_withdrawn",
    "annotator.erased",
    "annotator.texts_erased",
    "annotations.exported",
    "assignment.rejected",
    "results.released",
    "results.withdrawn",
    "training.passed",
    "training.failed",
    "training.attempt_granted",
)
"""The decisions that the audit log knows."""


@router.get("/annotators")
async def list_annotators(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    cursor: str | None = None,
) -> Response:
    """Show a campaign's annotators."""
    client = await services.annotation()
    campaign, page = await asyncio.gather(
        client.get_campaign(campaign_id),
        client.list_annotators(campaign_id, cursor=cursor, page_size=_ANNOTATORS).page(),
    )
    return pages.page(request, "admin/annotators.html.jinja", campaign=campaign, page=page, is_first=cursor is None)


@router.get("/annotators/{annotator_id}")
async def show_annotator(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
) -> Response:
    """Show how an annotator works, without who speaks in what they annotate."""
    client = await services.annotation()
    campaign, quality, assignments = await asyncio.gather(
        client.get_campaign(campaign_id),
        client.get_annotator_quality(campaign_id, annotator_id),
        client.list_assignments(campaign_id, annotator_id, page_size=_ASSIGNMENTS).page(),
    )
    return pages.page(
        request,
        "admin/annotator.html.jinja",
        campaign=campaign,
        quality=quality,
        annotator=quality.annotator,
        assignments=assignments.items,
    )


@router.get("/annotators/{annotator_id}/{action}")
async def ask_before(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
    action: str,
) -> Response:
    """Say what a block or its end would do, and ask why."""
    if action not in _DECISIONS:
        raise NoSuchAction
    quality = await (await services.annotation()).get_annotator_quality(campaign_id, annotator_id)
    back = f"/admin/campaigns/{campaign_id}/annotators/{annotator_id}"
    name = quality.annotator.annotator
    return ask(request, pages, of="annotator", action=action, name=name, back=back, reason=True)


@router.post("/annotators/{annotator_id}/{action}")
async def decide(
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
    action: str,
    reason: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Block the annotator, or end the block."""
    if action not in _DECISIONS:
        raise NoSuchAction
    if not reason.strip():
        raise ReasonNeeded
    client = await services.annotation()
    decision = client.block_annotator if action == "block" else client.unblock_annotator
    await decision(campaign_id, annotator_id, BlockIn(reason=reason))
    return RedirectResponse(f"/admin/campaigns/{campaign_id}/annotators/{annotator_id}", status_code=303)


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
    """Show the decisions that touched a person or a label, the newest first."""
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
        "admin/audit.html.jinja",
        campaign=campaign,
        page=page,
        actions=AUDITED,
        only=only,
        annotator=annotator,
        is_first=cursor is None,
    )

"""The annotators of a campaign: their work, their appeals, and the decisions about them."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.assignments import BlockIn, RejectionIn
from spotthebot.contracts.annotation.audit import AUDITED
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.payments import BonusIn
from spotthebot.contracts.annotation.trainings import MAX_ATTEMPTS, TrainingGrantIn, TrainingRecordOut
from spotthebot.contracts.terms import SubmittedTexts
from spotthebot.contracts.wire import Wire
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.annotators.domain import annotator_actions, attempt_to_grant
from spotthebot.web.annotators.errors import NoAttemptToGrant, NoSuchPackage
from spotthebot.web.confirmations.errors import NoSuchAction
from spotthebot.web.confirmations.pages import Question, ask
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.layout.forms import key_of, read_document
from spotthebot.web.layout.pages import typed_in

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_ANNOTATORS: Final = 50
_ASSIGNMENTS: Final = 50
_DECISIONS: Final = 10
ONLY: Final = ("blocked", "appealed")
"""The filters of the list of annotators."""


class ErasureForm(Wire):
    """Whether an erasure also removes the annotator's texts from submitted annotations."""

    submitted_texts: SubmittedTexts = SubmittedTexts.ERASE


_DOCUMENTS: Final[Mapping[str, type[Wire]]] = {
    "block": BlockIn,
    "unblock": BlockIn,
    "bonus": BonusIn,
    "attempt": TrainingGrantIn,
    "erase": ErasureForm,
}
"""The request to `annotation` for each decision."""


@router.get("/admin/campaigns/{campaign_id}/annotators")
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


@router.get("/admin/campaigns/{campaign_id}/annotators/{annotator_id}")
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


@router.get("/admin/campaigns/{campaign_id}/annotators/{annotator_id}/{action}")
async def ask_before(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
    action: str,
) -> Response:
    """Show the form of a decision, with the effects of the decision."""
    return ask(request, pages, await _question(await services.annotation(), campaign_id, annotator_id, action))


@router.post("/admin/campaigns/{campaign_id}/annotators/{annotator_id}/{action}")
async def decide(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
    action: str,
) -> Response:
    """Carry out the administrator's decision about an annotator.

    If the form has faults, show it again with the faults.
    """
    client = await services.annotation()
    typed = await typed_in(request)
    if action not in _DOCUMENTS:
        raise NoSuchAction
    faults = await _take(client, campaign_id, annotator_id, action, typed)
    if faults:
        question = await _question(client, campaign_id, annotator_id, action)
        return ask(request, pages, question, typed=typed, faults=faults)
    return _back(campaign_id, annotator_id)


@router.get("/admin/campaigns/{campaign_id}/annotators/{annotator_id}/packages/{assignment_id}/reject")
async def ask_before_rejecting(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
    assignment_id: UUID,
) -> Response:
    """Show the form that rejects a package, with the effects of the rejection. The form asks for the reason."""
    question = await _about_package(await services.annotation(), campaign_id, annotator_id, assignment_id)
    return ask(request, pages, question)


@router.post("/admin/campaigns/{campaign_id}/annotators/{annotator_id}/packages/{assignment_id}/reject")
async def reject(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
    assignment_id: UUID,
) -> Response:
    """Reject a package that the annotator submitted."""
    client = await services.annotation()
    typed = await typed_in(request)
    read = read_document(RejectionIn, typed)
    if not isinstance(read, RejectionIn):
        question = await _about_package(client, campaign_id, annotator_id, assignment_id)
        return ask(request, pages, question, typed=typed, faults=read)
    await client.reject_assignment(campaign_id, assignment_id, read, idempotency_key=key_of(typed))
    return _back(campaign_id, annotator_id)


async def _question(client: AsyncAnnotation, campaign_id: UUID, annotator_id: UUID, action: str) -> Question:
    if action not in _DOCUMENTS:
        raise NoSuchAction
    quality, campaign = await asyncio.gather(
        client.get_annotator_quality(campaign_id, annotator_id), client.get_campaign(campaign_id)
    )
    return Question(
        of="annotator",
        action=action,
        name=quality.annotator.annotator,
        back=f"/admin/campaigns/{campaign_id}/annotators/{annotator_id}",
        fields=tuple(_DOCUMENTS[action].model_fields),
        currency=campaign.currency,
        attempt=await _next_attempt(client, campaign_id, annotator_id) if action == "attempt" else None,
    )


async def _next_attempt(client: AsyncAnnotation, campaign_id: UUID, annotator_id: UUID) -> int:
    number = attempt_to_grant(await client.get_training_record(campaign_id, annotator_id))
    if number is None:
        raise NoAttemptToGrant
    return number


async def _about_package(
    client: AsyncAnnotation, campaign_id: UUID, annotator_id: UUID, assignment_id: UUID
) -> Question:
    quality = await client.get_annotator_quality(campaign_id, annotator_id)
    async for each in client.list_assignments(campaign_id, annotator_id):
        if each.id == assignment_id:
            break
    else:
        raise NoSuchPackage
    return Question(
        of="package",
        action="reject",
        name=quality.annotator.annotator,
        back=f"/admin/campaigns/{campaign_id}/annotators/{annotator_id}",
        fields=("reason",),
    )


async def _take(
    client: AsyncAnnotation, campaign_id: UUID, annotator_id: UUID, action: str, typed: Mapping[str, str]
) -> dict[str, str] | None:
    """Carry out a decision. If its form has faults, do nothing and return the faults by field."""
    key = key_of(typed)
    read = read_document(_DOCUMENTS[action], typed)
    match read:
        case BonusIn():
            await client.grant_bonus(campaign_id, annotator_id, read, idempotency_key=key)
        case TrainingGrantIn():
            attempt = _number(typed.get("attempt", ""))
            await client.grant_training_attempt(campaign_id, annotator_id, attempt, read, idempotency_key=key)
        case BlockIn():
            decision = client.block_annotator if action == "block" else client.unblock_annotator
            await decision(campaign_id, annotator_id, read, idempotency_key=key)
        case ErasureForm():
            await client.erase_annotator(
                campaign_id, annotator_id, submitted_texts=read.submitted_texts, idempotency_key=key
            )
        case dict():
            return read
    return None


def _number(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit() and 1 <= int(typed[:3]) <= MAX_ATTEMPTS):
        raise NoAttemptToGrant
    return int(typed[:3])


def _back(campaign_id: UUID, annotator_id: UUID) -> Response:
    return RedirectResponse(f"/admin/campaigns/{campaign_id}/annotators/{annotator_id}", status_code=303)

"""The requests of a package's page: saved answers, opened exchanges, heartbeats, its return and the submission.

This frontend's key can open the packages of all its annotators. So each request checks that the package belongs to the
annotator in the cookie.
"""

from uuid import UUID

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.assignments import (
    AnswerIn,
    AssignmentOut,
    ExchangeIn,
    ExchangeOut,
    HeartbeatIn,
    LeaseOut,
    Position,
    ReleaseIn,
    SavedOut,
    SubmissionIn,
)
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import AnnotationService, AnnotatorOfCampaign
from spotthebot.web.packages.errors import NotYourPackage
from spotthebot.web.visitors.domain import Annotator

router = APIRouter(
    prefix="/annotate/{campaign_id}/packages/{assignment_id}", route_class=PageRoute, include_in_schema=False
)


async def get_own_package(service: AsyncAnnotation, assignment_id: UUID, annotator: Annotator) -> AssignmentOut:
    """Return a package of this annotator; raises NotYourPackage for another annotator's package."""
    found = await service.get_assignment(assignment_id)
    if (found.campaign_id, found.annotator) != (annotator.campaign_id, annotator.annotator):
        raise NotYourPackage
    return found


@router.get("")
async def get_package(service: AnnotationService, annotator: AnnotatorOfCampaign, assignment_id: UUID) -> AssignmentOut:
    """Return a package with its saved answers, including answers saved in another window."""
    return await get_own_package(service, assignment_id, annotator)


@router.put("/items/{position}")
async def save(
    service: AnnotationService,
    annotator: AnnotatorOfCampaign,
    assignment_id: UUID,
    position: Position,
    answer: AnswerIn,
) -> SavedOut:
    """Save the answer to an item."""
    own = answer.model_copy(update={"holder": annotator.holder})
    return await service.save_answer(assignment_id, position, own)


@router.post("/items/{position}/exchanges")
async def open_exchange(
    service: AnnotationService,
    annotator: AnnotatorOfCampaign,
    assignment_id: UUID,
    position: Position,
    exchange: ExchangeIn,
) -> ExchangeOut:
    """Open the next exchange of an item."""
    own = exchange.model_copy(update={"holder": annotator.holder})
    return await service.open_exchange(assignment_id, position, own)


@router.post("/heartbeat")
async def keep(
    service: AnnotationService, annotator: AnnotatorOfCampaign, assignment_id: UUID, heartbeat: HeartbeatIn
) -> LeaseOut:
    """Extend the lease of a package while its annotator works."""
    own = heartbeat.model_copy(update={"holder": annotator.holder})
    return await service.keep_assignment(assignment_id, own)


@router.post("/release")
async def release(service: AnnotationService, annotator: AnnotatorOfCampaign, assignment_id: UUID) -> Response:
    """Give a package back, and show the page that says so."""
    await service.release_assignment(assignment_id, ReleaseIn(holder=annotator.holder))
    return RedirectResponse(f"/annotate/{annotator.campaign_id}/said/stopped", status_code=303)


@router.post("/submit")
async def submit(service: AnnotationService, annotator: AnnotatorOfCampaign, assignment_id: UUID) -> dict[str, str]:
    """Submit a package with answers to all its items. Return the address of the page that follows."""
    await service.submit_assignment(assignment_id, SubmissionIn(holder=annotator.holder))
    return {"next": f"/annotate/{annotator.campaign_id}/done/{assignment_id}"}

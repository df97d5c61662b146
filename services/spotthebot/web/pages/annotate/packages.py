"""What the script of a package asks for: saves, exchanges, signs of life, the end; each for the cookie's annotator.

The frontend's key opens the packages of all its annotators: `annotation` is asked for those of this one alone.
"""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.contracts.annotation.assignments import (
    AnswerIn,
    AssignmentOut,
    ExchangeIn,
    ExchangeOut,
    HeartbeatIn,
    LeaseOut,
    Position,
    SavedOut,
    SubmissionIn,
)
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.pages.annotate.deps import get_own_package
from spotthebot.web.pages.deps import AnnotationService, AnnotatorOfCampaign

router = APIRouter(
    prefix="/annotate/{campaign_id}/packages/{assignment_id}", route_class=PageRoute, include_in_schema=False
)


@router.get("")
async def get_package(service: AnnotationService, annotator: AnnotatorOfCampaign, assignment_id: UUID) -> AssignmentOut:
    """Return a package with what was saved, by this window or another one."""
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
    """Keep a package whose annotator is at work."""
    own = heartbeat.model_copy(update={"holder": annotator.holder})
    return await service.keep_assignment(assignment_id, own)


@router.post("/submit")
async def submit(service: AnnotationService, annotator: AnnotatorOfCampaign, assignment_id: UUID) -> dict[str, str]:
    """Submit a package whose items are all answered; says where its end is shown."""
    await service.submit_assignment(assignment_id, SubmissionIn(holder=annotator.holder))
    return {"next": f"/annotate/{annotator.campaign_id}/done/{assignment_id}"}

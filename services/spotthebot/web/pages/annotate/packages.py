"""What the script of a package asks for: saves, exchanges, signs of life, the end; each for the cookie's annotator."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.contracts.assignments import (
    AnswerIn,
    AssignmentOut,
    ExchangeIn,
    ExchangeOut,
    HeartbeatIn,
    LeaseOut,
    Position,
    SavedOut,
)
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.pages.annotate.deps import AnnotationService, Owners
from spotthebot.web.pages.deps import AnnotatorOfCampaign

router = APIRouter(
    prefix="/annotate/{campaign_id}/packages/{assignment_id}", route_class=PageRoute, include_in_schema=False
)


@router.get("")
async def get_package(
    service: AnnotationService, owners: Owners, annotator: AnnotatorOfCampaign, assignment_id: UUID
) -> AssignmentOut:
    """Return a package with what was saved, by this window or another one."""
    return await owners.get(service, assignment_id, annotator)


@router.put("/items/{position}")
async def save(
    service: AnnotationService,
    owners: Owners,
    annotator: AnnotatorOfCampaign,
    assignment_id: UUID,
    position: Position,
    answer: AnswerIn,
) -> SavedOut:
    """Save the answer to an item."""
    await owners.require(service, assignment_id, annotator)
    return await service.save_answer(assignment_id, position, answer)


@router.post("/items/{position}/exchanges")
async def open_exchange(
    service: AnnotationService,
    owners: Owners,
    annotator: AnnotatorOfCampaign,
    assignment_id: UUID,
    position: Position,
    exchange: ExchangeIn,
) -> ExchangeOut:
    """Open the next exchange of an item."""
    await owners.require(service, assignment_id, annotator)
    return await service.open_exchange(assignment_id, position, exchange)


@router.post("/heartbeat")
async def keep(
    service: AnnotationService,
    owners: Owners,
    annotator: AnnotatorOfCampaign,
    assignment_id: UUID,
    heartbeat: HeartbeatIn,
) -> LeaseOut:
    """Keep a package whose annotator is at work."""
    await owners.require(service, assignment_id, annotator)
    return await service.keep_assignment(assignment_id, heartbeat)


@router.post("/submit")
async def submit(
    service: AnnotationService, owners: Owners, annotator: AnnotatorOfCampaign, assignment_id: UUID
) -> dict[str, str]:
    """Submit a package whose items are all answered; says where its end is shown."""
    await owners.require(service, assignment_id, annotator)
    await service.submit_assignment(assignment_id)
    return {"next": f"/annotate/{annotator.campaign_id}/done/{assignment_id}"}

"""The task API for annotation frontends: claim a package for an annotator, submit the annotations."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.annotation import store
from spotthebot.annotation.api.deps import Claimer, Frontend, Settings
from spotthebot.annotation.domain.assignments import Assignment
from spotthebot.annotation.domain.campaigns import Campaign
from spotthebot.annotation.use_cases import assignments
from spotthebot.contracts.annotation import AnnotationIn, AssignmentOut, AssignmentProgressOut, ClaimIn, SegmentOut
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1", tags=["tasks"], route_class=IdempotentRoute)


@router.post("/campaigns/{campaign_id}/assignments", status_code=201, operation_id="claim_package")
async def claim_package(
    session: Writing, _caller: Claimer, settings: Settings, now: Now, campaign_id: UUID, request: ClaimIn
) -> AssignmentOut:
    """Claim a package for an annotator; one who has not finished a package gets it again. 404 where none is left."""
    ttl = settings.claim_ttl_seconds
    assignment = await assignments.claim_package(session, campaign_id, request.annotator, now=now, ttl_seconds=ttl)
    return _to_out(assignment, await store.campaigns.get_campaign(session, campaign_id))


@router.get("/assignments/{assignment_id}", operation_id="get_assignment")
async def get_assignment(session: Reading, _caller: Frontend, assignment_id: UUID) -> AssignmentOut:
    """Return an assignment, so that its annotator can continue."""
    assignment = await store.assignments.get_assignment(session, assignment_id)
    return _to_out(assignment, await store.campaigns.get_campaign(session, assignment.campaign_id))


@router.put("/assignments/{assignment_id}/annotations/{segment_id}", operation_id="submit_annotation")
async def submit_annotation(
    session: Writing, _caller: Frontend, assignment_id: UUID, segment_id: UUID, annotation: AnnotationIn
) -> AssignmentProgressOut:
    """Submit an annotation of a segment. The last one completes the assignment and gives the completion code."""
    assignment = await assignments.submit_annotation(session, assignment_id, segment_id, annotation)
    return AssignmentProgressOut(
        id=assignment.id,
        state=assignment.state,
        annotated=len(assignment.annotations),
        segments=len(assignment.segments),
        completion_code=assignment.completion_code,
    )


def _to_out(assignment: Assignment, campaign: Campaign) -> AssignmentOut:
    return AssignmentOut(
        id=assignment.id,
        campaign_id=assignment.campaign_id,
        annotator=assignment.annotator,
        state=assignment.state,
        instructions=campaign.instructions,
        segments=tuple(
            SegmentOut(id=segment.id, position=segment.position, turns=segment.turns) for segment in assignment.segments
        ),
        annotated=tuple(segment.id for segment in assignment.segments if segment.id in assignment.annotations),
        expires_at=assignment.expires_at,
        completion_code=assignment.completion_code,
    )

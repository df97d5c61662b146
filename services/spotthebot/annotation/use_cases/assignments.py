"""Assignments: claim a package, submit its annotations."""

import secrets
from datetime import datetime, timedelta
from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.domain.assignments import Assignment
from spotthebot.annotation.domain.errors import (
    AlreadyAnnotated,
    AssignmentExpired,
    CampaignTakesNoClaims,
    NothingToClaim,
    NotInTheAssignment,
)
from spotthebot.contracts.annotation import AnnotationIn, AssignmentState
from spotthebot.kit.database import WriteSession


async def claim_package(
    session: WriteSession, campaign_id: UUID, annotator: str, *, now: datetime, ttl_seconds: int
) -> Assignment:
    """Assign a package to an annotator; one who has not finished a package gets the same again.

    Raises NothingToClaim where no package is left that needs annotators and shows no conversation that this annotator
    has seen.
    """
    campaign = await store.campaigns.get_campaign(session, campaign_id)
    if campaign.mode != "live":
        raise CampaignTakesNoClaims(name=campaign.name)
    await store.assignments.lock_claims(session, campaign_id)
    await store.assignments.expire_claims(session, campaign_id, now)
    claimed = await store.assignments.find_claimed(session, campaign_id, annotator)
    expires_at = now + timedelta(seconds=ttl_seconds)
    if claimed is None:
        campaign.require_open()
        claimed = await store.assignments.revive_expired(session, campaign, annotator, expires_at)
    if claimed is None:
        claimed = await store.assignments.claim_next(session, campaign, annotator, expires_at)
    if claimed is None:
        raise NothingToClaim
    return await store.assignments.get_assignment(session, claimed)


async def submit_annotation(
    session: WriteSession, assignment_id: UUID, segment_id: UUID, annotation: AnnotationIn
) -> Assignment:
    """Store an annotation of a segment; the last one completes the assignment and makes its code.

    Until then a segment can be annotated again. Afterwards the same annotation is accepted, another one refused.
    """
    assignment = await store.assignments.get_assignment(session, assignment_id, lock=True)
    if segment_id not in {segment.id for segment in assignment.segments}:
        raise NotInTheAssignment(segment_id=segment_id)
    if assignment.state is AssignmentState.EXPIRED:
        raise AssignmentExpired(expired_at=assignment.expires_at.isoformat(timespec="seconds"))
    if assignment.state is AssignmentState.COMPLETE:
        stored = assignment.annotations.get(segment_id)
        if stored is None or stored.model_dump() != annotation.model_dump(exclude={"elapsed_ms"}):
            raise AlreadyAnnotated
        return assignment
    await store.annotations.put_annotation(session, assignment, segment_id, annotation)
    if len(assignment.annotations.keys() | {segment_id}) == len(assignment.segments):
        await _complete(session, assignment)
    return await store.assignments.get_assignment(session, assignment_id)


async def _complete(session: WriteSession, assignment: Assignment) -> None:
    """Complete an assignment, and its campaign with the last one."""
    await store.assignments.complete_assignment(session, assignment.id, secrets.token_hex(6))
    # Of two assignments that are completed at the same time, the second must count the first.
    await store.campaigns.lock_campaign(session, assignment.campaign_id)
    campaign = await store.campaigns.get_campaign(session, assignment.campaign_id)
    if campaign.is_fully_annotated:
        await store.campaigns.complete_campaign(session, campaign.id)

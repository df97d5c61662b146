"""Reviews of submitted work, which administrators may reject, and of annotators: quality, blocks, appeals.

The audit log records all decisions.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.assignments.store import annotations as annotations_store
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import response_times as response_times_store
from spotthebot.annotation.attempts.use_cases import has_failed
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.events.use_cases import publish_rejected
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.leases.domain import Lease
from spotthebot.annotation.reviews import store
from spotthebot.annotation.reviews.domain import AnnotatorQuality, agreement
from spotthebot.contracts.annotation.assignments import AssignmentState
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def get_quality(session: ReadSession, campaign_id: UUID, annotator_id: UUID) -> AnnotatorQuality:
    """Return the quality of an annotator's work so far; the campaign may still run."""
    annotator = await annotators_store.get_annotator(session, campaign_id, annotator_id)
    annotations, median = await store.get_times(session, annotator_id)
    pairs = await store.list_compared(session, annotator_id)
    protocol = (await terms_of(session, campaign_id)).protocol
    times = await response_times_store.find_response_times(session, campaign_id, annotator_id)
    return AnnotatorQuality(annotator, annotations, median, times, agreement(protocol, pairs))


async def unblock_annotator(
    session: WriteSession, campaign_id: UUID, annotator_id: UUID, reason: str, *, key_id: UUID
) -> Annotator:
    """Let a blocked annotator work again; raises AnnotatorErased."""
    (await annotators_store.lock_annotator_by_id(session, campaign_id, annotator_id)).require_known()
    if await annotators_store.unblock(session, annotator_id):
        await audit_store.add(
            session, campaign_id, key_id=key_id, action="annotator.unblocked", annotator_id=annotator_id, reason=reason
        )
    return await annotators_store.get_annotator(session, campaign_id, annotator_id)


async def appeal(
    session: WriteSession,
    campaign_id: UUID,
    frontend: str,
    external_id: str,
    note: str,
    *,
    key_id: UUID,
    now: datetime,
) -> Annotator:
    """Store a note with which an annotator objects to their block, or to having failed the training for good.

    A repeat of the same note changes nothing. Raises NothingToAppeal, and AppealLodged for another note.
    """
    annotator = await annotators_store.lock_known_annotator(session, campaign_id, frontend, external_id)
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    if not annotator.require_appealable(note, has_failed=await has_failed(session, campaign, annotator)):
        return annotator
    await annotators_store.set_appeal(session, annotator.id, note, now)
    await audit_store.add(
        session, campaign_id, key_id=key_id, action="annotator.appealed", annotator_id=annotator.id, note=note
    )
    return await annotators_store.get_annotator(session, campaign_id, annotator.id)


async def reject_assignment(
    session: WriteSession, campaign_id: UUID, assignment_id: UUID, reason: str, *, key_id: UUID
) -> Lease:
    """Reject submitted work: its annotations are removed, its answers stay, and the package needs another annotator.

    Opens a complete campaign again. Rejecting again changes nothing. Raises AssignmentNotSubmitted.
    """
    lease = await assignments_store.lock_assignment_of(session, campaign_id, assignment_id)
    lease.require_submitted()
    if lease.state is AssignmentState.REJECTED:
        return lease
    await leases_store.reject(session, lease.id)
    annotations = await annotations_store.remove_submitted(session, lease.id)
    if lease.takes_slot:
        await leases_store.return_slot(session, lease.package_id)
    await audit_store.add(
        session,
        campaign_id,
        key_id=key_id,
        action="assignment.rejected",
        annotator_id=lease.annotator_id,
        assignment=str(lease.id),
        reason=reason,
    )
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    annotator = await annotators_store.get_annotator(session, campaign_id, lease.annotator_id)
    await publish_rejected(session, campaign, lease, annotator.frontend)
    if lease.takes_slot:
        # Done last, because it locks the campaign until the transaction ends.
        await campaigns_store.count_rejected(session, campaign_id, annotations=annotations)
    return replace(lease, state=AssignmentState.REJECTED)

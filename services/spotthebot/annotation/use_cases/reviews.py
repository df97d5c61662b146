"""Reviews: what annotators submitted is looked at, and rejected where it should not count."""

from dataclasses import replace
from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.domain.assignments import Lease
from spotthebot.annotation.use_cases.events import publish_rejected
from spotthebot.contracts.assignments import AssignmentState
from spotthebot.kit.database import WriteSession


async def reject_assignment(
    session: WriteSession, campaign_id: UUID, assignment_id: UUID, reason: str, *, key_id: UUID
) -> Lease:
    """Let submitted work not count: its annotations go, its answers stay, and the package needs another annotator.

    A complete campaign is open again. Rejecting again changes nothing. Raises AssignmentNotSubmitted.
    """
    lease = await store.assignments.lock_assignment_of(session, campaign_id, assignment_id)
    lease.require_submitted()
    if lease.state is AssignmentState.REJECTED:
        return lease
    await store.assignments.reject(session, lease.id)
    annotations = await store.annotations.remove_submitted(session, lease.id)
    await store.claims.return_slot(session, lease.package_id)
    await store.audit_log.add(
        session,
        campaign_id,
        key_id=key_id,
        action="assignment.rejected",
        annotator_id=lease.annotator_id,
        assignment=str(lease.id),
        reason=reason,
    )
    campaign = await store.campaigns.get_campaign(session, campaign_id)
    annotator = await store.annotators.get_annotator(session, campaign_id, lease.annotator_id)
    await publish_rejected(session, campaign, lease, annotator.frontend)
    # Last, since this locks the campaign until the transaction ends.
    await store.campaigns.count_rejected(session, campaign_id, annotations=annotations)
    return replace(lease, state=AssignmentState.REJECTED)

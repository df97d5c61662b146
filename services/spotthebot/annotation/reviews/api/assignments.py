"""Assignments of an annotator as administrators see them, and the rejection of submitted work."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.deps import Admin, AdminReader
from spotthebot.annotation.reviews import use_cases
from spotthebot.contracts.annotation.assignments import AssignmentSummaryOut, RejectionIn
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["annotators"], route_class=IdempotentRoute)


@router.get("/annotators/{annotator_id}/assignments", operation_id="list_assignments")
async def list_assignments(
    session: Reading, _caller: AdminReader, campaign_id: UUID, annotator_id: UUID, paging: Paging
) -> Page[AssignmentSummaryOut]:
    """List the assignments of an annotator, oldest first."""
    await annotators_store.get_annotator(session, campaign_id, annotator_id)
    rows = await assignments_store.list_assignments(session, annotator_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda row: row.id, to_out=AssignmentSummaryOut.of)


@router.post("/assignments/{assignment_id}/reject", operation_id="reject_assignment")
async def reject_assignment(
    session: Writing, caller: Admin, campaign_id: UUID, assignment_id: UUID, request: RejectionIn
) -> AssignmentSummaryOut:
    """Reject submitted work: its package goes to another annotator. The answers are kept, but not analysed."""
    return AssignmentSummaryOut.of(
        await use_cases.reject_assignment(session, campaign_id, assignment_id, request.reason, key_id=caller.key_id)
    )

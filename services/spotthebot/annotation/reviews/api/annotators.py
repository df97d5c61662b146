"""The annotators of a campaign and their assignments, the rejection of work, and the audit log of decisions."""

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators import use_cases as annotators_use_cases
from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Pseudonyms
from spotthebot.annotation.deps import Admin, AdminReader, Frontend
from spotthebot.annotation.erasure import use_cases as erasure_use_cases
from spotthebot.annotation.reviews import store, use_cases
from spotthebot.annotation.reviews.use_cases import appeal, get_quality
from spotthebot.contracts.annotation.annotations import AnnotatorId
from spotthebot.contracts.annotation.assignments import (
    AnnotatorOut,
    AnnotatorQualityOut,
    AppealIn,
    AppealOut,
    AssignmentSummaryOut,
    BlockIn,
    RejectionIn,
)
from spotthebot.contracts.annotation.audit import AuditEntryOut
from spotthebot.contracts.terms import SubmittedTexts
from spotthebot.contracts.wire import Name
from spotthebot.kit.web.core.pagination import Order, Page, Paging, page_of
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["annotators"], route_class=IdempotentRoute)


@router.get("/annotators", operation_id="list_annotators")
async def list_annotators(
    session: Reading,
    _caller: AdminReader,
    campaign_id: UUID,
    paging: Paging,
    annotator: Annotated[AnnotatorId | None, Query(description="Whom a frontend calls so.")] = None,
    blocked: Annotated[bool | None, Query(description="Those who are blocked now, or are not.")] = None,
    appealed: Annotated[
        bool | None, Query(description="Those who said something against a block or a failed training, or did not.")
    ] = None,
) -> Page[AnnotatorOut]:
    """List the annotators of a campaign, oldest first."""
    pseudonyms = await campaigns_store.get_pseudonyms(session, campaign_id)
    rows = await annotators_store.list_annotators(
        session,
        campaign_id,
        external_id=annotator,
        blocked=blocked,
        appealed=appealed,
        after=paging.after,
        limit=paging.limit + 1,
    )
    return page_of(rows, paging, key=lambda row: row.id, to_out=lambda row: _annotator_out(row, pseudonyms))


@router.get("/annotators/{annotator_id}/quality", operation_id="get_annotator_quality")
async def get_annotator_quality(
    session: Reading, _caller: AdminReader, campaign_id: UUID, annotator_id: UUID
) -> AnnotatorQualityOut:
    """Return the quality of an annotator's work so far: gold items, strikes, speed, agreement with others."""
    found = await get_quality(session, campaign_id, annotator_id)
    pseudonyms = await campaigns_store.get_pseudonyms(session, campaign_id)
    return AnnotatorQualityOut.of(
        found,
        annotator=_annotator_out(found.annotator, pseudonyms),
        median_seconds=None if found.median_time is None else found.median_time.total_seconds(),
        others_median_seconds=found.others_times.median.total_seconds()
        if found.others_times and found.others_times.is_known
        else None,
    )


@router.post("/annotators/{annotator_id}/block", operation_id="block_annotator")
async def block_annotator(
    session: Writing, caller: Admin, now: Now, campaign_id: UUID, annotator_id: UUID, request: BlockIn
) -> AnnotatorOut:
    """Block an annotator from claiming packages.

    A package that they hold goes to other annotators, and their answers stay.
    """
    blocked = await annotators_use_cases.block_annotator(
        session, campaign_id, annotator_id, request.reason, key_id=caller.key_id, now=now
    )
    return _annotator_out(blocked, await campaigns_store.get_pseudonyms(session, campaign_id))


@router.post("/annotators/{annotator_id}/unblock", operation_id="unblock_annotator")
async def unblock_annotator(
    session: Writing, caller: Admin, campaign_id: UUID, annotator_id: UUID, request: BlockIn
) -> AnnotatorOut:
    """Let a blocked annotator claim packages again."""
    unblocked = await use_cases.unblock_annotator(
        session, campaign_id, annotator_id, request.reason, key_id=caller.key_id
    )
    return _annotator_out(unblocked, await campaigns_store.get_pseudonyms(session, campaign_id))


@router.post("/annotators/{annotator_id}/erase", operation_id="erase_annotator")
async def erase_annotator(
    session: Writing,
    caller: Admin,
    now: Now,
    campaign_id: UUID,
    annotator_id: UUID,
    submitted_texts: Annotated[
        SubmittedTexts, Query(description="What becomes of free texts in annotations that were submitted.")
    ] = SubmittedTexts.ERASE,
) -> AnnotatorOut:
    """Erase the person behind an annotator, in every campaign; their labels stay. An erasure can't be undone."""
    erased = await erasure_use_cases.erase_annotator(
        session, campaign_id, annotator_id, submitted_texts, key_id=caller.key_id, now=now
    )
    return _annotator_out(erased, await campaigns_store.get_pseudonyms(session, campaign_id))


@router.post("/appeals", operation_id="appeal_block")
async def appeal_block(session: Writing, caller: Frontend, now: Now, campaign_id: UUID, request: AppealIn) -> AppealOut:
    """Store a note with which an annotator objects to their block, or to having failed the training for good.

    An annotator can leave one note. A repeat of the same note changes nothing.
    """
    annotator = await appeal(
        session,
        campaign_id,
        caller.owner,
        request.annotator,
        request.note,
        key_id=caller.key_id,
        now=now,
    )
    if annotator.appeal is None or annotator.appealed_at is None:
        message = f"the appeal of annotator {annotator.id} was not kept"
        raise RuntimeError(message)
    return AppealOut(annotator=annotator.external_id, note=annotator.appeal, appealed_at=annotator.appealed_at)


@router.get("/audit", operation_id="list_audit_entries")
async def list_audit_entries(
    session: Reading,
    _caller: AdminReader,
    campaign_id: UUID,
    paging: Paging,
    action: Annotated[Name | None, Query(description="Decisions of this kind, such as `annotator.blocked`.")] = None,
    annotator_id: Annotated[UUID | None, Query(description="Decisions about this annotator.")] = None,
    order: Order = "oldest_first",
) -> Page[AuditEntryOut]:
    """List decisions that affected a person, a label or the campaign, oldest first, even for a deleted campaign."""
    rows = await audit_store.list_entries(
        session,
        campaign_id,
        action=action,
        annotator_id=annotator_id,
        newest_first=order == "newest_first",
        after=paging.after,
        limit=paging.limit + 1,
    )
    if not rows:
        await store.require_campaign(session, campaign_id)
    return page_of(rows, paging, key=lambda row: row.id, to_out=AuditEntryOut.of)


def _annotator_out(annotator: Annotator, pseudonyms: Pseudonyms) -> AnnotatorOut:
    return AnnotatorOut.of(
        annotator,
        annotator=annotator.external_id,
        pseudonym=pseudonyms.name_of(annotator.id, annotator.external_id, annotator.kind),
        **asdict(annotator.work),
    )


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

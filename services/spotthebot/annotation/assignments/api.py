"""The task API for annotation frontends: claim a package for an annotator, save answers, submit."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.use_cases import protocol_by_annotator
from spotthebot.annotation.assignments.domain.assignments import Assignment, ShownItem
from spotthebot.annotation.assignments.use_cases import answers as answers_use_cases
from spotthebot.annotation.assignments.use_cases import assignments as assignments_use_cases
from spotthebot.annotation.assignments.use_cases import gold as gold_use_cases
from spotthebot.annotation.assignments.use_cases.assignments import keep_lease
from spotthebot.annotation.assignments.use_cases.judges import submit_labels
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.deps import Claimer, Frontend
from spotthebot.annotation.entry_links.api import completion_out
from spotthebot.annotation.entry_links.use_cases import completion_of
from spotthebot.annotation.leases.domain import Lease
from spotthebot.contracts.annotation.assignments import (
    AnswerIn,
    AssignmentOut,
    AssignmentState,
    ClaimIn,
    ExchangeIn,
    ExchangeOut,
    HeartbeatIn,
    ItemOut,
    JudgeSubmissionIn,
    LeaseOut,
    ReleaseIn,
    SavedOut,
    SubmissionIn,
    SubmittedOut,
)
from spotthebot.contracts.annotation.packages import MAX_PACKAGE_SIZE
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Statements, Writing

router = APIRouter(prefix="/v1", tags=["tasks"], route_class=IdempotentRoute)
_MAX_MISSING = 20
_ANYBODYS, _RELEASED_BY_ANYBODY, _OF_ANYBODY = SubmissionIn(), ReleaseIn(), HeartbeatIn()

ItemPosition = Annotated[int, Path(ge=0, lt=MAX_PACKAGE_SIZE, description="The item's position in the package.")]


@router.post("/campaigns/{campaign_id}/assignments", status_code=201, operation_id="claim_package")
async def claim_package(
    session: Writing, caller: Claimer, now: Now, campaign_id: UUID, request: ClaimIn
) -> AssignmentOut:
    """Claim a package for an annotator. An annotator with an unsubmitted package gets the same package again.

    The end of `type` of a 409 says why no package was claimed: closed, limit-reached, blocked, consent-required,
    training-required, training-failed, nothing-left, other-annotator-kind. With a `link` also: not-entered,
    entry-link-revoked. With a named package also: another-package-held, conversation-seen, package-taken. With `new`
    false also: no-package-held.
    """
    assignment = await assignments_use_cases.claim_package(session, campaign_id, caller.owner, request, now=now)
    return await _to_out(session, assignment)


@router.get("/assignments/{assignment_id}", operation_id="get_assignment")
async def get_assignment(session: Reading, caller: Frontend, assignment_id: UUID) -> AssignmentOut:
    """Return an assignment with its saved answers, so that its annotator can continue."""
    return await _to_out(session, await gold_use_cases.get_assignment(session, assignment_id, caller.owner))


@router.put("/assignments/{assignment_id}/items/{position}", operation_id="save_answer")
async def save_answer(
    statements: Statements, caller: Frontend, now: Now, assignment_id: UUID, position: ItemPosition, request: AnswerIn
) -> SavedOut:
    """Save the answer to an item and replace the earlier answer.

    `show_step` shows the next step and locks the earlier steps. The end of `type` of a 409 says why nothing was saved:
    step-not-shown, step-locked, step-unanswered, version-outdated, no-exchange-open, decision-locked,
    assignment-expired, assignment-submitted.
    """
    saved = await answers_use_cases.save_answer(statements, assignment_id, caller.owner, position, request, now=now)
    return SavedOut(
        position=saved.position,
        version=saved.draft.version,
        step=saved.draft.step,
        missing=tuple(fault.pointer for fault in saved.missing[:_MAX_MISSING]),
        expires_at=saved.expires_at,
    )


@router.post("/assignments/{assignment_id}/items/{position}/exchanges", operation_id="open_exchange")
async def open_exchange(
    session: Writing, caller: Frontend, now: Now, assignment_id: UUID, position: ItemPosition, request: ExchangeIn
) -> ExchangeOut:
    """Open the next exchange of an item, in protocols that open exchanges one by one.

    A repeat for an open exchange returns it again. Opening an exchange locks the answers given so far. A 409's
    `type` ends with the reason: everything-decided, all-exchanges-open, exchange-not-next, shown-whole.
    """
    turns = await answers_use_cases.open_exchange(session, assignment_id, caller.owner, position, request, now=now)
    return ExchangeOut(position=position, opened=request.open, turns=turns)


@router.post("/assignments/{assignment_id}/heartbeat", operation_id="keep_assignment")
async def keep_assignment(
    session: Writing, caller: Frontend, now: Now, assignment_id: UUID, request: HeartbeatIn = _OF_ANYBODY
) -> LeaseOut:
    """Renew the lease of an annotator at work. With `position`, count the time that this item is on the screen.

    The end of `type` of a 409 is assignment-expired, assignment-submitted or blocked.
    """
    lease = await keep_lease(session, assignment_id, caller.owner, request.holder, position=request.position, now=now)
    return LeaseOut.of(lease)


@router.post("/assignments/{assignment_id}/release", operation_id="release_assignment")
async def release_assignment(
    session: Writing, caller: Frontend, now: Now, assignment_id: UUID, request: ReleaseIn = _RELEASED_BY_ANYBODY
) -> LeaseOut:
    """Give a package back before its lease ends, so that others may get it. A repeat changes nothing.

    Saved answers are kept: the annotator's next claim returns the package with them, if it still needs an annotator.
    """
    lease = await assignments_use_cases.release_assignment(
        session, assignment_id, caller.owner, request.holder, now=now
    )
    return LeaseOut.of(lease)


@router.post("/assignments/{assignment_id}/submit", operation_id="submit_assignment")
async def submit_assignment(
    session: Writing, caller: Frontend, now: Now, assignment_id: UUID, request: SubmissionIn = _ANYBODYS
) -> SubmittedOut:
    """Submit a package with all items answered and return the completion code. A repeat returns the same code.

    The end of `type` of a 409 is items-unanswered, whose `errors` name the missing answers, assignment-expired or, for
    rejected work, assignment-submitted.
    """
    lease, campaign = await assignments_use_cases.submit_assignment(
        session, assignment_id, caller.owner, request.holder, key_id=caller.key_id, now=now
    )
    return await _submitted(session, lease, campaign)


@router.post("/assignments/{assignment_id}/judge-labels", operation_id="submit_judge_labels")
async def submit_judge_labels(
    session: Writing, caller: Frontend, now: Now, assignment_id: UUID, request: JudgeSubmissionIn
) -> SubmittedOut:
    """Submit a package that a judge holds: all items, with probabilities. A repeat returns the same code."""
    lease, campaign = await submit_labels(session, assignment_id, caller.owner, request, now=now)
    return await _submitted(session, lease, campaign)


async def _to_out(session: ReadSession, assignment: Assignment) -> AssignmentOut:
    lease = assignment.lease
    protocol = (await protocol_by_annotator(session, lease.campaign_id))(lease.annotator_id)
    campaign = await campaigns_store.get_campaign(session, lease.campaign_id)
    opens_one_by_one = protocol.opens_one_by_one and lease.takes_slot  # a judge sees all of them at once
    return AssignmentOut.of(
        lease,
        annotator=assignment.annotator,
        completion_code=None if lease.state is AssignmentState.REJECTED else lease.completion_code,
        instructions=campaign.instructions,
        protocol=protocol,
        items=tuple(
            _item_out(item, opened=len(item.draft.opened_at) if opens_one_by_one else None) for item in assignment.items
        ),
    )


def _item_out(item: ShownItem, *, opened: int | None) -> ItemOut:
    return ItemOut.of(
        item.draft,
        position=item.position,
        turns=item.turns(exchanges=opened),
        right_turns=item.right_turns,
        opened=opened,
    )


async def _submitted(session: ReadSession, lease: Lease, campaign: Campaign) -> SubmittedOut:
    if lease.submitted_at is None or lease.completion_code is None:
        message = f"assignment {lease.id} is not submitted"
        raise RuntimeError(message)
    annotator = await annotators_store.get_annotator(session, lease.campaign_id, lease.annotator_id)
    pseudonyms = await campaigns_store.get_pseudonyms(session, lease.campaign_id)
    completion = await completion_of(session, campaign, annotator.external_id, lease)
    return SubmittedOut(
        id=lease.id,
        submitted_at=lease.submitted_at,
        completion_code=lease.completion_code,
        pseudonym=pseudonyms.name_of(annotator.id, annotator.external_id, annotator.kind),
        packages_left=annotator.packages_left(campaign),
        completion=None if completion is None else completion_out(completion),
    )

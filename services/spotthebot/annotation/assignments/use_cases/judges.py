"""Judges: claim a package without taking a slot, and submit its items at once, with probabilities.

A judge sees exactly the items of a package that people see, whole if exchanges open one by one, and no gold items. It
gives no consent, passes no training, has no limit of packages, and may label after a campaign has ended.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.use_cases import protocol_by_annotator
from spotthebot.annotation.assignments.domain.answers import AnsweredItem, SubmittedAnswer
from spotthebot.annotation.assignments.errors import (
    ItemsUnanswered,
    LabelsFaulty,
    NoPackageHeld,
    NothingLeft,
    PackagesNotNamedByJudges,
)
from spotthebot.annotation.assignments.store import annotations as annotations_store
from spotthebot.annotation.assignments.store import answers as answers_store
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import claims as claims_store
from spotthebot.annotation.assignments.store import judge_claims as judge_claims_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.entry_links.use_cases import lock_annotator
from spotthebot.annotation.judges.domain import check_labels
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.leases.domain import ENDED, Lease
from spotthebot.annotation.protocols.domain.answers import answered_questions
from spotthebot.annotation.protocols.domain.exchanges import Decision
from spotthebot.annotation.protocols.domain.order import drawn_order
from spotthebot.contracts.annotation.assignments import (
    AssignmentId,
    AssignmentState,
    ClaimIn,
    JudgeItemIn,
    JudgeSubmissionIn,
)
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.errors import FieldError


async def claim_for_judge(
    session: WriteSession, campaign: Campaign, frontend: str, request: ClaimIn, *, now: datetime
) -> AssignmentId:
    """Lease the next package to a judge; a judge with an unsubmitted package gets the same package again.

    Each version of a judge gets each package `judge_annotations_per_segment` times, by as many annotators. Raises
    CampaignClosed, PackagesNotNamedByJudges, UnknownJudge, OtherJudgeVersion, AnnotatorBlocked, NoPackageHeld and
    NothingLeft.
    """
    campaign.require_open_to_judges()
    if request.package is not None:
        raise PackagesNotNamedByJudges
    annotator_id, _ = await lock_annotator(session, campaign.id, frontend, request)
    (await annotators_store.get_annotator(session, campaign.id, annotator_id)).require_unblocked()
    expires_at = now + campaign.lease
    if (held := await claims_store.lock_held(session, annotator_id)) is not None:
        await leases_store.extend_lease(session, held.id, expires_at)
        return held.id
    if (expired := await judge_claims_store.find_expired(session, annotator_id)) is not None:
        await leases_store.renew_lease(session, expired, expires_at)
        return expired
    if not request.new:
        raise NoPackageHeld
    await judge_claims_store.lock_version(session, campaign.id, annotator_id)
    most = campaign.judge_annotations_per_segment
    package_id = await judge_claims_store.find_package(session, campaign.id, annotator_id, most=most)
    if package_id is None:
        raise NothingLeft
    return await judge_claims_store.lease_package(
        session, campaign.id, package_id, annotator_id, leased_at=now, expires_at=expires_at
    )


async def submit_labels(
    session: WriteSession, assignment_id: UUID, frontend: str, request: JudgeSubmissionIn, *, now: datetime
) -> tuple[Lease, Campaign]:
    """Store a judge's labels of all items of a package as annotations, and end the lease. A repeat changes nothing.

    Counts nothing, and checks neither times nor gold items. Raises HasNoLabels for the package of a person,
    AssignmentExpired, and ItemsUnanswered or LabelsFaulty for labels that do not fit the items.
    """
    lease = await assignments_store.lock_lease(session, assignment_id, frontend, request.holder)
    lease.require_judge()
    campaign = await campaigns_store.get_campaign(session, lease.campaign_id)
    if lease.state in ENDED:
        return lease, campaign
    lease.require_at_work(now)
    terms = await terms_of(session, lease.campaign_id)
    items = await answers_store.list_items(session, lease)
    answers = _answers(terms.protocol, items, request.items, lease, now)
    protocol = (await protocol_by_annotator(session, lease.campaign_id))(lease.annotator_id)
    await annotations_store.add_submitted(session, lease, answers, drawn_order(protocol))
    code, submitted_at = secrets.token_hex(6), max(now, lease.leased_at)
    await leases_store.submit(session, lease.id, at=submitted_at, completion_code=code)
    submitted = replace(lease, state=AssignmentState.SUBMITTED, submitted_at=submitted_at, completion_code=code)
    return submitted, campaign


def _answers(
    protocol: AnnotationProtocol,
    items: Sequence[AnsweredItem],
    given: Sequence[JudgeItemIn],
    lease: Lease,
    now: datetime,
) -> list[SubmittedAnswer]:
    by_position = {each.position: each for each in given}
    lacking = [item.position for item in items if item.position not in by_position]
    if lacking:
        faults = tuple(FieldError(f"/items/{position}", "The item needs labels.") for position in lacking)
        raise ItemsUnanswered(count=len(lacking), fields=faults)
    known = {item.position: item for item in items}
    wrong = [
        FieldError(f"/items/{number}/position", "The package has no such item, or it stands here twice.")
        for number, each in enumerate(given)
        if each.position not in known or by_position[each.position] is not each
    ] or [
        fault
        for number, each in enumerate(given)
        for fault in check_labels(protocol, known[each.position].shape, each.answer, each.labels, at=f"/items/{number}")
    ]
    if wrong:
        raise LabelsFaulty(fields=tuple(wrong))
    return [_submitted(protocol, item, by_position[item.position], lease, now) for item in items]


def _submitted(
    protocol: AnnotationProtocol, item: AnsweredItem, given: JudgeItemIn, lease: Lease, now: datetime
) -> SubmittedAnswer:
    """Return an answer. If exchanges open one by one, all of them were open when the judge decided."""
    decided = answered_questions(protocol, item.shape, given.answer) if protocol.opens_one_by_one else ()
    return SubmittedAnswer(
        item_id=item.id,
        answer=given.answer,
        decisions=tuple(Decision(name, target, item.exchanges, lease.leased_at, now) for name, target in decided),
        started_at=lease.leased_at,
        ended_at=max(now, lease.leased_at),
        elapsed_ms=given.elapsed_ms,
        reported_ms=given.elapsed_ms,
        judge_labels=given.labels,
    )

"""Assignments: claim a package, renew its lease, release it, submit it."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.errors import AnnotatorBlocked
from spotthebot.annotation.annotators.use_cases import protocol_by_annotator
from spotthebot.annotation.assignments.domain.answers import submission
from spotthebot.annotation.assignments.domain.assignments import Assignment
from spotthebot.annotation.assignments.errors import (
    AnotherPackageHeld,
    ConversationSeen,
    NoPackageHeld,
    NoSuchPackage,
    NothingLeft,
    PackageTaken,
)
from spotthebot.annotation.assignments.store import annotations as annotations_store
from spotthebot.annotation.assignments.store import answers as answers_store
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import claims as claims_store
from spotthebot.annotation.assignments.store import drafts as drafts_store
from spotthebot.annotation.assignments.use_cases.gold import add_gold, get_assignment, list_items, require_item
from spotthebot.annotation.assignments.use_cases.judges import claim_for_judge
from spotthebot.annotation.assignments.use_cases.work_checks import check_submitted
from spotthebot.annotation.attempts.use_cases import require_passed
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.entry_links.domain.panels import require_id
from spotthebot.annotation.entry_links.use_cases import lock_annotator, require_link
from spotthebot.annotation.events.use_cases import publish_completed, publish_submitted
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.leases.domain import ENDED, Lease, longest_idle
from spotthebot.annotation.leases.errors import AssignmentSubmitted
from spotthebot.annotation.protocols.domain.order import drawn_order
from spotthebot.contracts.annotation.assignments import AssignmentId, AssignmentState, ClaimIn, HolderIn
from spotthebot.kit.database.sessions import WriteSession

_LONGEST_PAUSE = timedelta(seconds=60)
"""The longest time between two signs of life that counts as work."""


async def claim_package(
    session: WriteSession,
    campaign_id: UUID,
    frontend: str,
    request: ClaimIn,
    *,
    now: datetime,
) -> Assignment:
    """Lease the next package, or a named package, to an annotator.

    An annotator with an unsubmitted package gets the same package again. If they saved no answer for `longest_idle`,
    other annotators come first. For judges see `claim_for_judge`. Raises AnnotatorIdUnusable, ProgramNameUnusable,
    OtherAnnotatorKind, NotEntered, EntryLinkRevoked, and a ClaimRefused with the reason if the annotator may not have a
    package.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    if request.judge is not None:
        return await get_assignment(
            session, await claim_for_judge(session, campaign, frontend, request, now=now), frontend
        )
    campaign.require_live()
    package = request.package
    if package is not None:
        campaign.require_named_packages()
    require_id(campaign.panel, request.annotator)
    annotator_id, is_new = await lock_annotator(session, campaign_id, frontend, request)
    held = None if is_new else await claims_store.lock_held(session, annotator_id)
    leased = None if held is None else held.id
    freed = 0
    if held is not None and held.expires_at <= now:
        if not held.is_answered and held.leased_at + longest_idle(campaign.lease) <= now:
            leased, freed = None, await leases_store.expire_leases(session, now, package_id=held.package_id)
        else:
            await leases_store.extend_lease(session, held.id, now + campaign.lease)
    # Read now, so that a lease that was just ended does not count.
    annotator = await annotators_store.get_annotator(session, campaign_id, annotator_id)
    annotator.require_unblocked()
    annotator.require_consent(campaign)
    if leased is None:
        campaign.require_claims()
        await require_link(session, request.link)
        await require_passed(session, campaign, annotator)
        annotator.require_below_limit(campaign)
        if not request.new:
            raise NoPackageHeld
        claim = _Claim(session, campaign, annotator_id, now)
        if package is not None:
            leased = await claim.lease_named(package)
        else:
            first = None if freed or is_new else await claim.renew()
            leased = first or (None if freed else await claim.lease_next()) or await claim.free_and_lease(freed)
    elif package is not None and not await leases_store.is_lease_of(session, leased, package):
        raise AnotherPackageHeld
    return await get_assignment(session, leased, frontend)


async def keep_lease(
    session: WriteSession,
    assignment_id: UUID,
    frontend: str,
    holder: HolderIn | None = None,
    *,
    position: int | None,
    now: datetime,
) -> Lease:
    """Extend the lease of an annotator at work. Without new answers, the lease ends after `longest_idle`.

    Adds the time since the previous sign of life to the item that the previous sign of life named.
    """
    found = await answers_store.lock_item(session, assignment_id, frontend, holder, position)
    lease = found.lease
    lease.require_at_work(now)
    terms = await terms_of(session, lease.campaign_id)
    if position is not None:
        await require_item(session, terms, found, position)
    if lease.heard_at is not None and lease.heard_position is not None:
        since = now - lease.heard_at
        worked = since if timedelta() < since <= _LONGEST_PAUSE else timedelta()  # a clock may be set back
        await drafts_store.add_active_time(
            session, lease.id, lease.heard_position, at=now, milliseconds=worked // timedelta(milliseconds=1)
        )
    if position is not None:
        await drafts_store.add_active_time(session, lease.id, position, at=now, milliseconds=0)
    progress = await answers_store.get_progress(session, lease)
    if progress.is_blocked:
        raise AnnotatorBlocked
    expires_at = lease.extended(now, lease.lasts, progress.answered_at)
    await leases_store.note_sign_of_life(session, lease.id, expires_at=expires_at, at=now, position=position)
    return replace(lease, expires_at=expires_at, heard_at=now, heard_position=position)


async def release_assignment(
    session: WriteSession, assignment_id: UUID, frontend: str, holder: HolderIn | None = None, *, now: datetime
) -> Lease:
    """End a lease before its time, so that others may get the package. A repeat changes nothing.

    Raises NoSuchAssignment, and AssignmentSubmitted for submitted work.
    """
    lease = await assignments_store.lock_lease(session, assignment_id, frontend, holder)
    if lease.state in ENDED:
        raise AssignmentSubmitted
    if lease.state is AssignmentState.LEASED:
        await leases_store.end_lease(session, lease.id, lease.package_id, now, takes_slot=lease.takes_slot)
        lease = replace(lease, state=AssignmentState.EXPIRED, expires_at=min(lease.expires_at, now))
    return lease


async def submit_assignment(
    session: WriteSession,
    assignment_id: UUID,
    frontend: str,
    holder: HolderIn | None = None,
    *,
    key_id: UUID,
    now: datetime,
) -> tuple[Lease, Campaign]:
    """Submit an assignment with all items answered: answers become annotations, and it gets a completion code.

    A repeat returns the same assignment, and raises AssignmentSubmitted once the work is rejected. The last assignment
    of a campaign completes the campaign. Returns the assignment, and the campaign as it was before the submission.
    """
    # Locked before the lease, as in a claim, because the check may block the annotator.
    await assignments_store.lock_checked(session, assignment_id)
    lease = await assignments_store.lock_lease(session, assignment_id, frontend, holder)
    campaign = await campaigns_store.get_campaign(session, lease.campaign_id)
    lease.require_person()
    if lease.state is AssignmentState.SUBMITTED:
        return lease, campaign
    lease.require_at_work(now)
    terms = await terms_of(session, lease.campaign_id)
    items = await list_items(session, terms, lease)
    answers = submission(terms.protocol, items, lease.leased_at)
    protocol = (await protocol_by_annotator(session, lease.campaign_id))(lease.annotator_id)
    annotations = await annotations_store.add_submitted(session, lease, answers, drawn_order(protocol))
    code = secrets.token_hex(6)
    submitted_at = max(now, lease.leased_at)
    await leases_store.submit(session, lease.id, at=submitted_at, completion_code=code)
    submitted = replace(lease, state=AssignmentState.SUBMITTED, submitted_at=submitted_at, completion_code=code)
    await check_submitted(session, campaign, lease, answers, key_id=key_id, now=now)
    await publish_submitted(session, campaign, submitted, frontend, annotations=annotations)
    # Done last, because it locks the campaign until the transaction ends.
    if await campaigns_store.count_submitted(session, lease.campaign_id, annotations=annotations):
        await publish_completed(session, await campaigns_store.get_campaign(session, lease.campaign_id))
    return submitted, campaign


@dataclass(frozen=True)
class _Claim:
    """The ways to lease a package to an annotator who holds no package."""

    session: WriteSession
    campaign: Campaign
    annotator_id: UUID
    now: datetime

    @property
    def expires_at(self) -> datetime:
        return self.now + self.campaign.lease

    async def renew(self, *, wait: bool = True) -> AssignmentId | None:
        """Renew an expired lease, so that the annotator continues with the answers saved earlier."""
        return await claims_store.renew_expired(
            self.session, self.annotator_id, now=self.now, lease=self.campaign.lease, wait=wait
        )

    async def lease_next(self, *, wait: bool = True) -> AssignmentId | None:
        """Lease the next free package. If no package is free, wait for packages that other claims lock."""
        whose = self.session, self.campaign.id, self.annotator_id
        package_id = await claims_store.lock_free_package(*whose)
        if package_id is None and wait:
            package_id = await claims_store.wait_for_package(*whose)
        if package_id is None:
            return None
        return await self._lease(package_id)

    async def lease_named(self, package: str) -> AssignmentId:
        """Lease the package with this external id; raises NoSuchPackage, ConversationSeen and PackageTaken."""
        package_id = await claims_store.lock_package(self.session, self.campaign.id, package)
        if package_id is None:
            raise NoSuchPackage(package=package)
        await leases_store.expire_leases(self.session, self.now, package_id=package_id)
        expired = await leases_store.find_expired(self.session, self.annotator_id, package_id)
        if expired is None and await annotators_store.has_seen(self.session, self.annotator_id, package_id):
            raise ConversationSeen(package=package)
        if not await claims_store.needs_annotators(self.session, package_id):
            raise PackageTaken(package=package)
        if expired is None:
            return await self._lease(package_id)
        await leases_store.renew_assignment(self.session, expired, package_id, self.expires_at)
        return expired

    async def free_and_lease(self, freed: int = 0) -> AssignmentId:
        """End expired leases and lease one of the packages that become free; raises NothingLeft.

        Where other transactions are ending the expired leases, it waits for them. Once it holds packages that it freed,
        it never waits for a lock. `freed` counts the packages that this claim freed earlier. It looks once more before
        it gives up: others may have ended the leases just before there were none to wait for.
        """
        expire, campaign_id = leases_store.expire_leases, self.campaign.id
        while not (freed := freed + await expire(self.session, self.now, campaign_id=campaign_id)):
            waited = await claims_store.wait_for_expired(self.session, campaign_id, self.now)
            if (leased := await self.renew() or await self.lease_next()) is not None:
                return leased
            if not waited:
                raise NothingLeft
        if (leased := await self.renew(wait=False) or await self.lease_next(wait=False)) is None:
            raise NothingLeft
        return leased

    async def _lease(self, package_id: UUID) -> AssignmentId:
        leased = await claims_store.lease_package(
            self.session,
            self.campaign.id,
            package_id,
            self.annotator_id,
            leased_at=self.now,
            expires_at=self.expires_at,
        )
        await add_gold(self.session, self.campaign, leased, self.annotator_id, package_id)
        return leased

"""What can be done with campaigns: build, claim, judge, import, close."""

import secrets
from collections.abc import Sequence
from uuid import UUID

from spotthebot.annotation import store, store_judging
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.domain.campaigns import Assignment, Campaign, ResolvedAnnotation
from spotthebot.annotation.domain.errors import (
    AlreadyJudged,
    AssignmentExpired,
    CampaignNotOpen,
    CampaignTakesNoClaims,
    CampaignTakesNoImports,
    NothingToClaim,
    NothingToJudge,
    NotInTheAssignment,
    UnknownReferences,
)
from spotthebot.annotation.domain.packaging import PackedSegment, pack
from spotthebot.contracts.annotation import (
    AnnotationIn,
    AssignmentState,
    CampaignIn,
    CampaignState,
    ImportedAnnotationIn,
    PackageIn,
)
from spotthebot.contracts.annotation import PackedSegment as PackedSegmentIn
from spotthebot.contracts.conversations import StoredOut
from spotthebot.kit.database import Database, WriteSession
from spotthebot.kit.errors import FieldError
from spotthebot.kit.jobs import Jobs

BUILD_CAMPAIGN = "annotation:build_campaign"
_ROWS_AT_ONCE = 500


async def start_campaign(
    session: WriteSession, jobs: Jobs, conversations: Conversations, request: CampaignIn
) -> Campaign:
    """Create a campaign over a complete collection and queue the job that makes its packages."""
    await conversations.require_complete(request.collection_id)
    campaign = await store.add_campaign(session, request)
    await jobs.defer(session, BUILD_CAMPAIGN, {"campaign_id": str(campaign.id)})
    return campaign


async def build_campaign(database: Database, conversations: Conversations, campaign_id: UUID) -> None:
    """Fetch what judges will see and pack it, in one transaction; a campaign that is built already stays as it is."""
    async with database.read() as reading:
        campaign = await store.get_campaign(reading, campaign_id)
    shown = [each async for each in conversations.shown(campaign.collection_id)]
    async with database.write() as session:
        await store.lock_campaign(session, campaign_id)
        campaign = await store.get_campaign(session, campaign_id)
        if campaign.built_at is not None or campaign.failure is not None:
            return
        for start in range(0, len(shown), _ROWS_AT_ONCE):
            await store.add_shown_conversations(session, campaign_id, shown[start : start + _ROWS_AT_ONCE])
        if campaign.mode == "live":
            try:
                packages = pack(shown, campaign.segments, package_size=campaign.package_size, seed=campaign.seed)
            except NothingToJudge as error:
                await store.mark_failed(session, campaign_id, error.detail)
                return
            for start in range(0, len(packages), _ROWS_AT_ONCE):
                batch = packages[start : start + _ROWS_AT_ONCE]
                await store.add_packages(session, campaign_id, [(None, package) for package in batch])
        await store.mark_built(session, campaign_id)


async def claim_package(session: WriteSession, campaign_id: UUID, worker: str, *, ttl_seconds: int) -> Assignment:
    """Give a worker a package to judge; who holds one already gets the same again.

    Raises NothingToClaim where no package is left that needs judges and shows nothing the worker has seen.
    """
    campaign = await store.get_campaign(session, campaign_id)
    if campaign.mode != "live":
        raise CampaignTakesNoClaims(name=campaign.name)
    await store_judging.lock_claims(session, campaign_id)
    await store_judging.expire_claims(session, campaign_id)
    held = await store_judging.find_claimed(session, campaign_id, worker)
    if held is None:
        campaign.require_open()
        held = await store_judging.revive_expired(session, campaign, worker, ttl_seconds=ttl_seconds)
    if held is None:
        held = await store_judging.claim_next(session, campaign, worker, ttl_seconds=ttl_seconds)
    if held is None:
        raise NothingToClaim
    return await store_judging.get_assignment(session, held)


async def submit_annotation(
    session: WriteSession, assignment_id: UUID, segment_id: UUID, annotation: AnnotationIn
) -> Assignment:
    """Store what a worker says of a segment; the last one completes the assignment and makes its code.

    Until then a segment can be judged again. Afterwards the same judgement is accepted, another one refused.
    """
    assignment = await store_judging.get_assignment(session, assignment_id, lock=True)
    if segment_id not in {segment.id for segment in assignment.segments}:
        raise NotInTheAssignment(segment_id=segment_id)
    if assignment.state is AssignmentState.EXPIRED:
        raise AssignmentExpired(expired_at=assignment.expires_at.isoformat(timespec="seconds"))
    if assignment.state is AssignmentState.COMPLETE:
        said = assignment.annotations.get(segment_id)
        if said is None or said.model_dump() != annotation.model_dump(exclude={"elapsed_ms"}):
            raise AlreadyJudged
        return assignment
    await store_judging.put_annotation(session, assignment, segment_id, annotation)
    if len(assignment.annotations.keys() | {segment_id}) == len(assignment.segments):
        await store_judging.complete_assignment(session, assignment_id, secrets.token_hex(6))
    return await store_judging.get_assignment(session, assignment_id)


async def import_packages(
    session: WriteSession, conversations: Conversations, campaign_id: UUID, uploaded: Sequence[PackageIn]
) -> StoredOut:
    """Store packages as they were used elsewhere; those that are there already are left as they are.

    Conversations that came to the collection since the campaign began are fetched when a package shows one.
    """
    await store.lock_campaign(session, campaign_id)
    campaign = await _require_import(session, campaign_id)
    known = await store.conversations_by_external_id(session, campaign_id)
    if any(segment.conversation not in known for package in uploaded for segment in package.segments):
        shown = [each async for each in conversations.shown(campaign.collection_id)]
        for start in range(0, len(shown), _ROWS_AT_ONCE):
            await store.add_shown_conversations(session, campaign_id, shown[start : start + _ROWS_AT_ONCE])
        known = await store.conversations_by_external_id(session, campaign_id)
    shown_by = await store.packages_by_segment(session, campaign_id)
    faults = [
        FieldError(f"/packages/{number}/segments/{place}", f"conversation {segment.conversation} {problem}")
        for number, package in enumerate(uploaded)
        for place, segment in enumerate(package.segments)
        if (problem := _problem(known, shown_by, package.external_id, segment))
    ]
    if faults:
        raise UnknownReferences(count=len(faults), fields=tuple(faults))
    packages = [
        (
            package.external_id,
            [PackedSegment(known[each.conversation][0], each.exchanges) for each in package.segments],
        )
        for package in uploaded
    ]
    stored = await store.add_packages(session, campaign_id, packages)
    return StoredOut(stored=stored, already_there=len(uploaded) - stored)


async def import_annotations(
    session: WriteSession, campaign_id: UUID, uploaded: Sequence[ImportedAnnotationIn]
) -> StoredOut:
    """Store annotations as they were made elsewhere; those that are there already are left as they are."""
    await _require_import(session, campaign_id)
    packages = {each.package for each in uploaded}
    segments = await store_judging.segments_by_external_id(session, campaign_id, packages)
    places = [(each.package, each.conversation, each.exchanges) for each in uploaded]
    faults = [
        FieldError(f"/annotations/{number}", f"package {place[0]} does not show conversation {place[1]} so far")
        for number, place in enumerate(places)
        if place not in segments
    ]
    if faults:
        raise UnknownReferences(count=len(faults), fields=tuple(faults))
    resolved = [ResolvedAnnotation(segments[place], each) for place, each in zip(places, uploaded, strict=True)]
    stored = await store_judging.add_imported_annotations(session, campaign_id, resolved)
    return StoredOut(stored=stored, already_there=len(uploaded) - stored)


async def close_campaign(session: WriteSession, campaign_id: UUID) -> Campaign:
    """End a campaign: nothing can be claimed any more; what was claimed may still be judged."""
    await store.get_campaign(session, campaign_id)
    await store.close_campaign(session, campaign_id)
    return await store.get_campaign(session, campaign_id)


async def _require_import(session: WriteSession, campaign_id: UUID) -> Campaign:
    """Return a campaign that takes uploads, which go on after closing: a mended dump is imported again."""
    campaign = await store.get_campaign(session, campaign_id)
    if campaign.mode != "import":
        raise CampaignTakesNoImports(name=campaign.name)
    if campaign.state not in {CampaignState.OPEN, CampaignState.COMPLETE}:
        raise CampaignNotOpen(name=campaign.name, state=campaign.state)
    return campaign


def _problem(
    known: dict[str, tuple[UUID, int]],
    shown_by: dict[tuple[UUID, int], str | None],
    package: str,
    segment: PackedSegmentIn,
) -> str | None:
    """Say why a package can't show a segment; else note in `shown_by` that it does."""
    if segment.conversation not in known:
        return "is not in the campaign's collection"
    conversation_id, exchanges = known[segment.conversation]
    if segment.exchanges > exchanges:
        return f"has {exchanges} exchanges, not {segment.exchanges}"
    if (other := shown_by.setdefault((conversation_id, segment.exchanges), package)) != package:
        return f"is shown so far by the package {other} already"
    return None

"""`/v1/campaigns`: create, list, change and end campaigns, and upload packages and annotations made elsewhere."""

import asyncio
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request

from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.campaign_setup import store
from spotthebot.annotation.campaign_setup.domain.previews import preview
from spotthebot.annotation.campaign_setup.use_cases import changes as changes_use_cases
from spotthebot.annotation.campaign_setup.use_cases import imports as imports_use_cases
from spotthebot.annotation.campaign_setup.use_cases import lifecycle as lifecycle_use_cases
from spotthebot.annotation.campaign_setup.use_cases.changes import prepare_change
from spotthebot.annotation.campaign_setup.use_cases.collections import check_collections
from spotthebot.annotation.campaign_setup.use_cases.imports import fetch_missing_conversations
from spotthebot.annotation.campaign_setup.use_cases.lifecycle import move_campaign, start_campaign
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns import use_cases as campaigns_use_cases
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.deps import Admin, AdminReader, AdminsClaim, CampaignReader, JobQueue
from spotthebot.annotation.packages import store as packages_store
from spotthebot.annotation.protocols.domain.exchanges import opens_one_by_one
from spotthebot.contracts.annotation.campaign_changes import CampaignChangesIn
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.previews import (
    CampaignPreviewOut,
    PackagePreviewOut,
    PreviewedItem,
    UnreachedLimit,
)
from spotthebot.contracts.annotation.uploads import AnnotationBatchIn, PackageBatchIn
from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.wire import Name
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.core.pagination import Order, Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool, Reading, Writing

router = APIRouter(prefix="/v1/campaigns", tags=["campaigns"], route_class=IdempotentRoute)
_ANNOTATIONS = large_batch(max_bytes=8 * 1024 * 1024, max_values=50_000)
_PACKAGES = large_batch(max_bytes=32 * 1024 * 1024, max_values=700_000)  # a thousand of 200 segments


async def _conversations(request: Request) -> Conversations:
    conversations: Conversations = request.app.state.conversations
    return conversations


ConversationsClient = Annotated[Conversations, Depends(_conversations)]


@router.post("", status_code=201, operation_id="create_campaign")
async def create_campaign(
    claim: AdminsClaim, database: Pool, conversations: ConversationsClient, jobs: JobQueue, request: CampaignIn
) -> CampaignOut:
    """Create a campaign over complete collections; its packages are made in the background."""
    await check_collections(database, conversations, request)
    return _to_out(await start_campaign(await claim.begin(), jobs, request))


@router.get("", operation_id="list_campaigns")
async def list_campaigns(
    session: Reading,
    _caller: CampaignReader,
    paging: Paging,
    name: Annotated[Name | None, Query()] = None,
    released: Annotated[
        bool | None, Query(description="Those whose results teams may see, or (false) may not.")
    ] = None,
    published: Annotated[
        bool | None, Query(description="Those whose results everybody may see, or (false) may not.")
    ] = None,
    collection_id: Annotated[UUID | None, Query(description="Those over this collection.")] = None,
    order: Order = "oldest_first",
) -> Page[CampaignOut]:
    """List campaigns, oldest first unless asked otherwise."""
    rows = await campaigns_store.list_campaigns(
        session,
        name=name,
        released=released,
        published=published,
        collection_id=collection_id,
        newest_first=order == "newest_first",
        after=paging.after,
        limit=paging.limit + 1,
    )
    return page_of(rows, paging, key=lambda campaign: campaign.id, to_out=_to_out)


@router.get("/{campaign_id}", operation_id="get_campaign")
async def get_campaign(session: Reading, _caller: CampaignReader, campaign_id: UUID) -> CampaignOut:
    """Return a campaign and how far it is."""
    return _to_out(await campaigns_store.get_campaign(session, campaign_id))


@router.patch("/{campaign_id}", operation_id="change_campaign")
async def change_campaign(
    caller: AdminReader,
    database: Pool,
    conversations: ConversationsClient,
    jobs: JobQueue,
    campaign_id: UUID,
    changed: CampaignChangesIn,
) -> CampaignOut:
    """Change a campaign by a merge patch (RFC 7396): keys that are left out stay, null brings a default back.

    A draft may change in all but its mode, and is built again where its packages would be others. Once it was opened,
    texts and limits may change, overlap and collections may grow; what labels are comparable by stays. The audit log
    says who changed what.
    """
    prepared = await prepare_change(database, conversations, campaign_id, changed.root)
    arguments = jobs, campaign_id, changed.root, prepared
    async with database.write() as session:
        return _to_out(await changes_use_cases.change_campaign(session, *arguments, key_id=caller.key_id))


@router.delete("/{campaign_id}", status_code=204, operation_id="delete_campaign")
async def delete_campaign(session: Writing, caller: AdminReader, campaign_id: UUID) -> None:
    """Delete a draft that nobody entered, with its packages and links; its audit log stays."""
    await changes_use_cases.delete_campaign(session, campaign_id, key_id=caller.key_id)


@router.get("/{campaign_id}/preview/package", operation_id="preview_package")
async def preview_package(session: Reading, _caller: AdminReader, campaign_id: UUID) -> PackagePreviewOut:
    """Return the first package as annotators will see it; nothing is claimed or stored."""
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    protocol = (await terms_of(session, campaign_id)).protocol
    return PackagePreviewOut(
        protocol=protocol,
        instructions=campaign.instructions,
        opens_exchanges=opens_one_by_one(protocol),
        items=tuple(
            PreviewedItem(
                position=each.position, opening=each.opening, turns=each.later_turns, right_turns=each.right_turns
            )
            for each in await assignments_store.list_first_items(session, campaign_id)
        ),
    )


@router.get("/{campaign_id}/preview", operation_id="preview_campaign")
async def preview_campaign(session: Reading, _caller: AdminReader, campaign_id: UUID) -> CampaignPreviewOut:
    """Say what a campaign will take: packages, annotators, hours by measured medians, and money."""
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    workload = await packages_store.get_workload(session, campaign_id)
    found = await asyncio.to_thread(preview, campaign, workload, await store.list_times(session, campaign))
    return CampaignPreviewOut(
        packages=found.packages,
        assignments=found.assignments,
        annotations=found.annotations,
        annotators=found.annotators.at_least,
        annotators_enough=found.annotators.enough,
        hours=None if found.work is None else round(found.work / timedelta(hours=1), 2),
        seconds_by_length={str(length): round(time.total_seconds(), 1) for length, time in found.medians.items()},
        measured_annotations=found.measured,
        unmeasured_lengths=found.unmeasured,
        pay=found.pay,
        currency=campaign.currency,
        unreached=tuple(UnreachedLimit(pointer=each.pointer, detail=each.detail) for each in found.unreached),
    )


@router.post("/{campaign_id}/open", operation_id="open_campaign")
async def open_campaign(session: Writing, _caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Let packages of a draft or of a paused campaign be claimed; opening it again changes nothing."""
    return _to_out(await move_campaign(session, campaign_id, CampaignState.OPEN))


@router.post("/{campaign_id}/pause", operation_id="pause_campaign")
async def pause_campaign(session: Writing, _caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Let no package be claimed until it is opened again; those that annotators hold can be submitted."""
    return _to_out(await move_campaign(session, campaign_id, CampaignState.PAUSED))


@router.post("/{campaign_id}/close", operation_id="close_campaign")
async def close_campaign(session: Writing, _caller: Admin, campaign_id: UUID) -> CampaignOut:
    """End a campaign: nothing can be claimed any more; closing it again changes nothing."""
    return _to_out(await lifecycle_use_cases.close_campaign(session, campaign_id))


@router.post("/{campaign_id}/results/release", operation_id="release_results")
async def release_results(session: Writing, caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Let teams see the results of a campaign that has ended and that their bots take part in.

    Others' bots have pseudonyms unless they are public. Releasing again changes nothing; see the audit log for who did.
    """
    return _to_out(await campaigns_use_cases.release_results(session, campaign_id, key_id=caller.key_id))


@router.post("/{campaign_id}/results/publish", operation_id="publish_results")
async def publish_results(session: Writing, caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Let everybody see the results of a campaign that has ended, without a key: on the leaderboard, and teams too.

    Bots have pseudonyms unless they are public. Publishing again changes nothing; see the audit log for who did.
    """
    return _to_out(await campaigns_use_cases.publish_results(session, campaign_id, key_id=caller.key_id))


@router.post("/{campaign_id}/results/withdraw", operation_id="withdraw_results")
async def withdraw_results(session: Writing, caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Let neither teams nor the public see a campaign's results any more; withdrawing again changes nothing."""
    return _to_out(await campaigns_use_cases.withdraw_results(session, campaign_id, key_id=caller.key_id))


@router.post("/{campaign_id}/packages", status_code=201, operation_id="import_packages", openapi_extra=_PACKAGES)
async def import_packages(
    claim: AdminsClaim, database: Pool, conversations: ConversationsClient, campaign_id: UUID, batch: PackageBatchIn
) -> StoredOut:
    """Upload packages; one whose external id is known is left as it is, so a batch can be sent again."""
    missing = await fetch_missing_conversations(database, conversations, campaign_id, batch.packages)
    stored = await imports_use_cases.import_packages(await claim.begin(), campaign_id, batch.packages, missing)
    return StoredOut(stored=stored, already_there=len(batch.packages) - stored)


@router.post(
    "/{campaign_id}/annotations", status_code=201, operation_id="import_annotations", openapi_extra=_ANNOTATIONS
)
async def import_annotations(
    session: Writing, _caller: Admin, campaign_id: UUID, batch: AnnotationBatchIn
) -> StoredOut:
    """Upload annotations; one whose external id is known is left as it is, so a batch can be sent again."""
    stored = await imports_use_cases.import_annotations(session, campaign_id, batch.annotations)
    return StoredOut(stored=stored, already_there=len(batch.annotations) - stored)


def _to_out(campaign: Campaign) -> CampaignOut:
    """Return a campaign as callers see it; the rest has the same names and meanings."""
    progress = campaign.progress
    own = {
        "collection_id": campaign.collections[0],
        "packages": progress.packages,
        "items": progress.items,
        "submitted": progress.submitted,
        "annotations": progress.annotations,
        "annotations_needed": campaign.annotations_needed,
    }
    same = {name: getattr(campaign, name) for name in CampaignOut.model_fields if name not in own}
    return CampaignOut(**same, **own)

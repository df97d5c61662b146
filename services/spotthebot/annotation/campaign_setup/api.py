"""`/v1/campaigns`: create, list, change and end campaigns, and upload packages and annotations made elsewhere."""

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.campaign_setup.domain.previews import CampaignEstimate
from spotthebot.annotation.campaign_setup.use_cases import changes as changes_use_cases
from spotthebot.annotation.campaign_setup.use_cases import imports as imports_use_cases
from spotthebot.annotation.campaign_setup.use_cases import lifecycle as lifecycle_use_cases
from spotthebot.annotation.campaign_setup.use_cases import previews as previews_use_cases
from spotthebot.annotation.campaign_setup.use_cases.changes import prepare_change
from spotthebot.annotation.campaign_setup.use_cases.collections import check_collections
from spotthebot.annotation.campaign_setup.use_cases.imports import fetch_missing_conversations
from spotthebot.annotation.campaign_setup.use_cases.lifecycle import move_campaign, start_campaign
from spotthebot.annotation.campaign_setup.use_cases.previews import Estimated
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns import use_cases as campaigns_use_cases
from spotthebot.annotation.campaigns.use_cases import campaign_out, terms_of
from spotthebot.annotation.deps import Admin, AdminReader, AdminsClaim, CampaignReader
from spotthebot.annotation.resources import ServiceResources
from spotthebot.contracts.annotation.campaign_changes import CampaignChangesIn
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.previews import (
    CampaignDryRunIn,
    CampaignEstimateOut,
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
_DOCUMENTS = large_batch(max_bytes=8 * 1024 * 1024, max_values=200_000)
_ANNOTATIONS = large_batch(max_bytes=8 * 1024 * 1024, max_values=50_000)
_PACKAGES = large_batch(max_bytes=32 * 1024 * 1024, max_values=700_000)  # a thousand packages of 200 segments


@router.post("", status_code=201, operation_id="create_campaign")
async def create_campaign(
    claim: AdminsClaim, database: Pool, resources: ServiceResources, request: CampaignIn
) -> CampaignOut:
    """Create a campaign over complete collections; its packages are made in the background."""
    await check_collections(database, resources.conversations, request)
    return campaign_out(await start_campaign(await claim.begin(), resources.jobs, request))


@router.post("/dry-run", operation_id="estimate_campaign", openapi_extra=_DOCUMENTS)
async def estimate_campaign(
    _caller: AdminReader, database: Pool, resources: ServiceResources, request: CampaignDryRunIn
) -> CampaignEstimateOut:
    """Estimate a campaign's packages, annotators and pay, with all checks that its creation makes.

    Nothing is stored.
    """
    found = await previews_use_cases.estimate_campaign(database, resources.conversations, request)
    return CampaignEstimateOut(**_estimate_values(found))


@router.get("", operation_id="list_campaigns")
async def list_campaigns(
    session: Reading,
    _caller: CampaignReader,
    paging: Paging,
    name: Annotated[Name | None, Query()] = None,
    state: Annotated[CampaignState | None, Query(description="Those in this state.")] = None,
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
        state=state,
        released=released,
        published=published,
        collection_id=collection_id,
        newest_first=order == "newest_first",
        after=paging.after,
        limit=paging.limit + 1,
    )
    return page_of(rows, paging, key=lambda campaign: campaign.id, to_out=campaign_out)


@router.get("/{campaign_id}", operation_id="get_campaign")
async def get_campaign(session: Reading, _caller: CampaignReader, campaign_id: UUID) -> CampaignOut:
    """Return a campaign and its progress."""
    return campaign_out(await campaigns_store.get_campaign(session, campaign_id))


@router.patch("/{campaign_id}", operation_id="change_campaign")
async def change_campaign(
    caller: AdminReader,
    database: Pool,
    resources: ServiceResources,
    campaign_id: UUID,
    changed: CampaignChangesIn,
) -> CampaignOut:
    """Change a campaign by a merge patch (RFC 7396): omitted keys stay, null restores a default.

    In a draft, all keys except the mode may change. Its packages are made again if the change affects them. Once
    annotators work on a campaign, its texts and limits may change, and its overlap and collections may grow. Other keys
    stay, because they make labels comparable. The audit log records who changed which keys.
    """
    prepared = await prepare_change(database, resources.conversations, campaign_id, changed.root)
    arguments = resources.jobs, campaign_id, changed.root, prepared
    async with database.write() as session:
        return campaign_out(await changes_use_cases.change_campaign(session, *arguments, key_id=caller.key_id))


@router.delete("/{campaign_id}", status_code=204, operation_id="delete_campaign")
async def delete_campaign(session: Writing, caller: AdminReader, campaign_id: UUID) -> None:
    """Delete a draft that no annotator has entered, with its packages and links; its audit log stays.

    Studies of the campaign lose it.
    """
    await changes_use_cases.delete_campaign(session, campaign_id, key_id=caller.key_id)


@router.get("/{campaign_id}/preview/package", operation_id="preview_package")
async def preview_package(session: Reading, _caller: AdminReader, campaign_id: UUID) -> PackagePreviewOut:
    """Return the first package as annotators will see it, with the questions in the protocol's order.

    Nothing is claimed or stored.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    protocol = (await terms_of(session, campaign_id)).protocol
    return PackagePreviewOut(
        protocol=protocol,
        instructions=campaign.instructions,
        opens_exchanges=protocol.opens_one_by_one,
        items=tuple(
            PreviewedItem.of(each, turns=each.later_turns)
            for each in await assignments_store.list_first_items(session, campaign_id)
        ),
    )


@router.get("/{campaign_id}/preview", operation_id="preview_campaign")
async def preview_campaign(session: Reading, _caller: AdminReader, campaign_id: UUID) -> CampaignPreviewOut:
    """Estimate the packages, annotators, hours (by measured medians) and money that a campaign will take."""
    previewed = await previews_use_cases.preview_campaign(session, campaign_id)
    found = previewed.estimate
    return CampaignPreviewOut(
        **_estimate_values(previewed),
        hours=None if found.work is None else round(found.work / timedelta(hours=1), 2),
        seconds_by_length={str(length): round(time.total_seconds(), 1) for length, time in found.medians.items()},
        measured_annotations=found.measured,
        unmeasured_lengths=found.unmeasured,
    )


@router.post("/{campaign_id}/open", operation_id="open_campaign")
async def open_campaign(session: Writing, _caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Open a draft or a paused campaign for claims; opening it again changes nothing."""
    return campaign_out(await move_campaign(session, campaign_id, CampaignState.OPEN))


@router.post("/{campaign_id}/pause", operation_id="pause_campaign")
async def pause_campaign(session: Writing, _caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Stop claims until the campaign is opened again. Packages that annotators hold can be submitted."""
    return campaign_out(await move_campaign(session, campaign_id, CampaignState.PAUSED))


@router.post("/{campaign_id}/close", operation_id="close_campaign")
async def close_campaign(session: Writing, _caller: Admin, campaign_id: UUID) -> CampaignOut:
    """End a campaign: no package can be claimed any more. Closing it again changes nothing."""
    return campaign_out(await lifecycle_use_cases.close_campaign(session, campaign_id))


@router.post("/{campaign_id}/results/release", operation_id="release_results")
async def release_results(session: Writing, caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Release the results of an ended campaign to the teams whose bots take part in it.

    Bots of other teams appear under pseudonyms unless they are public. Releasing again changes nothing. The audit log
    records who released the results.
    """
    return campaign_out(await campaigns_use_cases.release_results(session, campaign_id, key_id=caller.key_id))


@router.post("/{campaign_id}/results/publish", operation_id="publish_results")
async def publish_results(session: Writing, caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Publish the results of an ended campaign to everybody, without a key: on the leaderboard, and to teams.

    Bots appear under pseudonyms unless they are public. Publishing again changes nothing. The audit log records who
    published the results.
    """
    return campaign_out(await campaigns_use_cases.publish_results(session, campaign_id, key_id=caller.key_id))


@router.post("/{campaign_id}/results/withdraw", operation_id="withdraw_results")
async def withdraw_results(session: Writing, caller: Admin, campaign_id: UUID) -> CampaignOut:
    """Withdraw a campaign's results from teams and the public; withdrawing again changes nothing."""
    return campaign_out(await campaigns_use_cases.withdraw_results(session, campaign_id, key_id=caller.key_id))


@router.post("/{campaign_id}/packages", status_code=201, operation_id="import_packages", openapi_extra=_PACKAGES)
async def import_packages(
    claim: AdminsClaim, database: Pool, resources: ServiceResources, campaign_id: UUID, batch: PackageBatchIn
) -> StoredOut:
    """Upload packages. Packages with a known external id stay unchanged, so a batch can be sent again."""
    missing = await fetch_missing_conversations(database, resources.conversations, campaign_id, batch.packages)
    stored = await imports_use_cases.import_packages(await claim.begin(), campaign_id, batch.packages, missing)
    return StoredOut(stored=stored, already_there=len(batch.packages) - stored)


@router.post(
    "/{campaign_id}/annotations", status_code=201, operation_id="import_annotations", openapi_extra=_ANNOTATIONS
)
async def import_annotations(
    session: Writing, _caller: Admin, campaign_id: UUID, batch: AnnotationBatchIn
) -> StoredOut:
    """Upload annotations. Annotations with a known external id stay unchanged, so a batch can be sent again."""
    stored = await imports_use_cases.import_annotations(session, campaign_id, batch.annotations)
    return StoredOut(stored=stored, already_there=len(batch.annotations) - stored)


def _estimate_values(found: Estimated[CampaignEstimate]) -> dict[str, Any]:
    """Return the values of `CampaignEstimateOut`."""
    campaign, estimate = found.campaign, found.estimate
    return {
        "lengths": found.lengths,
        "conversations": found.conversations,
        "too_short": campaign.too_short,
        "not_selected": campaign.not_selected,
        "unpaired": campaign.unpaired,
        "packages": estimate.packages,
        "items": estimate.items,
        "units_twice": campaign.units_twice,
        "assignments": estimate.assignments,
        "annotations": estimate.annotations,
        "annotators": estimate.annotators.at_least,
        "annotators_enough": estimate.annotators.enough,
        "pay": estimate.pay,
        "currency": campaign.currency,
        "unreached": tuple(UnreachedLimit(pointer=each.pointer, detail=each.detail) for each in estimate.unreached),
    }

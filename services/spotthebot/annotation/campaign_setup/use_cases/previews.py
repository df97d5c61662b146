"""Estimates of campaigns: of an existing campaign, and of a campaign that a request would create."""

import asyncio
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from uuid import UUID

from spotthebot.annotation.assignments.use_cases.gold import require_alike
from spotthebot.annotation.campaign_setup import store
from spotthebot.annotation.campaign_setup.domain.previews import (
    CampaignEstimate,
    CampaignPreview,
    estimate,
    preview,
)
from spotthebot.annotation.campaign_setup.errors import PackagesNotMadeHere
from spotthebot.annotation.campaign_setup.use_cases.collections import (
    fetch_all,
    list_candidates,
    mix_of,
    require_complete,
)
from spotthebot.annotation.campaign_setup.use_cases.imports import import_packages
from spotthebot.annotation.campaign_setup.use_cases.lifecycle import settled
from spotthebot.annotation.campaign_setup.use_cases.packages import NewConversations, add_conversations
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign, unit_of
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.conversations import store as conversations_store
from spotthebot.annotation.packages import store as packages_store
from spotthebot.annotation.packages.domain.allocation import Candidate, allocate
from spotthebot.annotation.packages.domain.workload import Workload
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.annotation.protocols.use_cases import create_protocol
from spotthebot.annotation.trainings.use_cases import create_training
from spotthebot.contracts.annotation.previews import CampaignDryRunIn
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession

_EstimateT_co = TypeVar("_EstimateT_co", bound=CampaignEstimate, covariant=True)


@dataclass(frozen=True)
class Estimated(Generic[_EstimateT_co]):
    """A campaign, the lengths at which it shows conversations, the number of these conversations, and the estimate."""

    campaign: Campaign
    lengths: tuple[int, ...]
    conversations: int
    estimate: _EstimateT_co


async def preview_campaign(session: ReadSession, campaign_id: UUID) -> Estimated[CampaignPreview]:
    """Estimate an existing campaign.

    The hours of work are estimated from the times that people took for annotations by the same protocol.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    workload = await packages_store.get_workload(session, campaign_id)
    times = await store.list_times(session, campaign)
    shown = len(frozenset().union(*workload.conversations))
    if campaign.mode == "live":
        shown = await conversations_store.count_shown(session, campaign_id)
    lengths = unit_of((await terms_of(session, campaign_id)).protocol, campaign.segments).lengths
    return Estimated(campaign, lengths, shown, await asyncio.to_thread(preview, campaign, workload, times))


async def estimate_campaign(
    database: Database, conversations: Conversations, request: CampaignDryRunIn
) -> Estimated[CampaignEstimate]:
    """Estimate the campaign that a request would create, with the checks and the allocation of a new campaign.

    Nothing is stored. The packages of mode `uploaded` come with the request. Strata are fetched from `conversations`
    only for pairs of one person's dialogues, because other numbers do not depend on them. Raises PackagesNotMadeHere,
    and all errors of a new campaign, protocol, training or package.
    """
    if request.packages:
        return await _estimate_uploaded(database, conversations, request)
    if request.mode != "live":
        raise PackagesNotMadeHere(mode=request.mode)
    campaign, unit = await _try(database, request)
    await require_complete(conversations, request)
    mix = mix_of(request.collection_ids, unit, request.human_share)
    counts = await conversations.count_mix(mix)
    if campaign.pairs == "same_person":
        candidates = await list_candidates(conversations, mix)
    else:
        candidates = [Candidate(UUID(int=at), mix.exchanges, str(at)) for at in range(counts.long_enough)]
    candidates += [Candidate(UUID(int=2**127 + at), 0, str(at)) for at in range(counts.too_short)]
    allocation = await asyncio.to_thread(
        allocate,
        candidates,
        unit,
        package_size=campaign.package_size,
        pairs=campaign.pairs,
        units_twice=campaign.units_twice,
        secret=b"",
        seed=campaign.seed,
    )
    tried = replace(
        campaign,
        too_short=allocation.too_short,
        not_selected=counts.repeated + counts.not_drawn,
        unpaired=allocation.unpaired,
    )
    found = estimate(tried, Workload.of(allocation))
    return Estimated(tried, unit.lengths, len(allocation.conversations), found)


async def _estimate_uploaded(
    database: Database, conversations: Conversations, request: CampaignDryRunIn
) -> Estimated[CampaignEstimate]:
    """Create the campaign with its uploaded packages, roll back, and return its estimate.

    Raises UnknownReferences, GoldStandsOut, and the errors of a new campaign, protocol or training.
    """
    await require_complete(conversations, request)
    shown = await fetch_all(conversations, request.collection_ids)
    async with database.write() as session:
        trial = await session.begin_nested()
        created, unit = await _create(session, request)
        await add_conversations(session, created.id, NewConversations(shown, interactors=None))
        await campaigns_store.finish_building(session, replace(created, opens_when_built=False))
        await import_packages(session, created.id, request.packages, missing=None)
        campaign = await campaigns_store.get_campaign(session, created.id)
        await require_alike(session, campaign)
        workload = await packages_store.get_workload(session, created.id)
        await trial.rollback()
    used = len(frozenset().union(*workload.conversations))
    return Estimated(campaign, unit.lengths, used, estimate(campaign, workload))


async def _try(database: Database, request: CampaignDryRunIn) -> tuple[Campaign, Unit]:
    """Create the campaign and its documents, roll back, and return the campaign and the unit of its items."""
    async with database.write() as session:
        trial = await session.begin_nested()
        created = await _create(session, request)
        await trial.rollback()
    return created


async def _create(session: WriteSession, request: CampaignDryRunIn) -> tuple[Campaign, Unit]:
    if request.protocol_document is not None:
        await create_protocol(session, request.protocol_document, at="/protocol_document")
    for number, training in enumerate(request.training_documents):
        await create_training(session, training, at=f"/training_documents/{number}")
    settled_request, protocol = await settled(session, request.campaign)
    campaign = await campaigns_store.add_campaign(session, settled_request, protocol)
    return campaign, unit_of(protocol, campaign.segments)

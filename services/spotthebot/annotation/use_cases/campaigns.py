"""Campaigns: start, build, open, pause and close."""

import asyncio
from collections.abc import Mapping
from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.domain.allocation import AllocatedPackage, Allocation, Candidate, Unit, allocate
from spotthebot.annotation.domain.campaigns import Campaign, unit_of
from spotthebot.annotation.domain.conversations import Interactors
from spotthebot.annotation.domain.gold import check_gold, check_not_trained, gold_positions
from spotthebot.annotation.domain.packages import NewPackage, PackedConversation, PackedItem
from spotthebot.annotation.domain.shuffle import Shuffle
from spotthebot.annotation.use_cases.collections import SelectedConversations, fetch_all, select_conversations
from spotthebot.annotation.use_cases.events import publish_closed
from spotthebot.annotation.use_cases.gold import require_alike
from spotthebot.annotation.use_cases.protocols import require_protocol
from spotthebot.annotation.use_cases.terms import terms_of
from spotthebot.annotation.use_cases.trainings import require_training
from spotthebot.contracts.annotation import CampaignIn, CampaignState
from spotthebot.kit.database import Database, WriteSession
from spotthebot.kit.errors import Invalid
from spotthebot.kit.jobs import Jobs

BUILD_CAMPAIGN = "annotation:build_campaign"
_ITEMS_AT_ONCE = 10_000


async def start_campaign(session: WriteSession, jobs: Jobs, request: CampaignIn) -> Campaign:
    """Create a campaign over complete collections and queue the job that makes its packages."""
    protocol = await require_protocol(session, request.protocol, request.protocol_version)
    training = None
    if request.training is not None:
        training = await require_training(session, request.training.name, request.training.version, protocol)
        required = request.training.model_copy(update={"version": training.version})
        request = request.model_copy(update={"training": required})
    if request.gold is not None:
        gold = await require_training(session, request.gold.training, request.gold.version, protocol)
        lengths = unit_of(protocol, request.segments).lengths if request.mode == "live" else ()
        check_gold(
            gold,
            per_package=request.gold.per_package,
            packages_per_annotator=request.packages_per_annotator or 0,
            longest=max(lengths, default=0),
        )
        if training is not None:
            check_not_trained(gold, training)
        request = request.model_copy(update={"gold": request.gold.model_copy(update={"version": gold.version})})
    campaign = await store.campaigns.add_campaign(session, request, protocol)
    await jobs.defer(session, BUILD_CAMPAIGN, {"campaign_id": str(campaign.id)})
    return campaign


async def build_campaign(database: Database, conversations: Conversations, campaign_id: UUID) -> None:
    """Fetch the conversations of a campaign and pack them in one transaction; only one in state BUILDING is built."""
    async with database.read() as reading:
        campaign = await store.campaigns.get_campaign(reading, campaign_id)
    if campaign.state is not CampaignState.BUILDING:
        return
    try:
        if campaign.mode == "live":
            await _build_packages(database, conversations, campaign)
        else:
            shown = await fetch_all(conversations, campaign)
            async with database.write() as session:
                if await _lock_building(session, campaign_id):
                    await store.conversations.add_shown_conversations(session, campaign_id, shown)
                    await store.campaigns.finish_building(session, campaign)
    except Invalid as error:
        async with database.write() as session:
            await store.campaigns.fail_campaign(session, campaign_id, error.detail)


async def _build_packages(database: Database, conversations: Conversations, campaign: Campaign) -> None:
    async with database.write() as session:
        secret = await store.campaigns.get_secret(session, campaign.id)
        terms = await terms_of(session, campaign.id)
    unit = unit_of(terms.protocol, campaign.segments)
    selected = await select_conversations(conversations, campaign, unit, secret)
    interactors = await conversations.interactors(campaign.collections)
    allocation = await asyncio.to_thread(_allocate, campaign, unit, selected, secret)
    async with database.write() as session:
        if await _lock_building(session, campaign.id):
            await _store(session, campaign, selected, allocation, interactors)
            await require_alike(session, campaign)
            await store.campaigns.finish_building(session, campaign)


async def _lock_building(session: WriteSession, campaign_id: UUID) -> bool:
    """Lock a campaign until this transaction ends, and say whether it is still to be built."""
    await store.campaigns.lock_campaign(session, campaign_id)
    return (await store.campaigns.get_campaign(session, campaign_id)).state is CampaignState.BUILDING


def _allocate(campaign: Campaign, unit: Unit, selected: SelectedConversations, secret: bytes) -> Allocation:
    strata = selected.strata
    return allocate(
        [Candidate(each.conversation_id, each.exchanges, strata[each.conversation_id]) for each in selected.shown],
        unit,
        package_size=campaign.package_size,
        secret=secret,
        seed=campaign.seed,
    )


async def _store(
    session: WriteSession,
    campaign: Campaign,
    selected: SelectedConversations,
    allocation: Allocation,
    interactors: Interactors,
) -> None:
    """Store an allocation; of conversations that are left out nothing is kept but their number."""
    used = allocation.conversations
    await store.conversations.add_shown_conversations(
        session, campaign.id, [each for each in selected.shown if each.conversation_id in used], interactors.sha256
    )
    await store.campaigns.set_interactor_salt(session, campaign.id, interactors.salt)
    whole = {each.conversation_id: each.longest for each in selected.shown}
    shuffle = Shuffle(await store.campaigns.get_secret(session, campaign.id), campaign.seed)
    gold = campaign.gold.per_package if campaign.gold else 0
    packages = [
        NewPackage(
            _packed(each, whole),
            block=each.block,
            gold=gold_positions(shuffle, number, items=len(each.items), gold=gold),
        )
        for number, each in enumerate(allocation.packages)
    ]
    at_once = max(1, _ITEMS_AT_ONCE // campaign.package_size)
    for start in range(0, len(packages), at_once):
        batch = packages[start : start + at_once]
        await store.packages.add_packages(session, campaign.id, batch, slots=campaign.annotations_per_segment)
    await store.campaigns.count_left_out(
        session,
        campaign.id,
        too_short=allocation.too_short,
        not_selected=selected.not_selected,
        unpaired=allocation.unpaired,
    )


def _packed(package: AllocatedPackage, whole: Mapping[UUID, int]) -> tuple[PackedItem, ...]:
    """Return the items of a package; `whole` says how many exchanges show a conversation to its end."""
    return tuple(
        PackedItem(*(PackedConversation(each, item.exchanges or whole[each]) for each in item.conversations))
        for item in package.items
    )


async def move_campaign(session: WriteSession, campaign_id: UUID, state: CampaignState) -> Campaign:
    """Open or pause a campaign; one that is in that state already stays so.

    Raises CampaignCannotMove, CampaignNotBuilt, and GoldStandsOut where gold could be told from a draft's packages.
    """
    await store.campaigns.lock_campaign(session, campaign_id)
    campaign = await store.campaigns.get_campaign(session, campaign_id)
    campaign.require_move(state)
    if campaign.state is CampaignState.DRAFT:
        await require_alike(session, campaign)
    await store.campaigns.move_campaign(session, campaign_id, state)
    return await store.campaigns.get_campaign(session, campaign_id)


async def close_campaign(session: WriteSession, campaign_id: UUID) -> Campaign:
    """End a campaign: nothing can be claimed any more; packages that annotators hold can still be submitted."""
    await store.campaigns.get_campaign(session, campaign_id)
    ended = await store.campaigns.close_campaign(session, campaign_id)
    campaign = await store.campaigns.get_campaign(session, campaign_id)
    if ended:
        await publish_closed(session, campaign)
    return campaign

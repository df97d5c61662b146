"""The packages of campaigns: made for a new or edited campaign, and for added collections."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from spotthebot.annotation.assignments.domain.gold import gold_positions
from spotthebot.annotation.assignments.use_cases.gold import require_alike
from spotthebot.annotation.campaign_setup import store
from spotthebot.annotation.campaign_setup.use_cases.collections import fetch_all, select_conversations
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign, unit_of
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.conversations import store as conversations_store
from spotthebot.annotation.conversations.domain import Interactors, ShownConversation
from spotthebot.annotation.packages import store as packages_store
from spotthebot.annotation.packages.domain.allocation import AllocatedPackage, Allocation, Candidate, allocate
from spotthebot.annotation.packages.domain.packages import NewPackage, PackedConversation, PackedItem
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.protocols.use_cases import require_protocol
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.errors import Invalid
from spotthebot.kit.jobs.queue import Jobs

BUILD_CAMPAIGN: Final = "annotation:build_campaign"
_ITEMS_AT_ONCE: Final = 10_000


@dataclass(frozen=True)
class Packed:
    """Packages to store; `not_selected` counts the conversations that the campaign's mix leaves out."""

    allocation: Allocation
    not_selected: int


@dataclass(frozen=True)
class NewConversations:
    """New conversations of a campaign; `packed` is None if packages are uploaded.

    `interactors` has hashes of the people who chatted in any conversation of the collections. It is None for imports,
    whose annotators see nothing here.
    """

    shown: Sequence[ShownConversation]
    interactors: Interactors | None
    packed: Packed | None = None


async def queue_building(session: WriteSession, jobs: Jobs, campaign_id: UUID) -> None:
    """Queue the job that makes the packages of a campaign in state BUILDING."""
    await jobs.defer(session, BUILD_CAMPAIGN, {"campaign_id": str(campaign_id)})


async def build_campaign(database: Database, conversations: Conversations, campaign_id: UUID) -> None:
    """Fetch the conversations of a campaign in state BUILDING, and pack them in one transaction."""
    async with database.read() as reading:
        campaign = await campaigns_store.get_campaign(reading, campaign_id)
    if campaign.state is not CampaignState.BUILDING:
        return
    try:
        found = await fetch_new(database, conversations, campaign)
        async with database.write() as session:
            if await _lock_building(session, campaign):
                await add_new(session, campaign, found)
                await campaigns_store.finish_building(session, campaign)
    except Invalid as error:
        async with database.write() as session:
            if await _lock_building(session, campaign):
                await campaigns_store.fail_campaign(session, campaign_id, error.detail)


async def fetch_new(database: Database, conversations: Conversations, campaign: Campaign) -> NewConversations:
    """Fetch the conversations that a campaign lacks from its collections; pack them unless packages are uploaded.

    Raises NothingToAnnotate, TooFewToCompare, NoPersonTwice, TooFewUnits, CollectionsNotMixed and
    ConversationsNamedAlike.
    """
    async with database.read() as session:
        known = await conversations_store.list_shown_ids(session, campaign.id)
    interactors = await conversations.interactors(campaign.collections) if campaign.takes_claims else None
    if campaign.mode != "live":
        found = await fetch_all(conversations, campaign.collections)
        return NewConversations([each for each in found if each.conversation_id not in known], interactors)
    async with database.write() as session:
        secret = await campaigns_store.get_secret(session, campaign.id)
        protocol = await require_protocol(session, campaign.protocol, campaign.protocol_version)
    unit = unit_of(protocol, campaign.segments)
    selected = await select_conversations(conversations, campaign, unit, secret)
    new = [each for each in selected.shown if each.conversation_id not in known]
    strata, people = selected.strata, {} if interactors is None else interactors.sha256
    candidates = [
        Candidate(each.conversation_id, each.exchanges, strata[each.conversation_id], people.get(each.conversation_id))
        for each in new
    ]
    allocation = await asyncio.to_thread(
        allocate,
        candidates,
        unit,
        package_size=campaign.package_size,
        pairs=campaign.pairs,
        units_twice=campaign.units_twice,
        secret=secret,
        seed=campaign.seed,
    )
    packed = allocation.conversations
    used = [each for each in new if each.conversation_id in packed]
    return NewConversations(used, interactors, Packed(allocation, selected.not_selected))


async def add_new(session: WriteSession, campaign: Campaign, new: NewConversations) -> None:
    """Store conversations and their packages in a campaign that this transaction has locked.

    Raises GoldStandsOut if annotators could tell gold dialogues from the new items.
    """
    await add_conversations(session, campaign.id, new)
    if new.packed is not None:
        await _store(session, campaign, new.shown, new.packed)
        await require_alike(session, campaign)


async def add_conversations(session: WriteSession, campaign_id: UUID, new: NewConversations) -> None:
    """Store the conversations in a campaign that this transaction has locked; known conversations stay as they are.

    Nobody is shown a conversation in which they chatted.
    """
    has_others = await conversations_store.count_shown(session, campaign_id) > 0
    hashes = {} if new.interactors is None else new.interactors.sha256
    await conversations_store.add_shown_conversations(session, campaign_id, new.shown, hashes)
    if new.interactors is not None:
        await campaigns_store.set_interactor_salt(session, campaign_id, new.interactors.salt)
        if has_others:
            await store.hash_interactors_again(session, campaign_id, hashes)


async def _lock_building(session: WriteSession, campaign: Campaign) -> bool:
    """Lock a campaign until this transaction ends, and return whether it is unchanged and still in state BUILDING."""
    await campaigns_store.lock_campaign(session, campaign.id)
    return await campaigns_store.get_campaign(session, campaign.id) == campaign


async def _store(session: WriteSession, campaign: Campaign, shown: Sequence[ShownConversation], packed: Packed) -> None:
    """Add packages of stored conversations to a campaign. Of conversations left out, store only their number."""
    allocation = packed.allocation
    first, first_block = await store.count_packages_and_blocks(session, campaign.id)
    whole = {each.conversation_id: each.longest for each in shown}
    shuffle = Shuffle(await campaigns_store.get_secret(session, campaign.id), campaign.seed)
    gold = campaign.gold.per_package if campaign.gold else 0
    packages = [
        NewPackage(
            _packed(each, whole),
            block=first_block + each.block,
            extra_annotators=int(each.annotated_twice),
            gold=gold_positions(shuffle, number, items=len(each.items), gold=gold),
        )
        for number, each in enumerate(allocation.packages, first)
    ]
    at_once = max(1, _ITEMS_AT_ONCE // campaign.package_size)
    for start in range(0, len(packages), at_once):
        batch = packages[start : start + at_once]
        await packages_store.add_packages(session, campaign.id, batch, slots=campaign.annotations_per_segment)
    await campaigns_store.count_left_out(
        session,
        campaign.id,
        too_short=allocation.too_short,
        not_selected=packed.not_selected,
        unpaired=allocation.unpaired,
    )


def _packed(package: AllocatedPackage, whole: Mapping[UUID, int]) -> tuple[PackedItem, ...]:
    """Return the items of a package; `whole` has the number of all exchanges of each conversation."""
    return tuple(
        PackedItem(*(PackedConversation(each, item.exchanges or whole[each]) for each in item.conversations))
        for item in package.items
    )

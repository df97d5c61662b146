"""Campaigns as they are sent, their terms, and the release of their results.

Each process reads the terms of an opened campaign once, because nearly every request of an annotator needs them. Before
the opening, it reads them for each request, because another process may change them. Results are released to teams or
to everybody, and withdrawn; the audit log records each change.
"""

from dataclasses import asdict
from uuid import UUID

from cachetools import LRUCache

from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store
from spotthebot.annotation.campaigns.domain import Campaign, Terms
from spotthebot.annotation.protocols.use_cases import get_protocol
from spotthebot.annotation.trainings import store as trainings_store
from spotthebot.contracts.annotation.campaign_changes import UNSEEN
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.database.statements import Runner

_MAX_KNOWN = 256
_known: LRUCache[UUID, Terms] = LRUCache(_MAX_KNOWN)


def campaign_out(campaign: Campaign) -> CampaignOut:
    """Return a campaign as it is sent."""
    return CampaignOut.of(campaign, collection_id=campaign.collections[0], **asdict(campaign.progress))


async def terms_of(runner: Runner, campaign_id: UUID) -> Terms:
    """Return the terms of a campaign's assignments: its protocol and gold dialogues."""
    terms = _known.get(campaign_id)
    if terms is None:
        campaign = await store.get_campaign(runner, campaign_id)
        version = await get_protocol(runner, campaign.protocol, campaign.protocol_version)
        gold = None
        if campaign.gold is not None and campaign.gold.version is not None:
            gold = (await trainings_store.get_training(runner, campaign.gold.training, campaign.gold.version)).training
        terms = Terms(version.protocol, gold)
        if campaign.state in {*UNSEEN, CampaignState.BUILDING}:
            return terms
        _known[campaign_id] = terms
    return terms


async def release_results(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> Campaign:
    """Release a campaign's results to teams; raises NoSuchCampaign and CampaignNotEnded."""
    await store.lock_campaign(session, campaign_id)
    campaign = await store.get_campaign(session, campaign_id)
    if campaign.released_at is None:
        campaign.require_ended()
    if await store.release_results(session, campaign_id):
        await audit_store.add(session, campaign_id, key_id=key_id, action="results.released")
    return await store.get_campaign(session, campaign_id)


async def publish_results(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> Campaign:
    """Publish a campaign's results to everybody; raises NoSuchCampaign and CampaignNotEnded."""
    await release_results(session, campaign_id, key_id=key_id)
    if await store.publish_results(session, campaign_id):
        await audit_store.add(session, campaign_id, key_id=key_id, action="results.published")
    return await store.get_campaign(session, campaign_id)


async def withdraw_results(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> Campaign:
    """Withdraw a campaign's results from teams and the public; raises NoSuchCampaign."""
    if await store.withdraw_results(session, campaign_id):
        await audit_store.add(session, campaign_id, key_id=key_id, action="results.withdrawn")
    return await store.get_campaign(session, campaign_id)

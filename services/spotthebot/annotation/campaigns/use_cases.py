"""The terms of campaigns, and the release of their results.

Terms are read once in a process: nearly every request of an annotator needs them. Those of a campaign that was not
opened are read each time: another process may change them. Results are released to teams or to everybody, and
withdrawn; the audit log notes each.
"""

from uuid import UUID

from cachetools import LRUCache

from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store
from spotthebot.annotation.campaigns.domain import Campaign, Terms
from spotthebot.annotation.protocols.use_cases import get_protocol
from spotthebot.annotation.trainings import store as trainings_store
from spotthebot.contracts.annotation.campaign_changes import UNSEEN
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.database.statements import Runner

_MAX_KNOWN = 256
_known: LRUCache[UUID, Terms] = LRUCache(_MAX_KNOWN)


async def terms_of(runner: Runner, campaign_id: UUID) -> Terms:
    """Return what the assignments of a campaign go by."""
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
    """Let teams see a campaign's results; raises NoSuchCampaign and CampaignNotEnded."""
    await store.lock_campaign(session, campaign_id)
    campaign = await store.get_campaign(session, campaign_id)
    if campaign.released_at is None:
        campaign.require_ended()
    if await store.release_results(session, campaign_id):
        await audit_store.add(session, campaign_id, key_id=key_id, action="results.released")
    return await store.get_campaign(session, campaign_id)


async def publish_results(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> Campaign:
    """Let everybody see a campaign's results, teams too; raises NoSuchCampaign and CampaignNotEnded."""
    await release_results(session, campaign_id, key_id=key_id)
    if await store.publish_results(session, campaign_id):
        await audit_store.add(session, campaign_id, key_id=key_id, action="results.published")
    return await store.get_campaign(session, campaign_id)


async def withdraw_results(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> Campaign:
    """Let neither teams nor the public see a campaign's results any more; raises NoSuchCampaign."""
    if await store.withdraw_results(session, campaign_id):
        await audit_store.add(session, campaign_id, key_id=key_id, action="results.withdrawn")
    return await store.get_campaign(session, campaign_id)

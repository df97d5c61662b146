"""The release of a campaign's results to teams or to everybody, and its withdrawal; the audit log notes each."""

from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.domain.campaigns import Campaign
from spotthebot.kit.database import WriteSession


async def release_results(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> Campaign:
    """Let teams see a campaign's results; raises NoSuchCampaign and CampaignNotEnded."""
    await store.campaigns.lock_campaign(session, campaign_id)
    campaign = await store.campaigns.get_campaign(session, campaign_id)
    if campaign.released_at is None:
        campaign.require_ended()
    if await store.campaigns.release_results(session, campaign_id):
        await store.audit_log.add(session, campaign_id, key_id=key_id, action="results.released")
    return await store.campaigns.get_campaign(session, campaign_id)


async def publish_results(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> Campaign:
    """Let everybody see a campaign's results, teams too; raises NoSuchCampaign and CampaignNotEnded."""
    await release_results(session, campaign_id, key_id=key_id)
    if await store.campaigns.publish_results(session, campaign_id):
        await store.audit_log.add(session, campaign_id, key_id=key_id, action="results.published")
    return await store.campaigns.get_campaign(session, campaign_id)


async def withdraw_results(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> Campaign:
    """Let neither teams nor the public see a campaign's results any more; raises NoSuchCampaign."""
    if await store.campaigns.withdraw_results(session, campaign_id):
        await store.audit_log.add(session, campaign_id, key_id=key_id, action="results.withdrawn")
    return await store.campaigns.get_campaign(session, campaign_id)

"""Campaigns: start, build and close."""

from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.domain.campaigns import Campaign
from spotthebot.annotation.domain.errors import NothingToAnnotate
from spotthebot.annotation.domain.packages import pack
from spotthebot.contracts.annotation import CampaignIn, CampaignState
from spotthebot.kit.database import Database, WriteSession
from spotthebot.kit.jobs import Jobs

BUILD_CAMPAIGN = "annotation:build_campaign"
_ROWS_AT_ONCE = 500


async def start_campaign(session: WriteSession, jobs: Jobs, request: CampaignIn) -> Campaign:
    """Create a campaign over a complete collection and queue the job that makes its packages."""
    campaign = await store.campaigns.add_campaign(session, request)
    await jobs.defer(session, BUILD_CAMPAIGN, {"campaign_id": str(campaign.id)})
    return campaign


async def build_campaign(database: Database, conversations: Conversations, campaign_id: UUID) -> None:
    """Fetch the conversations of a campaign and pack them in one transaction; only one in state BUILDING is built."""
    async with database.read() as reading:
        campaign = await store.campaigns.get_campaign(reading, campaign_id)
    if campaign.state is not CampaignState.BUILDING:
        return
    shown = [each async for each in conversations.shown(campaign.collection_id)]
    async with database.write() as session:
        await store.campaigns.lock_campaign(session, campaign_id)
        campaign = await store.campaigns.get_campaign(session, campaign_id)
        if campaign.state is not CampaignState.BUILDING:
            return
        await store.conversations.add_shown_conversations(session, campaign_id, shown)
        if campaign.mode == "live":
            try:
                packages = pack(shown, campaign.segments, package_size=campaign.package_size, seed=campaign.seed)
            except NothingToAnnotate as error:
                await store.campaigns.fail_campaign(session, campaign_id, error.detail)
                return
            for start in range(0, len(packages), _ROWS_AT_ONCE):
                batch = packages[start : start + _ROWS_AT_ONCE]
                await store.packages.add_packages(session, campaign_id, [(None, package) for package in batch])
        await store.campaigns.open_campaign(session, campaign_id)


async def close_campaign(session: WriteSession, campaign_id: UUID) -> Campaign:
    """Complete a campaign: nothing can be claimed any more; packages that are claimed can still be annotated."""
    await store.campaigns.get_campaign(session, campaign_id)
    await store.campaigns.close_campaign(session, campaign_id)
    return await store.campaigns.get_campaign(session, campaign_id)

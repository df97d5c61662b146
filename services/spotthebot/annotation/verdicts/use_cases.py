"""Takes a report of verdicts: orders the packages, publishes new verdicts, and stops a campaign by its own rule."""

from uuid import UUID

from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.events.use_cases import publish_stopped, publish_verdicts
from spotthebot.annotation.verdicts import store
from spotthebot.annotation.verdicts.domain import is_fulfilled
from spotthebot.contracts.annotation.verdicts import VerdictReportIn
from spotthebot.kit.database.sessions import WriteSession


async def take_report(session: WriteSession, campaign_id: UUID, report: VerdictReportIn) -> Campaign:
    """Take a report, and return the campaign. A repeated report changes nothing.

    Packages of undecided pairs come first in campaigns with a rule to stop alone: in others the order of packages does
    not depend on when reports arrive, so that a seed gives the same campaign again.
    The campaign pauses if the report fulfils its rule and it is open. It does so once: an operator who opens it again
    goes on, until `stop_when` or `margin` changes. Raises NoSuchCampaign.
    """
    if (await campaigns_store.get_campaign(session, campaign_id)).stop_when is not None:
        # Packages are locked before the campaign, as everywhere.
        await store.order_packages(session, campaign_id, {each.package_id: each.items for each in report.packages})
    await campaigns_store.lock_campaign(session, campaign_id)
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    decided = sum(each.verdict != "open" for each in report.verdicts)
    if await store.count_decided(session, campaign_id, decided):
        await publish_verdicts(session, campaign, decided=decided, pairs=len(report.verdicts))
    if is_fulfilled(campaign.stop_when, report.verdicts) and await campaigns_store.stop_campaign(session, campaign_id):
        campaign = await campaigns_store.get_campaign(session, campaign_id)
        await publish_stopped(session, campaign)
    return campaign

"""The terms of campaigns, read once in a process: nearly every request of an annotator needs them.

Those of a campaign that was not opened are read each time: another process may change them.
"""

from uuid import UUID

from cachetools import LRUCache

from spotthebot.annotation import store
from spotthebot.annotation.domain.campaigns import Terms
from spotthebot.annotation.use_cases.protocols import get_protocol
from spotthebot.contracts.annotation import CampaignState
from spotthebot.contracts.campaign_changes import UNSEEN
from spotthebot.kit.statements import Runner

_MAX_KNOWN = 256
_known: LRUCache[UUID, Terms] = LRUCache(_MAX_KNOWN)


async def terms_of(runner: Runner, campaign_id: UUID) -> Terms:
    """Return what the assignments of a campaign go by."""
    terms = _known.get(campaign_id)
    if terms is None:
        campaign = await store.campaigns.get_campaign(runner, campaign_id)
        version = await get_protocol(runner, campaign.protocol, campaign.protocol_version)
        gold = None
        if campaign.gold is not None and campaign.gold.version is not None:
            gold = (await store.trainings.get_training(runner, campaign.gold.training, campaign.gold.version)).training
        terms = Terms(version.protocol, gold)
        if campaign.state in {*UNSEEN, CampaignState.BUILDING}:
            return terms
        _known[campaign_id] = terms
    return terms

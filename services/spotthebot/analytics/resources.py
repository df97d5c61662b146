"""The objects that the endpoints of `analytics` share while it runs."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.web.core.resources import resources_of


@dataclass(frozen=True)
class Resources:
    """The job queue, and what reads campaigns from `annotation`. Nouns above add the objects that only they use."""

    jobs: Jobs
    campaigns: Campaigns
    campaign_data: CampaignData


ServiceResources = Annotated[Resources, Depends(resources_of)]
"""The resources that the lifespan of the application opened."""

"""What can go wrong with an analysis.

NotFound
└── NoSuchCampaign
Conflict
├── NothingToAnalyse
└── OneBotOnly
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NothingToAnalyse(Conflict):
    """The filter '{filter}' leaves none of the {annotations} annotations of this campaign."""


class OneBotOnly(Conflict):
    """There are annotated conversations of {bots} bots only: two that met are needed to rank."""

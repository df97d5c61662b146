"""The error of ratings by a campaign that does not exist.

NotFound
└── NoSuchCampaign
"""

from spotthebot.kit.errors import NotFound


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""

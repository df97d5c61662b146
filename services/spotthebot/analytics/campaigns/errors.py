"""The errors of campaigns that are given by their names.

NotFound
└── NoCampaignOfName
Conflict
└── SeveralCampaignsOfName
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoCampaignOfName(NotFound):
    """There is no campaign '{name}': {suggestion}."""


class SeveralCampaignsOfName(Conflict):
    """{count} campaigns are called '{name}': give the id of one of them: {candidates}."""

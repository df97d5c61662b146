"""The errors of pooled results.

Conflict
├── ProtocolsDiffer
└── CampaignHasNone
"""

from spotthebot.kit.errors import Conflict


class ProtocolsDiffer(Conflict):
    """'{campaign}' uses {protocol}, '{other}' {another}: pool campaigns with the same version of one protocol."""


class CampaignHasNone(Conflict):
    """The campaign '{campaign}' has no such result, so leave it out. {reason}"""  # noqa: D400 - ends as the reason does

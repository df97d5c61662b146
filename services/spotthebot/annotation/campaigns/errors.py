"""The errors of campaigns. The reason of a refused claim is the `type` of the problem.

Invalid
├── HeadlineUnknown
├── HeadlineUnused
├── PackagesNotNamed
└── PairsUnused
NotFound
└── NoSuchCampaign
Conflict
├── CampaignCannotMove
├── CampaignNotBuilt
├── CampaignNotDeletable
├── CampaignNotEnded
├── CampaignTakesNoClaims
├── NoPay
└── ClaimRefused
    └── CampaignClosed
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class HeadlineUnknown(Invalid):
    """The protocol '{protocol}' has no measure '{headline}': choose one of {known}."""


class HeadlineUnused(Invalid):
    """The protocol '{protocol}' ranks bots by the labels of who is a bot: leave `headline` out."""


class PackagesNotNamed(Invalid):
    """The service chooses the packages of the campaign '{name}': leave `package` out."""


class PairsUnused(Invalid):
    """The protocol '{protocol}' compares no pairs of dialogues: leave `pairs` out."""


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class CampaignCannotMove(Conflict):
    """The campaign '{name}' is {state} and cannot become {requested}."""


class CampaignNotBuilt(Conflict):
    """The packages of the campaign '{name}' are still being made: try again when its state is draft."""


class CampaignNotDeletable(Conflict):
    """The campaign '{name}' is {state}: only a draft can be deleted. Close it instead."""


class CampaignNotEnded(Conflict):
    """The campaign '{name}' is {state}: its results can be released once it is complete, or after you close it."""


class CampaignTakesNoClaims(Conflict):
    """The campaign '{name}' holds imported annotations: its packages can't be claimed."""


class NoPay(Conflict):
    """The campaign '{name}' pays nothing: it was made without `pay_per_package` and `currency`."""


class ClaimRefused(Conflict):
    """This annotator can't claim a package."""


class CampaignClosed(ClaimRefused):
    """The campaign '{name}' is {state}: no package can be claimed."""

    problem_name = "closed"

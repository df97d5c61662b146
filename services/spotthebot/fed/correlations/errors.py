"""The errors of ratings that scores can't be compared with.

Invalid
├── NoSuchRating
└── NoRatingsOfTurns
Conflict
├── OtherCampaign
└── NoDimensionInCommon
"""

from spotthebot.kit.errors import Conflict, Invalid


class NoSuchRating(Invalid):
    """There is no rating '{rated}' in {source}: {known}."""


class NoRatingsOfTurns(Invalid):
    """'{rated}' rates no single turns in {source}: {known}. For '{rated}', use the level 'dialogue' or 'system'."""


class OtherCampaign(Conflict):
    """The campaign '{campaign}' can't be compared with these scores: {reason}."""


class NoDimensionInCommon(Conflict):
    """The score sets have no dimension in common: choose sets that were scored on the same dimensions."""

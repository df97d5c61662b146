"""The errors of labels that are too few for a result.

Conflict
├── NothingToAnalyse
└── OneBotOnly
"""

from spotthebot.kit.errors import Conflict


class NothingToAnalyse(Conflict):
    """The filter '{filter}' keeps none of the {annotations} annotations of this campaign: choose another filter."""


class OneBotOnly(Conflict):
    """A ranking needs annotated conversations between at least two bots: there are {bots} bots so far."""

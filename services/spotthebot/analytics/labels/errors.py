"""The errors of labels that are too few for a result.

Conflict
├── NoBotsMet
├── NothingToAnalyse
└── OneBotOnly
"""

from spotthebot.kit.errors import Conflict


class NothingToAnalyse(Conflict):
    """The filter '{filter}' keeps none of the {annotations} annotations of this campaign: choose another filter."""


class OneBotOnly(Conflict):
    """A ranking needs annotated conversations of at least two bots: there are {bots} bots so far."""


class NoBotsMet(Conflict):
    """This analysis is of games, and no two bots met in this campaign's conversations: its ranks go by fooling rate."""

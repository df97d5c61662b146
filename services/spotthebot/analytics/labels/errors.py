"""The errors of labels that are too few for a result.

Conflict
├── NoBotsMet
├── NothingToAnalyse
│   └── NothingAnnotated
└── OneBotOnly
"""

from spotthebot.kit.errors import Conflict


class NothingToAnalyse(Conflict):
    """The filter '{filter}' keeps none of the {annotations} annotations of this campaign: choose another filter."""


class NothingAnnotated(NothingToAnalyse):
    """Nobody has submitted a package of this campaign yet."""


class OneBotOnly(Conflict):
    """A ranking needs annotated conversations of at least two bots: there are {bots} bots so far."""


class NoBotsMet(Conflict):
    """This analysis is of games, and no two bots met in this campaign's conversations: its ranks go by fooling rate."""


def nothing_kept(filter_name: str, annotations: int) -> NothingToAnalyse:
    """Return the error of a result for which a filter keeps none of the annotations."""
    return NothingToAnalyse(filter=filter_name, annotations=annotations) if annotations else NothingAnnotated()

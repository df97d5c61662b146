"""The errors of score jobs that can't score a collection, or have ended.

NotFound
└── NoSuchBot
Conflict
├── NothingToScore
└── ScoreJobHasEnded
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchBot(NotFound):
    """No bot '{bot}' speaks in the collection '{collection}': there are {known}."""


class NothingToScore(Conflict):
    """The collection '{collection}' has no complete conversation in which a bot answers."""


class ScoreJobHasEnded(Conflict):
    """This score job is {state}: only one that is queued or running can be cancelled."""

"""The errors of score jobs that do not exist, or have no summary yet.

NotFound
└── NoSuchScoreJob
Conflict
└── NotScoredYet
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchScoreJob(NotFound):
    """There is no score job {job_id}."""


class NotScoredYet(Conflict):
    """This score job is {state}: only a complete score job has a summary."""

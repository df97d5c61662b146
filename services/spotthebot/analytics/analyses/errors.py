"""The errors of analyses that run as step jobs.

NotFound
└── NoSuchAnalysis
Conflict
├── AnalysisHasEnded
└── NoTableYet
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchAnalysis(NotFound):
    """There is no analysis {analysis_id}."""


class AnalysisHasEnded(Conflict):
    """This analysis is {state}: only one that is queued or running can be cancelled."""


class NoTableYet(Conflict):
    """This analysis is {state}: only a complete analysis has a table."""

"""The errors of studies whose measures or outcome allow no result.

Conflict
├── NothingMeasured
├── TooManyMeasures
├── NoOutcome
├── OutcomeNotRated
├── OutcomeAlone
├── NoDialogueInCommon
└── TooMuchToAssess
"""

from spotthebot.kit.errors import Conflict


class NothingMeasured(Conflict):
    """The study '{study}' measures nothing: it has no tasks, or they ask for free text alone."""


class TooManyMeasures(Conflict):
    """'{study}' has {measures} measures, and results hold at most {most}: make several studies of its tasks."""


class NoOutcome(Conflict):
    """'{study}' names no outcome to assess its measures by: replace the study by one with an outcome."""


class OutcomeNotRated(Conflict):
    """Nobody has rated '{outcome}', the outcome of '{study}', so far: wait for ratings{others}."""


class OutcomeAlone(Conflict):
    """'{outcome}', the outcome of '{study}', is its only measure with values: there is nothing to assess by it."""


class NoDialogueInCommon(Conflict):
    """No dialogue of '{study}' has values of '{outcome}' and of another measure: nothing can be assessed by it."""


class TooMuchToAssess(Conflict):
    """'{study}' has {number:,} {things}, and at most {most:,} can be assessed at once: assess a part of its values."""

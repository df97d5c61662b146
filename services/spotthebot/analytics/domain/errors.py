"""The errors of results and analyses.

NotFound
├── NoSuchCampaign
├── NoSuchStudy
├── NoSuchChats
├── NoCampaignOfName
├── NoSuchMeasure
├── NoSuchAnalysis
└── NoSuchFigure
Forbidden
└── KeyWithoutTeam
Conflict
├── NothingToAnalyse
├── NothingToMeasure
├── OtherProtocol
├── OneBotOnly
├── OneKindOnly
├── SeveralCampaignsOfName
├── NothingMeasured
├── TooManyMeasures
├── NoOutcome
├── OutcomeNotRated
├── OutcomeAlone
├── NoDialogueInCommon
├── TooManyValues
├── TooMuchToAssess
├── AnalysisHasEnded
└── NoTableYet
"""

from spotthebot.kit.errors import Conflict, Forbidden, NotFound


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NoSuchStudy(NotFound):
    """There is no study {study_id}."""


class NoSuchChats(NotFound):
    """The study '{study}' has the ratings of the collection {collection_id}, which has no chats: replace the study."""


class NoCampaignOfName(NotFound):
    """There is no campaign '{name}': {suggestion}."""


class NoSuchMeasure(NotFound):
    """'{campaign}' has no measure '{measure}': there are {known}."""


class NoSuchAnalysis(NotFound):
    """There is no analysis {analysis_id}."""


class NoSuchFigure(NotFound):
    """There is no figure '{figure}': there are {known}, as .json, .svg or .png."""


class KeyWithoutTeam(Forbidden):
    """This API key names no team: ask the operator for one made with `--team`."""


class NothingToAnalyse(Conflict):
    """The filter '{filter}' keeps none of the {annotations} annotations of this campaign: choose another filter."""


class NothingToMeasure(Conflict):
    """'{campaign}' asks for free text alone, which measures no bot: export its annotations instead."""


class OtherProtocol(Conflict):
    """These results are for campaigns with the protocol '{known}': '{campaign}' uses '{protocol}'."""


class OneBotOnly(Conflict):
    """A ranking needs annotated conversations between at least two bots: there are {bots} bots so far."""


class OneKindOnly(Conflict):
    """Points need sides of people and of bots, else one guess is always right: all {sides} annotated are {kind}."""


class SeveralCampaignsOfName(Conflict):
    """{count} campaigns are called '{name}': give the id of one of them: {candidates}."""


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


class TooManyValues(Conflict):
    """'{study}' has more than {most:,} values, too many to hold at once: export its campaigns one by one."""


class TooMuchToAssess(Conflict):
    """'{study}' has {number:,} {things}, and at most {most:,} can be assessed at once: assess a part of its values."""


class AnalysisHasEnded(Conflict):
    """This analysis is {state}: only one that is queued or running can be cancelled."""


class NoTableYet(Conflict):
    """This analysis is {state}: only a complete analysis has a table."""

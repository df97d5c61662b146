"""The errors of results and analyses.

NotFound
├── NoSuchCampaign
├── NoCampaignOfName
├── NoSuchAnalysis
└── NoSuchFigure
Forbidden
└── KeyWithoutTeam
Conflict
├── NothingToAnalyse
├── OtherProtocol
├── OneBotOnly
├── OneKindOnly
├── SeveralCampaignsOfName
├── AnalysisHasEnded
└── NoTableYet
"""

from spotthebot.kit.errors import Conflict, Forbidden, NotFound


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NoCampaignOfName(NotFound):
    """There is no campaign '{name}': {suggestion}."""


class NoSuchAnalysis(NotFound):
    """There is no analysis {analysis_id}."""


class NoSuchFigure(NotFound):
    """There is no figure '{figure}': there are {known}, as .json, .svg or .png."""


class KeyWithoutTeam(Forbidden):
    """This API key names no team: ask the operator for one made with `--team`."""


class NothingToAnalyse(Conflict):
    """The filter '{filter}' keeps none of the {annotations} annotations of this campaign: choose another filter."""


class OtherProtocol(Conflict):
    """These results are for campaigns with the protocol '{known}': '{campaign}' uses '{protocol}'."""


class OneBotOnly(Conflict):
    """A ranking needs annotated conversations between at least two bots: there are {bots} bots so far."""


class OneKindOnly(Conflict):
    """Points need sides of people and of bots, else one guess is always right: all {sides} annotated are {kind}."""


class SeveralCampaignsOfName(Conflict):
    """{count} campaigns are called '{name}': give the id of one of them: {candidates}."""


class AnalysisHasEnded(Conflict):
    """This analysis is {state}: only one that is queued or running can be cancelled."""


class NoTableYet(Conflict):
    """This analysis is {state}: only a complete analysis has a table."""

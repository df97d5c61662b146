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
    """The filter '{filter}' leaves none of the {annotations} annotations of this campaign."""


class OtherProtocol(Conflict):
    """The campaign '{campaign}' asks by the protocol '{protocol}': these results are for '{known}' alone."""


class OneBotOnly(Conflict):
    """There are annotated conversations of {bots} bots only: two that met are needed to rank."""


class OneKindOnly(Conflict):
    """All {sides} sides that were annotated are {kind}: points need people and bots, else a guess is always right."""


class SeveralCampaignsOfName(Conflict):
    """{count} campaigns are called '{name}': give the id of one of them: {candidates}."""


class AnalysisHasEnded(Conflict):
    """This analysis is {state}: only one that is queued or running can be cancelled."""


class NoTableYet(Conflict):
    """This analysis is {state}: its table is there once it is complete."""

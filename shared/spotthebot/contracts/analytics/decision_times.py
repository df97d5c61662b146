"""When annotators of a game decide that a speaker is a bot, by the number of exchanges that they opened."""

from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_LENGTHS, MAX_PAIRS
from spotthebot.contracts.analytics.choices import Clusters
from spotthebot.contracts.analytics.provenance import AnnotatorCounts
from spotthebot.contracts.analytics.survival import CoxCoefficient, LogRank, SurvivalCurve
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.contracts.wire import Wire


class DecisionParametersIn(Wire):
    """How to analyse the decisions of a game."""

    confidence_level: float = Field(default=0.95, ge=MIN_LEVEL, le=MAX_LEVEL, description="Of intervals.")
    significance_level: float = Field(default=0.05, ge=MIN_LEVEL, le=MAX_LEVEL, description="Of tests.")
    clusters: Clusters = Field(default="both", description="Decisions that vary together.")


class DecisionSurvival(Wire):
    """How long speakers stay unspotted, whose curves differ, and which features shorten that time."""

    method: str
    times: tuple[int, ...] = Field(max_length=MAX_LENGTHS, description="Exchanges open.")
    curves: tuple[SurvivalCurve, ...] = Field(max_length=MAX_BOTS)
    log_rank: tuple[LogRank, ...] = Field(
        max_length=MAX_PAIRS, description="Of each pair of speakers; p-values by Holm's method."
    )
    cox: tuple[CoxCoefficient, ...] = Field(
        max_length=MAX_PAIRS, description="None in version 1 of the game, which does not ask for features."
    )


class DecisionTimesOut(AnnotatorCounts):
    """The speakers of a game by when they were spotted."""

    campaign_id: UUID
    campaign: str
    confidence_level: float = Field(description="Of intervals.")
    significance_level: float = Field(description="Of tests.")
    clusters: Clusters = Field(description="Decisions that vary together.")
    sides: int = Field(description="Decisions about sides.")
    exact: DecisionSurvival = Field(
        description='The exchange of the decision "bot" is the time; other sides are unspotted up to the last exchange.'
    )
    censored: DecisionSurvival = Field(
        description="The same decisions as inspections, as in Spot The Bot's segments: at the exchange of the decision"
        " a side was spotted or not. Annotators chose the exchange by what they read, which this does not know."
    )
    preliminary: bool = Field(description="Whether annotations are still missing.")
    version: str = Field(description="Of the software.")

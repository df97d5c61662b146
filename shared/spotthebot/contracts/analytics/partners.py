"""Results of a campaign with and without its conversations of people with bots."""

from typing import Literal

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_LENGTHS
from spotthebot.contracts.analytics.provenance import Interval, Uncertainty
from spotthebot.contracts.analytics.survival import SurvivalCurve
from spotthebot.contracts.wire import Wire

Conversations = Literal["all", "without_people", "with_people"]


class PartnerBot(Wire):
    """A bot, or people, in one kind of conversations."""

    bot: str
    fooling_rate: Interval
    rank_low: int | None = Field(description="Best rank by fooling rate among the bots of these conversations.")
    rank_high: int | None
    n: int = Field(description="Labels.")


class PartnerResult(Wire):
    """Fooling rates, ranks by them, and survival in one kind of conversations."""

    conversations: Conversations = Field(
        description="All, those without people (`without_people`), or those of a person with a bot (`with_people`)."
    )
    annotations: int
    bots: tuple[PartnerBot, ...] = Field(max_length=MAX_BOTS, description="The highest rate first, people last.")
    times: tuple[int, ...] = Field(max_length=MAX_LENGTHS, description="Of the curves: exchanges seen.")
    curves: tuple[SurvivalCurve, ...] = Field(max_length=MAX_BOTS)


class PartnerDifference(Wire):
    """A bot's fooling rate with people minus that with bots."""

    bot: str
    estimate: float
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None = Field(description="For all bots that talked with both.")
    significant: bool
    n_with_people: int = Field(description="Labels in conversations with people.")
    n_with_bots: int = Field(description="Labels in conversations with bots.")
    uncertainty: Uncertainty
    reason: str | None = Field(description="Why there is no test.")


class OrderCorrelation(Wire):
    """Spearman's rank correlation of two orders of bots."""

    estimate: float | None
    low: float | None = Field(description="Of the correlation over other bots like these.")
    high: float | None
    p_value: float | None = Field(description="Two-sided; exact for up to 12 bots.")
    n: int = Field(description="Bots.")
    method: str
    reason: str | None = Field(description="Why there is no correlation, or no interval.")


class Partners(Wire):
    """Results with and without conversations of people with bots, and whether the bots' order is the same."""

    results: tuple[PartnerResult, ...] = Field(max_length=3, description="Empty where there is one kind alone.")
    differences: tuple[PartnerDifference, ...] = Field(max_length=MAX_BOTS)
    correlation: OrderCorrelation = Field(description="Of fooling rates with people and with bots.")
    method: str = Field(description="Of the differences.")
    reason: str | None = Field(description="Why nothing can be compared.")

"""Results, as the service `analytics` speaks of them. A figure that the data do not define is null."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Wire

Filter = Literal["complete_packages", "none"]
Unit = Literal["annotation", "segment", "conversation"]


class Counts(Wire):
    """How much data a result stands on."""

    conversations: int
    annotated_conversations: int
    annotations: int
    annotators: int
    segments: int


class Provenance(Wire):
    """How a result came to be: the same data and parameters give the same result."""

    campaign_id: UUID
    campaign: str
    domain: str
    filter: Filter
    unit: Unit
    confidence_level: float
    resamples: int
    seed: int
    counts: Counts
    data_sha256: str = Field(description="Fingerprint of the annotations that were used.")
    preliminary: bool = Field(description="Whether annotations are still missing.")
    version: str


class PairResult(Wire):
    """The games of one pair, from `bot`'s side."""

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    win_rate: float | None = Field(description="Wins among decided games; null where none was decided.")
    p_value: float | None = Field(description="Exact two-sided sign test, ties dropped.")
    p_adjusted: float | None = Field(description="After Holm's correction over all pairs.")
    significant: bool


class BotWinRate(Wire):
    """A bot's mean win rate over its opponents (Eq. 1)."""

    bot: str
    win_rate: float | None


class WinRates(Wire):
    """Who wins against whom."""

    pairs: tuple[PairResult, ...]
    bots: tuple[BotWinRate, ...]


class Interval(Wire):
    """An estimate with its interval."""

    estimate: float | None
    low: float | None
    high: float | None


class Skill(Wire):
    """A TrueSkill rating."""

    mu: float
    sigma: float


class RankedBot(Wire):
    """A bot's place."""

    bot: str
    rank_low: int | None = Field(description="Best rank within the confidence level; null without decided games.")
    rank_high: int | None = Field(description="Worst rank within the confidence level.")
    cluster: int | None = Field(description="Bots of one cluster can't be told apart; 1 is best.")
    win_rate: Interval
    trueskill: Skill


class Ranking(Wire):
    """The bots, best first."""

    method: str
    resamples: int
    bots: tuple[RankedBot, ...]


class SurvivalCurve(Wire):
    """The share of times a bot is not yet spotted, at each of `Survival.times`."""

    bot: str
    survival: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


class LogRank(Wire):
    """Whether two survival curves differ."""

    bot: str
    other: str
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    significant: bool


class CoxCoefficient(Wire):
    """How a feature changes the hazard of being spotted."""

    bot: str
    feature: str
    coefficient: float | None
    standard_error: float | None
    p_value: float | None


class Survival(Wire):
    """How long bots pass."""

    times: tuple[int, ...] = Field(description="Exchanges seen.")
    curves: tuple[SurvivalCurve, ...]
    log_rank: tuple[LogRank, ...]
    cox: tuple[CoxCoefficient, ...]


class FoolingRate(Wire):
    """How often a bot is taken for a human."""

    bot: str
    human: int
    unsure: int
    bot_labels: int
    n: int
    rate: float | None


class WinRatesOut(Provenance):
    """Answer of `/win-rates`."""

    win_rates: WinRates


class RankingOut(Provenance):
    """Answer of `/ranking`."""

    ranking: Ranking


class SurvivalOut(Provenance):
    """Answer of `/survival`."""

    survival: Survival


class FoolingRatesOut(Provenance):
    """Answer of `/fooling-rates`."""

    fooling_rates: tuple[FoolingRate, ...]

"""Who wins against whom, by human-likeness, by feature and by length; how often each passes for a human."""

from pydantic import Field

from spotthebot.contracts.analytics.provenance import Interval, Uncertainty
from spotthebot.contracts.wire import Wire


class PairResult(Wire):
    """The games of one pair, from `bot`'s side."""

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    win_rate: float | None = Field(description="Wins among decided games; null where none was decided.")
    p_value: float | None = Field(description="Exact two-sided sign test, ties dropped.")
    p_adjusted: float | None = Field(description="After the correction over all pairs.")
    significant: bool


class BotWinRate(Wire):
    """A bot's mean win rate over its opponents (Eq. 1)."""

    bot: str
    win_rate: float | None


class WinRates(Wire):
    """Who wins against whom."""

    pairs: tuple[PairResult, ...]
    bots: tuple[BotWinRate, ...]


class Features(Wire):
    """Who was preferred: by each feature, and by sensibleness and specificity together."""

    fluency: WinRates
    sensibleness: WinRates
    specificity: WinRates
    ssa: WinRates


class SegmentBot(Wire):
    """A bot at one length."""

    bot: str
    win_rate: float | None
    human_share: float | None = Field(description="Share of its labels that are human.")
    unsure_share: float | None
    n: int = Field(description="Labels.")
    win_rate_interval: Interval
    human_share_interval: Interval


class Segment(Wire):
    """The games at one length (Table 8 of Spot The Bot)."""

    exchanges: int
    ties: float | None = Field(description="Share of annotations that are ties.")
    n: int = Field(description="Annotations.")
    bots: tuple[SegmentBot, ...]


class FoolingRate(Wire):
    """How often a bot, or a person, is taken for a human."""

    bot: str
    human: int
    unsure: int
    bot_labels: int
    n: int
    rate: float | None
    low: float | None
    high: float | None
    uncertainty: Uncertainty

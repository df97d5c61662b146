"""Which bot wins against which, by human-likeness, by feature and by length; how often each passes for a human."""

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_PAIRS
from spotthebot.contracts.analytics.differences import Differences
from spotthebot.contracts.analytics.provenance import Interval, Uncertainty
from spotthebot.contracts.wire import Wire


class PairResult(Wire):
    """The games between two bots. Wins and losses are counted for `bot`."""

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    win_rate: float | None = Field(description="Wins among decided games; null where none was decided.")
    win_rate_with_ties: float | None = Field(
        description="Wins among all games, ties included (early draft); null without games."
    )
    low: float | None = Field(description="Of `win_rate`.")
    high: float | None
    p_value: float | None = Field(description="Of even odds, two-sided, ties dropped.")
    p_adjusted: float | None = Field(description="After the correction over the family.")
    significant: bool = Field(description="Whether `p_adjusted` is below the significance level.")
    test: str = Field(description="What gives the p-value, and what it takes to vary together.")
    family: int = Field(description="Tests that were corrected together: all pairs by one criterion.")
    uncertainty: Uncertainty = Field(description="What the interval stands on, and the clustered test.")
    reason: str | None = Field(description="Why there is no p-value.")


class BotWinRate(Wire):
    """A bot's win rate, averaged over its opponents (Eq. 1)."""

    bot: str
    win_rate: float | None
    low: float | None
    high: float | None
    uncertainty: Uncertainty


class WinRates(Wire):
    """The wins of each pair of bots, and the win rate of each bot."""

    pairs: tuple[PairResult, ...] = Field(max_length=MAX_PAIRS)
    bots: tuple[BotWinRate, ...] = Field(max_length=MAX_BOTS)

    @property
    def differences(self) -> Differences:
        """Count the pairs of bots with a shown difference, and all pairs with decided games.

        Each pair has a test of its own games.
        """
        decided = [each for each in self.pairs if each.win_rate is not None]
        return Differences(shown=sum(each.significant for each in decided), pairs=len(decided))


class Features(Wire):
    """Which bot was preferred: by each feature, and by sensibleness and specificity together."""

    fluency: WinRates
    sensibleness: WinRates
    specificity: WinRates
    ssa: WinRates


class SegmentBot(Wire):
    """The results of a bot in segments of one length."""

    bot: str
    win_rate: float | None
    human_share: float | None = Field(description="Share of its labels that are human.")
    unsure_share: float | None
    n: int = Field(description="Labels.")
    win_rate_interval: Interval
    human_share_interval: Interval
    unsure_share_interval: Interval


class Segment(Wire):
    """The games of segments of one length (Table 8 of Spot The Bot)."""

    exchanges: int
    ties: float | None = Field(description="Share of annotations that are ties.")
    n: int = Field(description="Annotations.")
    bots: tuple[SegmentBot, ...] = Field(max_length=MAX_BOTS)


class FoolingRate(Wire):
    """How often annotators take a bot, or a person, for a human."""

    bot: str
    human: int = Field(description="Labels `human`.")
    unsure: int = Field(description="Labels `unsure`.")
    bot_labels: int = Field(description="Labels `bot`.")
    n: int = Field(description="All labels.")
    rate: float | None = Field(description="Share of labels that are `human`.")
    low: float | None
    high: float | None
    uncertainty: Uncertainty

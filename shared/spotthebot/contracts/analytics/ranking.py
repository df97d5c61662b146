"""The ranking of the bots of a campaign, and which bots it tells apart."""

from itertools import permutations
from typing import Literal

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_PAIRS
from spotthebot.contracts.analytics.differences import Differences, differences_of_ranks
from spotthebot.contracts.analytics.measures import MeasuredPair
from spotthebot.contracts.analytics.provenance import Interval, Uncertainty
from spotthebot.contracts.wire import Wire

RankedBy = Literal["win_rates", "strengths", "fooling_rates"]


class Skill(Wire):
    """A TrueSkill rating with the bounds of its mean. The mean over all bots is the mean of the prior."""

    mu: float = Field(description="Mean of the rating, in TrueSkill's points.")
    sigma: float = Field(description="Its standard deviation, in TrueSkill's points.")
    low: float | None
    high: float | None
    uncertainty: Uncertainty = Field(description="Of mu.")
    rank_low: int | None = Field(description="Best rank of a set of ranks that hold for all bots together.")
    rank_high: int | None
    reason: str | None = Field(description="Why there are no bounds.")


class Strength(Wire):
    """A Bradley-Terry log-strength with ties; the strengths of all bots sum to 0."""

    estimate: float | None
    standard_error: float | None = Field(description="For games that vary together.")
    low: float | None
    high: float | None
    uncertainty: Uncertainty
    model_standard_error: float | None = Field(description="For independent games of a true model.")
    reason: str | None = Field(description="Why there is no strength, or no interval.")


class RankedBot(Wire):
    """A bot's place in the ranking; where fooling rates decide, people follow as a reference without a rank."""

    bot: str
    rank_low: int | None = Field(
        description="Best rank of a set of ranks that hold for all bots together; null without decided games."
    )
    rank_high: int | None = Field(description="Worst rank of that set.")
    reason: str | None = Field(description="Why it has no rank.")
    cluster: int | None = Field(description="Bots of one cluster share ranks, directly or through others; 1 is best.")
    win_rate: Interval = Field(description="Null values where fooling rates decide.")
    fooling_rate: Interval | None = Field(
        description="Share of its labels that are human, where fooling rates decide; else null."
    )
    win_rate_with_ties: float | None = Field(description="Mean share of wins among all games, ties included.")
    tie_rate: float | None = Field(description="Share of its games that are ties.")
    rank_probabilities: tuple[float, ...] = Field(
        max_length=MAX_BOTS, description="Of rank 1, 2, ... over draws from the estimates' distribution."
    )
    trueskill: Skill | None = Field(description="Null where fooling rates decide.")
    bradley_terry: Strength | None = Field(description="Null where fooling rates decide.")

    @property
    def deciding(self) -> Interval:
        """Return the win rate, or the fooling rate if fooling rates decide the ranks."""
        return self.fooling_rate or self.win_rate


class Ranking(Wire):
    """The bots, best first."""

    method: str = Field(description="Of win rates and their intervals.")
    ranked_by: RankedBy = Field(
        description="What decides the ranks: mean win rates, Bradley-Terry strengths where not all bots met, or fooling"
        " rates where no two bots met."
    )
    rank_method: str = Field(description="Of the sets of ranks.")
    comparisons: int = Field(description="Comparisons of two bots that are one family behind the sets of ranks.")
    reason: str | None = Field(description="Why no bot has a rank.")
    resamples: int = Field(description="Bootstrap replicates behind `rank_probabilities`.")
    trueskill_method: str = Field(description="Empty where fooling rates decide.")
    bradley_terry_method: str = Field(description="Empty where fooling rates decide.")
    draw_probability: float = Field(description="Share of games that are ties, as TrueSkill takes it.")
    bots: tuple[RankedBot, ...] = Field(max_length=MAX_BOTS)
    fooling_pairs: tuple[MeasuredPair, ...] = Field(
        max_length=MAX_PAIRS,
        description="The difference of fooling rates of each pair, on which the ranks stand where fooling rates decide;"
        " else empty.",
    )

    @property
    def best_ranks(self) -> dict[str, int | None]:
        """Return the best rank of each bot."""
        return {each.bot: each.rank_low for each in self.bots}

    @property
    def has_shared_ranks(self) -> bool:
        """Return whether any cluster has several bots."""
        clusters = [each.cluster for each in self.bots if each.cluster is not None]
        return len(set(clusters)) < len(clusters)

    @property
    def differences(self) -> Differences:
        """Count the pairs of bots that differ according to the tests on which the ranks are based."""
        return differences_of_ranks(self.best_ranks.values())

    @property
    def leaders(self) -> tuple[str, ...]:
        """Return the bots with rank 1, or none if the ranks show no difference at all.

        One bot is returned alone only if it is shown to be better than every other bot.
        """
        first = [each for each in self.bots if each.rank_low == 1]
        is_clear = len(first) > 1 or all(each.rank_high == 1 for each in first)
        return tuple(each.bot for each in first) if is_clear and self.differences.shown else ()

    @property
    def undecided_intervals(self) -> int:
        """Count the pairs of bots whose intervals do not overlap although the ranks show no difference.

        An interval holds for one bot alone; the ranks hold for all bots at once. The count is a lower bound.
        """
        ranked = [each for each in self.bots if each.rank_low is not None]
        if self.ranked_by == "strengths":
            return 0
        apart = [
            (better, worse)
            for better, worse in permutations(ranked, 2)
            if better.deciding.low is not None
            and worse.deciding.high is not None
            and better.deciding.low > worse.deciding.high
        ]
        undecided = sum(worse.rank_low == 1 or better.rank_high == len(ranked) for better, worse in apart)
        return max(undecided, len(apart) - self.differences.shown)

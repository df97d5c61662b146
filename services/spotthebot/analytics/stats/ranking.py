"""Which bots can be told apart: intervals of win rates, confidence sets of ranks, and clusters of bots."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level, require_level, require_resamples
from spotthebot.analytics.stats.pooled_differences import words_of_differences
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges, rank_probabilities
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds, share_tests
from spotthebot.analytics.stats.strength_ranks import NO_STRENGTHS, StrengthVariance, connected_bots
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import Games, PairCounts, count_wins, games_between, mean_win_rates
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.randomness import Seed, generator_of, seed_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


class RankedBy(StrEnum):
    """The measure by which bots are compared."""

    WIN_RATES = "win_rates"
    STRENGTHS = "strengths"


@dataclass(frozen=True)
class BotRank:
    """One bot's mean win rate over its opponents with bounds, its set of ranks (1 is best) and its cluster.

    If all ranked bots met and others are not ranked, the rate of a ranked bot is over the ranked ones.
    `rank_probabilities` has the probabilities of rank 1, 2, ... over draws from the distribution of the estimates. `n`
    counts its decided games; if it is 0, the other fields are None. A bot outside the ranking has a `reason`.
    `tie_rate` is the share of ties among all its games, `win_rate_with_ties` its mean share of wins among all games.
    """

    bot: str
    estimate: float | None
    low: float | None
    high: float | None
    uncertainty: Uncertainty
    n: int
    tie_rate: float | None
    win_rate_with_ties: float | None
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    rank_probabilities: tuple[float, ...]
    reason: str | None


@dataclass(frozen=True)
class PairInterval:
    """The win rate of one pair (Eq. 1) with bounds. `n` counts its decided games; if it is 0, all three are None."""

    bot: str
    other: str
    estimate: float | None
    low: float | None
    high: float | None
    uncertainty: Uncertainty
    n: int
    reason: str | None


@dataclass(frozen=True)
class Ranking:
    """The bots, best first, and every unordered pair. Bots without decided games are last.

    `ranked_by` is what decides: strengths if two of the bots never met. `reason` says why no bot has a rank.
    """

    bots: tuple[BotRank, ...]
    pairs: tuple[PairInterval, ...]
    confidence_level: float
    significance_level: float
    clusters: Clusters
    adjustment: Adjustment
    n: int
    n_comparisons: int
    n_resamples: int
    method: str
    ranked_by: RankedBy
    rank_method: str
    seed: int | None
    reason: str | None


def rank_bots(
    games: Games,
    *,
    confidence_level: float = 0.95,
    significance_level: float = 0.05,
    clusters: Clusters = Clusters.BOTH,
    adjustment: Adjustment = Adjustment.HOLM,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> Ranking:
    """Rank bots by mean win rate, with bounds for rates and simultaneous confidence sets for ranks.

    Rates have Wilson's interval for the effective number of games. Ranks come from tests: a bot ranks behind all bots
    that are significantly better, and before all bots that are significantly worse. The comparisons of all bots are one
    family (Mogstad, Romano, Shaikh & Wilhelm 2024, but with Holm's step-down procedure). So with a probability of 1 -
    `significance_level` all sets of ranks are right at once, and no bot is falsely claimed to be better than another.
    Bots whose ranks overlap, also through others, make a cluster. If not all bots met, only the largest group that
    chains of games connect is ranked. Bradley-Terry strengths rank it, unless all bots of this group met. A bot with a
    single vote removes no other bot's rank and moves no other bot's rate. The `n_resamples` draws are used only for the
    probabilities of ranks. `n` counts the games. Raises `SettingOutOfRange`. `benchmarks/analytics/coverage` measures
    the coverage of rates and of ranks.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> rows = [(at, "A", "B", 2, "human", "bot", at % 8) for at in range(16)]
    >>> ranking = rank_bots(play_games(AnnotationTable.from_rows(rows)))  # 2 of 2⁸ sign flips of the annotators
    >>> [(bot.bot, bot.estimate, bot.rank_low, bot.rank_high) for bot in ranking.bots]
    [('A', 1.0, 1, 1), ('B', 0.0, 2, 2)]
    """
    clusters = choice_of("clusters", clusters, Clusters)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    require_confidence_level(confidence_level)
    require_resamples(n_resamples)
    require_level("significance_level", significance_level)
    counts, rates = count_wins(games), WinRateVariance(games, clusters)
    pair_low, pair_high = share_bounds(*rates.pairs, confidence_level)
    basis = _basis(games, counts, rates, clusters)
    ranked, means = basis.ranked, _means(rates, confidence_level)
    of_ranked = {} if basis.among is None else _means(basis.among, confidence_level)
    means |= {code: of_ranked[at] for at, code in zip(basis.place.tolist(), ranked.tolist(), strict=bool(of_ranked))}
    better = _significantly_better(basis, significance_level, adjustment)
    rank_low, rank_high = 1 + better.sum(axis=0), len(ranked) - better.sum(axis=1)
    probabilities = rank_probabilities(basis.draws(n_resamples, generator_of(seed)))
    cluster = clusters_of_ranges(rank_low, rank_high)
    place = {int(code): at for at, code in enumerate(ranked)}
    with_ties = mean_win_rates(counts.win_rates_with_ties)
    decided, ties = counts.wins.sum(axis=0) + counts.wins.sum(axis=1), counts.ties.sum(axis=1)
    bots = [
        BotRank(
            bot=games.bots[i],
            **means[i],
            n=int(decided[i]),
            tie_rate=float(ties[i] / (ties[i] + decided[i])) if ties[i] + decided[i] else None,
            win_rate_with_ties=defined(with_ties[i]),
            rank_low=int(rank_low[place[i]]) if i in place else None,
            rank_high=int(rank_high[place[i]]) if i in place else None,
            cluster=int(cluster[place[i]]) if i in place else None,
            rank_probabilities=tuple(probabilities[place[i]].tolist()) if i in place else (),
            reason=basis.reasons.get(i, basis.reason),
        )
        for i in range(len(games.bots))
    ]
    pairs = tuple(
        PairInterval(
            bot=pair.bot,
            other=pair.other,
            estimate=pair.estimate,
            low=defined(pair_low[at]),
            high=defined(pair_high[at]),
            uncertainty=rates.pairs.variance.uncertainty(at),
            n=pair.wins + pair.losses,
            reason=None if pair.wins + pair.losses else "no game of the two was decided",
        )
        for at, pair in enumerate(counts.pairs())
    )
    return Ranking(
        bots=tuple(sorted(bots, key=lambda b: (*basis.order.get(b.bot, (True, 0.0)), -(b.estimate or 0.0), b.bot))),
        pairs=pairs,
        confidence_level=confidence_level,
        significance_level=significance_level,
        clusters=clusters,
        adjustment=adjustment,
        n=len(games),
        n_comparisons=len(ranked) * (len(ranked) - 1) // 2,
        n_resamples=n_resamples,
        method=f"{METHOD}, {clusters.words}",
        ranked_by=basis.by,
        rank_method=f"sets of ranks that hold together: t tests of all differences of {_WORDS[basis.by]},"
        f" {words_of_differences(clusters, len(ranked))}, one family ({_FAMILY[adjustment]})",
        seed=seed_of(seed),
        reason=basis.reason,
    )


_FAMILY = {
    Adjustment.HOLM: "Holm",
    Adjustment.BONFERRONI: "Bonferroni",
    Adjustment.NONE: "not corrected: the sets do not hold together",
}
_WORDS = {
    RankedBy.WIN_RATES: "mean win rates",
    RankedBy.STRENGTHS: "Bradley-Terry strengths with ties, since not all of these bots met",
}
_UNDECIDED: Final = "no game of the bot was decided"


def _means(rates: WinRateVariance, confidence_level: float) -> dict[int, dict[str, Any]]:
    """Return each bot's mean win rate with its bounds, as fields of `BotRank` by the bot's code."""
    bounds = zip(rates.means.share, *share_bounds(*rates.means, confidence_level), strict=True)
    return {
        i: dict(zip(("estimate", "low", "high"), map(defined, each), strict=True))
        | {"uncertainty": rates.means.variance.uncertainty(i)}
        for i, each in enumerate(bounds)
    }


@dataclass(frozen=True, eq=False)
class _Basis:
    """The codes of the ranked bots (r,), the values that order them (r,), and the tests and draws behind their ranks.

    `tests` maps two places among the ranked bots to the result of their test: which bot is ahead, and the p-value.
    `reasons` says for each other bot why it is not ranked. `among` has the mean win rates that were compared, if any,
    and `place` (r,) the place of each ranked bot in them.
    """

    by: RankedBy
    bots: tuple[str, ...]
    ranked: IntArray
    value: FloatArray
    tests: Callable[[IntArray, IntArray], tuple[BoolArray, FloatArray]]
    draws: Callable[[int, np.random.Generator], FloatArray]
    reasons: Mapping[int, str]
    reason: str | None = None
    among: WinRateVariance | None = None
    place: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def order(self) -> dict[str, tuple[bool, float]]:
        """Return the sort keys of the ranked bots."""
        return {self.bots[code]: (False, -self.value[at]) for at, code in enumerate(self.ranked.tolist())}


def _basis(games: Games, counts: PairCounts, rates: WinRateVariance, clusters: Clusters) -> _Basis:
    """Compare all bots by mean win rates if all met; otherwise only the bots that chains of games connect."""
    known = np.flatnonzero(~np.isnan(rates.means.share))
    undecided = dict.fromkeys(np.flatnonzero(np.isnan(rates.means.share)).tolist(), _UNDECIDED)
    if _met(counts, known).all():
        return _by_win_rates(games, known, rates, known, undecided)
    connected = connected_bots(games, clusters)
    codes, reasons = connected.codes, undecided | dict(connected.reasons)
    among = games_between(games, codes)
    of_connected = count_wins(among)
    decided = np.flatnonzero(of_connected.wins.sum(axis=0) + of_connected.wins.sum(axis=1))
    if len(codes) and _met(of_connected, decided).all():
        return _by_win_rates(games, codes[decided], WinRateVariance(among, clusters), decided, reasons)
    variance = StrengthVariance(among, clusters) if of_connected.wins.any() else None
    if variance is None or not variance.is_known:
        nobody = np.empty(0, dtype=np.int64)
        reason = f"{_never_met(games, counts, known)}, and {NO_STRENGTHS}"
        return replace(_by_win_rates(games, nobody, rates, nobody, reasons), reason=reason)

    def tests(first: IntArray, second: IntArray) -> tuple[BoolArray, FloatArray]:
        lead, found = variance.differences(first, second)
        return lead > 0, 2 * student_tails(np.abs(lead) / np.sqrt(found.variance), found.degrees)

    reasons = {code: reason for code, reason in reasons.items() if code not in set(codes.tolist())}
    return _Basis(RankedBy.STRENGTHS, games.bots, codes, variance.strengths, tests, variance.draws, reasons)


def _by_win_rates(
    games: Games, ranked: IntArray, rates: WinRateVariance, place: IntArray, reasons: Mapping[int, str]
) -> _Basis:
    """Compare by mean win rates. `place` has the place of each bot in `rates`."""

    def tests(first: IntArray, second: IntArray) -> tuple[BoolArray, FloatArray]:
        differences = rates.differences(place[first], place[second])
        return differences.share > 0.5, share_tests(*differences)[1]

    def draws(n_draws: int, generator: np.random.Generator) -> FloatArray:
        return rates.draws(n_draws, generator)[:, place] if len(place) else np.empty((n_draws, 0))

    value = rates.means.share[place]
    return _Basis(RankedBy.WIN_RATES, games.bots, ranked, value, tests, draws, reasons, among=rates, place=place)


def _significantly_better(basis: _Basis, significance_level: float, adjustment: Adjustment) -> BoolArray:
    """Return a matrix (r, r): whether the row's bot is significantly better than the column's bot."""
    r = len(basis.ranked)
    better = np.zeros((r, r), dtype=np.bool_)
    first, second = np.triu_indices(r, 1)
    ahead, p_values = basis.tests(first, second)
    significant = adjust(p_values, adjustment) < significance_level
    better[first[significant & ahead], second[significant & ahead]] = True
    better[second[significant & ~ahead], first[significant & ~ahead]] = True
    return better


def _never_met(games: Games, counts: PairCounts, known: IntArray) -> str:
    """Return a sentence that names two bots that never met. Their mean win rates are over different opponents."""
    i, j = np.argwhere(~_met(counts, known))[0]
    return f"{games.bots[known[i]]} and {games.bots[known[j]]} never met"


def _met(counts: PairCounts, codes: IntArray) -> BoolArray:
    """Return a matrix (r, r): whether two bots met. Each bot met itself."""
    met: BoolArray = (counts.wins + counts.wins.T + counts.ties)[np.ix_(codes, codes)] > 0
    return met | np.eye(len(codes), dtype=np.bool_)

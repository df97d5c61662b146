"""Which bots can be told apart: intervals of win rates, confidence sets of ranks, and clusters of these."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import defined, require_confidence_level, require_level, require_resamples
from spotthebot.analytics.stats.clustered_variance import Clusters, Uncertainty
from spotthebot.analytics.stats.randomness import Seed, generator_of, seed_of
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges, rank_probabilities
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds, share_tests
from spotthebot.analytics.stats.significance import Adjustment, adjust
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import Games, PairCounts, count_wins, mean_win_rates


@dataclass(frozen=True)
class BotRank:
    """One bot's mean win rate over its opponents with bounds, its set of ranks (1 is best) and its cluster.

    `rank_probabilities` are those of rank 1, 2, ... over draws from the estimates' distribution. `n` counts its decided
    games; without any the rest is None, `reason` says so, and the bot takes no part in the ranking. `tie_rate` is the
    share of all its games that were ties, `win_rate_with_ties` its mean share of wins among all games.
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
    """Eq. 1 for one pair with bounds; `n` counts its decided games, and without any all three are None for a reason."""

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
    """The bots, best first (those without decided games last), and every unordered pair.

    `reason` says why nobody has a rank: mean win rates over different opponents are not compared.
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

    Rates have Wilson's interval for the effective number of games. A rank is told by tests: a bot stands behind all
    that are significantly better and before all that are significantly worse, where the comparisons of all bots are one
    family (Mogstad, Romano, Shaikh & Wilhelm 2024, with Holm's step-down procedure for theirs). So with probability
    1 - `significance_level` all sets hold at once, and no claim that one bot is better is false. Bots that share ranks,
    also through others, make a cluster. The `n_resamples` draws serve the probabilities of ranks alone. `n` counts the
    games. Raises `SettingOutOfRange`. `benchmarks/analytics/coverage` has the coverage of rates and of ranks.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> rows = [(at, "A", "B", 2, "human", "bot", at % 8) for at in range(16)]
    >>> ranking = rank_bots(play_games(AnnotationTable.from_rows(rows)))  # 2 of 2⁸ sign flips of the annotators
    >>> [(bot.bot, bot.estimate, bot.rank_low, bot.rank_high) for bot in ranking.bots]
    [('A', 1.0, 1, 1), ('B', 0.0, 2, 2)]
    """
    require_confidence_level(confidence_level)
    require_resamples(n_resamples)
    require_level("significance_level", significance_level)
    counts, rates = count_wins(games), WinRateVariance(games, clusters)
    k = len(games.bots)
    low, high = share_bounds(*rates.means, confidence_level)
    pair_low, pair_high = share_bounds(*rates.pairs, confidence_level)
    estimates = rates.means.share
    reason = _why_not_ranked(counts, estimates)
    ranked = np.flatnonzero(~np.isnan(estimates)) if reason is None else np.empty(0, dtype=np.int64)
    better = _significantly_better(rates, ranked, significance_level, adjustment)
    rank_low, rank_high = 1 + better.sum(axis=0), len(ranked) - better.sum(axis=1)
    draws = rates.draws(n_resamples, generator_of(seed)) if len(ranked) else np.empty((n_resamples, k))
    probabilities = rank_probabilities(draws[:, ranked])
    cluster = clusters_of_ranges(rank_low, rank_high)
    place = {int(code): at for at, code in enumerate(ranked)}
    decided = counts.wins.sum(axis=0) + counts.wins.sum(axis=1)
    ties = counts.ties.sum(axis=1)
    with_ties = mean_win_rates(counts.win_rates_with_ties)
    bots = [
        BotRank(
            bot=games.bots[i],
            estimate=defined(estimates[i]),
            low=defined(low[i]),
            high=defined(high[i]),
            uncertainty=rates.means.variance.uncertainty(i),
            n=int(decided[i]),
            tie_rate=float(ties[i] / (ties[i] + decided[i])) if ties[i] + decided[i] else None,
            win_rate_with_ties=defined(with_ties[i]),
            rank_low=int(rank_low[place[i]]) if i in place else None,
            rank_high=int(rank_high[place[i]]) if i in place else None,
            cluster=int(cluster[place[i]]) if i in place else None,
            rank_probabilities=tuple(probabilities[place[i]].tolist()) if i in place else (),
            reason="no game of the bot was decided" if np.isnan(estimates[i]) else reason,
        )
        for i in range(k)
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
        bots=tuple(sorted(bots, key=lambda b: (b.estimate is None, -(b.estimate or 0.0), b.bot))),
        pairs=pairs,
        confidence_level=confidence_level,
        significance_level=significance_level,
        clusters=clusters,
        adjustment=adjustment,
        n=len(games),
        n_comparisons=len(ranked) * (len(ranked) - 1) // 2,
        n_resamples=n_resamples,
        method=f"{METHOD}, {clusters.words}",
        rank_method=f"sets of ranks that hold together: t tests of all differences of mean win rates, {clusters.words},"
        f" one family ({_FAMILY[adjustment]})",
        seed=seed_of(seed),
        reason=reason,
    )


_FAMILY = {
    Adjustment.HOLM: "Holm",
    Adjustment.BONFERRONI: "Bonferroni",
    Adjustment.NONE: "not corrected: the sets do not hold together",
}


def _significantly_better(
    rates: WinRateVariance, ranked: IntArray, significance_level: float, adjustment: Adjustment
) -> BoolArray:
    """Return (r, r): whether the bot of the row is significantly better than that of the column."""
    better = np.zeros((len(ranked), len(ranked)), dtype=np.bool_)
    first, second = np.triu_indices(len(ranked), 1)
    differences = rates.differences(ranked[first], ranked[second])
    _, p_values = share_tests(*differences)
    significant = adjust(p_values, adjustment) < significance_level
    ahead = differences.share > 0.5
    better[first[significant & ahead], second[significant & ahead]] = True
    better[second[significant & ~ahead], first[significant & ~ahead]] = True
    return better


def _why_not_ranked(counts: PairCounts, estimates: FloatArray) -> str | None:
    """Say which two bots never met, in which case their mean win rates are over different opponents."""
    apart = (counts.wins + counts.wins.T + counts.ties == 0) & ~np.eye(len(estimates), dtype=np.bool_)
    known = ~np.isnan(estimates)
    for i, j in np.argwhere(apart & known & known[:, None]):
        return (
            f"{counts.bots[i]} and {counts.bots[j]} never met, so mean win rates are over different opponents and say"
            " nothing of ranks: compare the Bradley-Terry strengths"
        )
    return None

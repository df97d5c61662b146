"""Which bots can be told apart: bootstrap intervals of win rates, ranges of ranks and clusters of ranges."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import (
    Resample,
    cluster_counts,
    defined,
    percentile_interval,
    resampled_counts,
    resampled_totals,
)
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.wins import (
    Games,
    Unit,
    count_wins,
    mean_win_rates,
    pairwise_win_rates,
    winner_cells,
)


@dataclass(frozen=True)
class BotRank:
    """One bot's mean win rate over its opponents with bounds, its range of ranks (1 is best) and its cluster.

    `n` counts its decided games; without any the rest is None, and the bot takes no part in the ranking.
    """

    bot: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    rank_low: int | None
    rank_high: int | None
    cluster: int | None


@dataclass(frozen=True)
class PairInterval:
    """Eq. 1 for one pair with bounds; `n` counts its decided games, and all three numbers are None without any."""

    bot: str
    other: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Ranking:
    """The bots, best first (those without decided games last), and every unordered pair."""

    bots: tuple[BotRank, ...]
    pairs: tuple[PairInterval, ...]
    confidence_level: float
    n: int
    n_clusters: int
    n_resamples: int
    method: str
    resample: Resample
    seed: int


def rank_bots(
    games: Games,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    resample: Resample = Resample.CONVERSATION,
) -> Ranking:
    """Rank bots by mean win rate, with percentile bounds for rates and ranks from the same replicates.

    Bots that tie in a replicate share all the ranks they could take, and a bot that a replicate left without decided
    games could take any, so no order of the input decides. `n` counts the games. Annotators can only be resampled
    where a game is an annotation; otherwise, and for settings out of range, `SettingOutOfRange` is raised.
    """
    counts = count_wins(games)
    k = len(games.bots)
    drawn, n_clusters = _resampled_wins(games, n_resamples, seed, resample)
    pair_rates = pairwise_win_rates(drawn)
    bot_rates = mean_win_rates(pair_rates)
    low, high = percentile_interval(bot_rates, confidence_level)
    pair_low, pair_high = percentile_interval(pair_rates, confidence_level)
    estimates = counts.mean_win_rates
    ranked = np.flatnonzero(~np.isnan(estimates))
    rank_low, rank_high = rank_ranges(bot_rates[:, ranked], confidence_level)
    cluster = clusters_of_ranges(rank_low, rank_high)
    place = {int(code): at for at, code in enumerate(ranked)}
    decided = counts.wins.sum(axis=0) + counts.wins.sum(axis=1)
    bots = [
        BotRank(
            bot=games.bots[i],
            estimate=defined(estimates[i]),
            low=defined(low[i]),
            high=defined(high[i]),
            n=int(decided[i]),
            rank_low=int(rank_low[place[i]]) if i in place else None,
            rank_high=int(rank_high[place[i]]) if i in place else None,
            cluster=int(cluster[place[i]]) if i in place else None,
        )
        for i in range(k)
    ]
    pairs = tuple(
        PairInterval(
            bot=pair.bot,
            other=pair.other,
            estimate=pair.estimate,
            low=defined(pair_low[i, j]),
            high=defined(pair_high[i, j]),
            n=pair.wins + pair.losses,
        )
        for pair, i, j in zip(counts.pairs(), *np.triu_indices(k, 1), strict=True)
    )
    return Ranking(
        bots=tuple(sorted(bots, key=lambda b: (b.estimate is None, -(b.estimate or 0.0), b.bot))),
        pairs=pairs,
        confidence_level=confidence_level,
        n=len(games),
        n_clusters=n_clusters,
        n_resamples=n_resamples,
        method="percentile",
        resample=resample,
        seed=seed,
    )


def rank_ranges(rates: FloatArray, confidence_level: float) -> tuple[IntArray, IntArray]:
    """Percentile bounds of each bot's rank, 1 the highest rate, from replicates (n_resamples, k).

    The lower bound is taken over the best rank a bot could have in a replicate, the upper one over its worst: they
    differ where rates are equal or, as NaN, unknown. Rates are compared to 12 decimals, below which only the order
    of summation shows.
    """
    k = rates.shape[1]
    if k == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    rounded = np.round(rates, 12)
    best, worst = np.empty(rates.shape, dtype=np.int64), np.empty(rates.shape, dtype=np.int64)
    for i in range(k):
        best[:, i] = 1 + np.sum(rounded > rounded[:, i, None], axis=1)
        worst[:, i] = k - np.sum(rounded < rounded[:, i, None], axis=1)
    # 1 - 0.95 leaves a residue that would shift an order statistic by one.
    tail = round((1 - confidence_level) / 2, 12)
    low = np.quantile(best, tail, axis=0, method="inverted_cdf")
    high = np.quantile(worst, 1 - tail, axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def clusters_of_ranges(rank_low: IntArray, rank_high: IntArray) -> IntArray:
    """Group transitively overlapping ranges; groups are numbered from 1, the best ranks first."""
    clusters = np.zeros(len(rank_low), dtype=np.int64)
    number, reach = 0, 0
    for i in np.lexsort((rank_high, rank_low)):
        if rank_low[i] > reach:
            number += 1
        reach = max(reach, int(rank_high[i]))
        clusters[i] = number
    return clusters


def _resampled_wins(games: Games, n_resamples: int, seed: int, resample: Resample) -> tuple[FloatArray, int]:
    k = len(games.bots)
    cell = winner_cells(games)
    if resample is Resample.GAME:
        drawn, n_clusters = resampled_counts(np.bincount(cell, minlength=k * k + 1), n_resamples, seed), len(games)
    else:
        if resample is Resample.ANNOTATOR and games.unit is not Unit.ANNOTATION:
            raise SettingOutOfRange(
                setting="resample", allowed=f"conversation or game for {games.unit}s", value=resample
            )
        cluster = games.annotator if resample is Resample.ANNOTATOR else games.conversation
        by_cluster = cluster_counts(cluster, cell, k * k + 1)
        drawn, n_clusters = resampled_totals(by_cluster, n_resamples, seed), len(by_cluster)
    return drawn[:, : k * k].reshape(n_resamples, k, k), n_clusters

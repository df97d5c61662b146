"""Rank ranges from replicated win rates, by percentiles or by the rule of the released code; and clusters of ranges."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import MAX_RESAMPLES, require_confidence_level, require_resamples
from spotthebot.analytics.stats.wins import Games, PairCounts, count_wins
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.randomness import Seed, generator_of, seed_of
from spotthebot.statistics.whole_numbers import is_whole


def rank_ranges(rates: FloatArray, confidence_level: float) -> tuple[IntArray, IntArray]:
    """Return percentile bounds of each bot's rank from replicates (n_resamples, k); rank 1 is the highest rate.

    The lower bound uses the best rank that a bot can have in a replicate, the upper bound its worst rank. These two
    ranks differ if rates are equal or unknown (NaN). Rates are rounded to 12 decimals, since smaller differences only
    depend on the order of summation. Raises `SettingOutOfRange`.

    >>> rates = np.array([[0.9, 0.5]] * 9 + [[0.4, 0.5]])  # first is second in one replicate of ten
    >>> [bound.tolist() for bound in rank_ranges(rates, 0.90)], [bound.tolist() for bound in rank_ranges(rates, 0.50)]
    ([[1, 1], [2, 2]], [[1, 2], [1, 2]])
    """
    require_confidence_level(confidence_level)
    k = rates.shape[1]
    if k == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    best, worst = _rank_bounds(rates)
    # 1 - 0.95 leaves a residue that would shift an order statistic by one.
    tail = round((1 - confidence_level) / 2, 12)
    low = np.quantile(best, tail, axis=0, method="inverted_cdf")
    high = np.quantile(worst, 1 - tail, axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def clusters_of_ranges(rank_low: IntArray, rank_high: IntArray) -> IntArray:
    """Return the cluster of each bot, from 1 for the best ranks.

    Ranges that overlap, also through others, are one cluster.

    >>> clusters_of_ranges(np.array([1, 2, 4]), np.array([2, 3, 4])).tolist()  # 1 to 2 and 2 to 3 overlap
    [1, 1, 2]
    """
    clusters = np.zeros(len(rank_low), dtype=np.int64)
    number, reach = 0, 0
    for i in np.lexsort((rank_high, rank_low)):
        if rank_low[i] > reach:
            number += 1
        reach = max(reach, int(rank_high[i]))
        clusters[i] = number
    return clusters


def rank_probabilities(rates: FloatArray) -> FloatArray:
    """Return the share of replicates (n_resamples, k) in which a bot (row) has a rank (column 0 is rank 1).

    Bots that tie share their ranks equally. A bot with an unknown rate (NaN) could have any rank in a range; all bots
    in this range share its ranks equally.

    >>> rank_probabilities(np.array([[0.9, 0.1], [0.5, 0.5]])).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    n, k = rates.shape
    best, worst = _rank_bounds(rates)
    ranks = np.arange(1, k + 1)
    probabilities = np.zeros((k, k))
    for i in range(k):
        open_ = (best[:, i, None] <= ranks) & (ranks <= worst[:, i, None])
        probabilities[i] = (open_ / open_.sum(axis=1, keepdims=True)).sum(axis=0) / max(n, 1)
    return probabilities


@dataclass(frozen=True)
class PublishedRanges:
    """Rank ranges and clusters by the rule of the released code, in the order of `bots`.

    If no game was decided, the ranges would show only the order of `bots`. All three fields are empty then, and
    `reason` says so.
    """

    bots: tuple[str, ...]
    rank_low: tuple[int, ...]
    rank_high: tuple[int, ...]
    cluster: tuple[int, ...]
    n_matches: int
    share: float
    n_resamples: int
    method: str
    seed: int | None
    reason: str | None


def published_rank_ranges(
    games: Games, *, n_matches: int | None = 5000, share: float = 0.995, n_resamples: int = 1000, seed: Seed = 0
) -> PublishedRanges:
    """Rank by the rule of the code that was released with Spot The Bot. Use `rank_bots` unless you reproduce the paper.

    A replicate draws `n_matches` single games, however many games there were; None draws as many as there were. It
    ranks bots by their wins divided by their games, including ties. Equal bots keep their order. A range starts at the
    best rank of a bot in any replicate, and ends where it contains more than `share` of the replicates. Drawing more
    games than there are makes ranges too narrow. The cost does not depend on the number of games.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "human", "bot", 0),
    ...         (1, "A", "B", 2, "human", "unsure", 1),
    ...         (2, "A", "B", 2, "bot", "bot", 0),
    ...     ]
    ... )
    >>> ranges = published_rank_ranges(play_games(table), n_resamples=100)  # B never wins
    >>> ranges.rank_low, ranges.rank_high
    ((1, 2), (1, 2))
    """
    require_resamples(n_resamples)
    if n_matches is not None and not is_whole(n_matches, 1, MAX_RESAMPLES):
        allowed = f"a whole number from 1 to {MAX_RESAMPLES:,}"
        raise SettingOutOfRange(setting="n_matches", allowed=allowed, value=n_matches)
    if not 0 < share < 1:
        raise SettingOutOfRange(setting="share", allowed="between 0 and 1, both excluded", value=share)
    counts = count_wins(games)
    drawn = n_matches or max(1, counts.n)
    low, high, reason = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), "no game was decided"
    if counts.wins.any():
        low, high = published_ranges(published_rank_counts(counts, drawn, n_resamples, seed), share)
        reason = ""
    return PublishedRanges(
        bots=games.bots,
        rank_low=tuple(low.tolist()),
        rank_high=tuple(high.tolist()),
        cluster=tuple(clusters_of_ranges(low, high).tolist()),
        n_matches=drawn,
        share=share,
        n_resamples=n_resamples,
        method="released code: single games, ties in the denominator",
        seed=seed_of(seed),
        reason=reason or None,
    )


def published_rank_counts(counts: PairCounts, n_matches: int, n_resamples: int, seed: Seed) -> IntArray:
    """Count the replicates in which each bot (row) has each rank (column 0 is rank 1).

    A replicate draws single games.
    """
    k = len(counts.bots)
    first, second = np.triu_indices(k, 1)
    cells = np.concatenate([counts.wins[first, second], counts.wins[second, first], counts.ties[first, second]])
    draws = generator_of(seed).multinomial(n_matches, cells / cells.sum(), size=n_resamples)
    won, lost, tied = np.split(draws, 3, axis=1)
    to_first, to_second = (np.eye(k, dtype=np.int64)[each] for each in (first, second))
    wins = won @ to_first + lost @ to_second
    played = (won + lost + tied) @ (to_first + to_second)
    rates = np.divide(wins, played, out=np.zeros(wins.shape), where=played > 0)
    return rank_counts(rates)


def rank_counts(rates: FloatArray) -> IntArray:
    """Count how often each bot (row) has each rank (column). Equal bots keep their order, as in a stable sort."""
    k = rates.shape[1]
    order = np.argsort(-rates, axis=1, kind="stable")
    cell = order * k + np.arange(k)
    return np.bincount(cell.ravel(), minlength=k * k).reshape(k, k)


def published_ranges(histogram: IntArray, share: float) -> tuple[IntArray, IntArray]:
    """Return the best and the worst rank of each bot from counts (..., k, ranks).

    The best one is the best rank that occurs. The worst one is the rank at which the ranks so far have `share` of the
    counts.
    """
    low = np.argmax(histogram > 0, axis=-1)
    held = np.cumsum(histogram, axis=-1) > share * histogram.sum(axis=-1, keepdims=True)
    high = np.argmax(held, axis=-1)
    return low + 1, high + 1


def _rank_bounds(rates: FloatArray) -> tuple[IntArray, IntArray]:
    k = rates.shape[1]
    rounded = np.round(rates, 12)
    best, worst = np.empty(rates.shape, dtype=np.int64), np.empty(rates.shape, dtype=np.int64)
    for i in range(k):
        best[:, i] = 1 + np.sum(rounded > rounded[:, i, None], axis=1)
        worst[:, i] = k - np.sum(rounded < rounded[:, i, None], axis=1)
    return best, worst

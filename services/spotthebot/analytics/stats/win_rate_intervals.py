"""Wilson intervals of win rates whose games cluster: each pair's, and each bot's mean over its opponents."""

from typing import NamedTuple

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.share_intervals import (
    effective_wilson_interval,
    replicate_variance,
    two_way_variance,
)
from spotthebot.analytics.stats.wins import PairCounts, mean_win_rates


class WinRateBounds(NamedTuple):
    """Bounds of each bot's mean win rate (k,) and of each ordered pair's (k, k); NaN without decided games."""

    low: FloatArray
    high: FloatArray
    pair_low: FloatArray
    pair_high: FloatArray


def wilson_bounds(
    counts: PairCounts,
    by_conversation: FloatArray,
    by_annotator: FloatArray | None,
    *,
    confidence_level: float,
    degrees: int,
) -> WinRateBounds:
    """Bound win rates by Wilson's interval for as many games as the clustered variance is worth.

    `by_conversation` and `by_annotator` are pairs' rates (n_resamples, k, k) from a bootstrap of those clusters. With
    both, the variance is the sum V_conversation + V_annotator - V_game (Cameron, Gelbach & Miller 2011, Eq. 2.11),
    and never below a part of it; with conversations alone it is theirs, and never below that of single games. V_game
    is the binomial variance of Eq. 1. A mean over m opponents varies as much as one share of m² / sum(1 / n) games.
    `degrees` are those of Student's quantile.

    >>> counts = PairCounts(bots=("A", "B"), wins=np.array([[0, 15], [35, 0]]), ties=np.zeros((2, 2), dtype=np.int64))
    >>> bounds = wilson_bounds(counts, np.full((2, 2, 2), 0.3), None, confidence_level=0.95, degrees=10**9)
    >>> bounds.pair_low[0, 1].round(4), bounds.pair_high[0, 1].round(4)  # Wilson's of 15 out of 50
    (np.float64(0.191), np.float64(0.4375))
    """
    rates, decided = counts.win_rates, (counts.wins + counts.wins.T).astype(np.float64)
    of_one = np.divide(1.0, decided, out=np.zeros_like(decided), where=decided > 0)
    opponents = (decided > 0).sum(axis=1).astype(np.float64)
    squared = np.maximum(opponents, 1) ** 2
    of_games = np.where(decided > 0, rates * (1 - rates), 0.0) * of_one
    n_mean = np.divide(squared, of_one.sum(axis=1), out=np.zeros_like(opponents), where=opponents > 0)

    def interval(
        share: FloatArray, conversation: FloatArray, annotator: FloatArray | None, game: FloatArray, n: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        known = n > 0
        if annotator is None:
            variance = np.maximum(replicate_variance(conversation[:, known]), game[known])
        else:
            variance = two_way_variance(conversation[:, known], annotator[:, known], game[known])
        low, high = np.full(share.shape, np.nan), np.full(share.shape, np.nan)
        low[known], high[known] = effective_wilson_interval(
            share[known], variance, n[known], confidence_level=confidence_level, degrees=degrees
        )
        return low, high

    mean_by_annotator = None if by_annotator is None else mean_win_rates(by_annotator)
    low, high = interval(
        counts.mean_win_rates,
        mean_win_rates(by_conversation),
        mean_by_annotator,
        of_games.sum(axis=1) / squared,
        n_mean,
    )
    return WinRateBounds(low, high, *interval(rates, by_conversation, by_annotator, of_games, decided))

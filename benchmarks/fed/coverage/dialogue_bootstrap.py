"""The form before: a bootstrap over each bot's dialogues, each bot by itself, with ranks by percentiles.

A dialogue of two bots counted for each separately, and openings did not count.
"""

import math

import numpy as np
import scipy

from spotthebot.statistics.arrays import FloatArray, IntArray
from spotthebot.statistics.studentised import studentised_quantiles


def bounds_and_ranks(
    bot: IntArray, score: FloatArray, dialogue: IntArray, n_bots: int, n_resamples: int, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the lower and upper bounds of the means of k bots, and their best and worst ranks, (k,) each."""
    chance = np.random.default_rng(seed)
    low, high, means = np.empty(n_bots), np.empty(n_bots), np.empty((n_bots, n_resamples))
    n_dialogues = np.empty(n_bots)
    for at in range(n_bots):
        _, code = np.unique(dialogue[bot == at], return_inverse=True)
        counts = np.bincount(code).astype(np.float64)
        totals = np.bincount(code, weights=score[bot == at]).astype(np.float64)
        n, mean = len(counts), totals.sum() / counts.sum()
        error = math.sqrt(n / (n - 1) * np.sum((totals - mean * counts) ** 2)) / counts.sum()
        student = scipy.stats.t.ppf(0.975, n - 1)
        lower, upper = studentised_quantiles(totals, counts, 0.975, n_resamples=n_resamples, chance=chance)
        low[at], high[at] = mean - max(student, upper) * error, mean + max(student, -lower) * error
        drawn = chance.multinomial(n, np.full(n, 1 / n), size=n_resamples)
        means[at], n_dialogues[at] = (drawn @ totals) / (drawn @ counts), n
    ranks = 1 + np.array([np.sum(means > own, axis=0) for own in means])
    tails = [_tail(int(each)) for each in n_dialogues]
    best, worst = (
        np.array([np.quantile(own, at, method="inverted_cdf") for own, at in zip(ranks, side, strict=True)])
        for side in (tails, [1 - each for each in tails])
    )
    return low, high, best, worst


def _tail(n_dialogues: int) -> float:
    """Return the share of resamples to cut off on each side (Hesterberg 2015): smaller with few dialogues."""
    reach = float(scipy.stats.t.ppf(0.975, n_dialogues - 1))
    return float(scipy.stats.norm.cdf(-reach * math.sqrt(n_dialogues / (n_dialogues - 1))))

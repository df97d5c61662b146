"""Intervals of shares of clustered observations: Wilson's, with as many observations as the variance is worth."""

import numpy as np
from scipy import stats

from spotthebot.analytics.stats.annotations import FloatArray


def replicate_variance(replicates: FloatArray) -> FloatArray:
    """Sample variance along the first axis, NaN replicates left out; 0 where fewer than two are defined."""
    known = ~np.isnan(replicates)
    n = known.sum(axis=0)
    mean = np.where(known, replicates, 0.0).sum(axis=0) / np.maximum(n, 1)
    squares = np.where(known, (replicates - mean) ** 2, 0.0).sum(axis=0)
    variance: FloatArray = squares / np.maximum(n - 1, 1)
    return variance


def two_way_variance(conversation: FloatArray, annotator: FloatArray, game: FloatArray) -> FloatArray:
    """Variance under two kinds of clusters: V_conversation + V_annotator - V_game (Cameron, Gelbach & Miller 2011).

    The first two are replicates along the first axis, of which NaN ones are left out; `game` is the variance of
    independent games. The sum (their Eq. 2.11) can fall short of a part of it, and is never taken below the largest.

    >>> two_way_variance(np.array([[0.0], [2.0]]), np.array([[0.0], [4.0]]), np.array([1.5])).tolist()  # 2 + 8 - 1.5
    [8.5]
    """
    by_conversation, by_annotator = replicate_variance(conversation), replicate_variance(annotator)
    largest: FloatArray = np.maximum.reduce(
        [by_conversation, by_annotator, game, by_conversation + by_annotator - game]
    )
    return largest


def effective_wilson_interval(
    share: FloatArray, variance: FloatArray, n: FloatArray, *, confidence_level: float, degrees: int
) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval for shares whose estimate has this variance, as for clustered samples.

    The effective sample size is share * (1 - share) / variance, at most `n`, the number of observations (Korn &
    Graubard 1998; Dean & Pagano 2015, "modified Wilson"); where all observations agree the variance says nothing and
    `n` stands. The quantile is Student's with `degrees`, the number of clusters less one. All arrays have one shape;
    NaN where `share` is.

    >>> low, high = effective_wilson_interval(
    ...     np.array([0.3]), np.array([0.3 * 0.7 / 50]), np.array([50.0]), confidence_level=0.95, degrees=10**9
    ... )
    >>> low.round(4).tolist(), high.round(4).tolist()  # Wilson's of 15 out of 50
    ([0.191], [0.4375])
    """
    spread = share * (1 - share)
    effective = np.divide(spread, variance, out=np.array(n, dtype=np.float64), where=(variance > 0) & (spread > 0))
    effective = np.minimum(effective, n)
    quantile = float(stats.t.ppf((1 + confidence_level) / 2, max(1, degrees)))
    weight = quantile**2 / effective
    centre = (share + weight / 2) / (1 + weight)
    reach = quantile * np.sqrt(spread / effective + weight / 4 / effective) / (1 + weight)
    return np.maximum(0.0, centre - reach), np.minimum(1.0, centre + reach)

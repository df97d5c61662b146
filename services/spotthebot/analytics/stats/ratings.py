"""Ranks bots by their mean rating. The uncertainty covers other items and other annotators."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level, require_level
from spotthebot.analytics.stats.pooled_differences import ROUNDING, words_of_differences
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges
from spotthebot.analytics.stats.rating_estimates import RatingEstimates, Ratings, in_units
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, Uncertainty

_ALIKE: Final = "its ratings are all alike, so nothing tells how others would differ"
_STUDENT: Final = "Student's t"
_AT_AN_END: Final = 1e-12
"""Means this close to an end of the scale, relative to its length, are the end, up to rounding."""


@dataclass(frozen=True)
class RatedBot:
    """One bot's mean rating with bounds, its set of ranks (1 is the highest mean) and its cluster.

    `n` counts its ratings. If there is no variance, there are no bounds, and `reason` says why.
    """

    bot: str
    estimate: float
    low: float | None
    high: float | None
    uncertainty: Uncertainty
    n: int
    rank_low: int
    rank_high: int
    cluster: int
    reason: str | None


@dataclass(frozen=True)
class RatingRanking:
    """The bots, highest mean first; `n` counts the ratings."""

    bots: tuple[RatedBot, ...]
    confidence_level: float
    significance_level: float
    clusters: Clusters
    adjustment: Adjustment
    scale: tuple[float, float] | None
    n: int
    method: str
    rank_method: str


def rank_ratings(
    ratings: Ratings,
    *,
    confidence_level: float = 0.95,
    significance_level: float = 0.05,
    clusters: Clusters = Clusters.BOTH,
    adjustment: Adjustment = Adjustment.HOLM,
) -> RatingRanking:
    """Rank bots by mean rating. Each rating has the same weight.

    Ratings of one item vary together, and so do ratings by one annotator: bounds use the variance and the degrees of
    freedom of `clustered_variance`. On a scale with known ends, bounds are Wilson's and stay on the scale: (mean -
    lowest) / (highest - lowest) is treated as a share. Its effective number of observations is the number with which a
    share would have this variance (`share_intervals`). Without known ends, bounds are Student's. A bot ranks behind all
    bots with a significantly higher mean, and before all bots with a significantly lower mean. The differences of all
    bots are one family, with the variances of `pooled_differences`. If all ratings of two bots are equal, their
    difference has no variance and is never significant. Raises `SettingOutOfRange`.

    >>> values = np.array([1.0, 2.0, 4.0, 5.0])
    >>> ratings = Ratings(("A", "B"), np.array([0, 0, 1, 1]), np.arange(4), np.array([0, 1, 0, 1]), values)
    >>> [(bot.bot, bot.estimate, bot.rank_low, bot.rank_high) for bot in rank_ratings(ratings).bots]
    [('B', 4.5, 1, 2), ('A', 1.5, 1, 2)]
    """
    clusters = choice_of("clusters", clusters, Clusters)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    require_confidence_level(confidence_level)
    require_level("significance_level", significance_level)
    found = RatingEstimates.of(ratings, clusters)
    k, unit, means, variance = len(ratings.bots), found.unit, found.means, found.variance
    low, high = mean_bounds(means, variance, unit, ratings.scale, confidence_level)
    better = found.significantly_better(significance_level, adjustment)
    rank_low, rank_high = 1 + better.sum(axis=0), k - better.sum(axis=1)
    cluster = clusters_of_ranges(rank_low, rank_high)
    bots = []
    for at in range(k):
        uncertainty = in_units(variance.uncertainty(at), unit)
        bots.append(
            RatedBot(
                bot=ratings.bots[at],
                estimate=float(means[at] * unit),
                low=defined(low[at]),
                high=defined(high[at]),
                uncertainty=uncertainty,
                n=int(found.n[at]),
                rank_low=int(rank_low[at]),
                rank_high=int(rank_high[at]),
                cluster=int(cluster[at]),
                reason=(uncertainty.reason or _ALIKE) if np.isnan(low[at]) else None,
            )
        )
    return RatingRanking(
        bots=tuple(sorted(bots, key=lambda bot: (-bot.estimate, bot.bot))),
        confidence_level=confidence_level,
        significance_level=significance_level,
        clusters=clusters,
        adjustment=adjustment,
        scale=ratings.scale,
        n=len(ratings.value),
        method=f"mean of all ratings, {METHOD if ratings.scale else _STUDENT}, {clusters.words}",
        rank_method=f"t tests of all differences of means, {words_of_differences(clusters, k)},"
        f" one family ({adjustment})",
    )


def mean_bounds(
    means: FloatArray,
    variance: ClusteredVariance,
    unit: float,
    scale: tuple[float, float] | None,
    confidence_level: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of means (k,). The means are in units, the bounds are on the scale of the ratings.

    They are NaN without a variance, or if all ratings are equal and not at an end of the scale.
    """
    known = variance.variance > ROUNDING
    if scale is None:
        reach = variance.quantiles(confidence_level) * np.sqrt(np.where(known, variance.variance, np.nan))
        return (means - reach) * unit, (means + reach) * unit
    lowest, highest = scale
    span = highest - lowest
    share = (means * unit - lowest) / span
    of_share = replace(variance, variance=variance.variance * (unit / span) ** 2)
    bounds = share_bounds(share, np.full(len(means), np.inf), of_share, confidence_level)
    known |= np.minimum(share, 1 - share) < _AT_AN_END
    low, high = (np.where(known, lowest + span * bound, np.nan) for bound in bounds)
    return low, high

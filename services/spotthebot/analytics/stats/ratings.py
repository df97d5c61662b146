"""Bots by their mean rating, with the uncertainty of other items and other annotators, and with ranks."""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import defined, require_confidence_level, require_level
from spotthebot.analytics.stats.clustered_variance import Observations, clustered_parts, shares_of
from spotthebot.analytics.stats.distributions import student_tails
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.pooled_differences import ROUNDING, variance_of_differences, words_of_differences
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.analytics.stats.significance import Adjustment, adjust
from spotthebot.analytics.stats.uncertainty import ClusteredVariance, Clusters, Uncertainty
from spotthebot.statistics.columns import read_codes, read_numbers, unit_of

_ALIKE: Final = "its ratings are all alike, so nothing tells how others would differ"
_STUDENT: Final = "Student's t"
_AT_AN_END: Final = 1e-12
"""Means that are so near an end of the scale, in parts of it, are the end but for rounding."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings on one scale, columns (n,): codes of bots in `bots`, of what was rated, of annotators, and values.

    Items and annotators may be named. `scale` has the lowest and the highest rating that annotators could give; the
    lowest and highest that they gave are no such bounds. Raises `SettingOutOfRange` and `ColumnMalformed`.
    """

    bots: tuple[str, ...]
    bot: IntArray
    item: IntArray
    annotator: IntArray
    value: FloatArray
    scale: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        values = read_numbers(self.value, "value", finite=True)
        object.__setattr__(self, "value", values)
        for name in ("item", "annotator"):
            object.__setattr__(self, name, read_codes(getattr(self, name), name).code)
        codes = read_numbers(self.bot, "bot", finite=True)
        if len({values.shape, codes.shape, self.item.shape, self.annotator.shape}) > 1 or values.ndim != 1:
            raise SettingOutOfRange(
                setting="bot, item, annotator and value",
                allowed="columns of one length",
                value=f"{codes.shape}, {self.item.shape}, {self.annotator.shape}, {values.shape}",
            )
        if np.any((codes < 0) | (codes >= len(self.bots)) | (codes % 1 != 0)):
            allowed = f"codes of the {len(self.bots)} bots, from 0"
            raise SettingOutOfRange(setting="bot", allowed=allowed, value="others")
        object.__setattr__(self, "bot", codes.astype(np.int64))
        if self.scale is not None:
            _require_scale(self.scale, values)


@dataclass(frozen=True)
class RatedBot:
    """One bot's mean rating with bounds, its set of ranks (1 is the highest mean) and its cluster.

    `n` counts its ratings. Without a variance there are no bounds, and `reason` says why.
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
    """Rank bots by mean rating, each rating with the same weight.

    Ratings of one item vary together, and so do those of one annotator: bounds have the variance and the degrees of
    freedom of `clustered_variance`. On a scale with known ends they are Wilson's and stay on it: (mean - lowest) /
    (highest - lowest) is a share, and as many observations are effective as would give a share its variance
    (`share_intervals`). Without known ends they are Student's. A bot stands behind all whose mean is significantly
    higher and before all whose mean is significantly lower; the differences of all bots are one family, with the
    variances of `pooled_differences`. A difference between bots whose ratings are all alike has no variance and is
    never significant. Raises `SettingOutOfRange`.

    >>> values = np.array([1.0, 2.0, 4.0, 5.0])
    >>> ratings = Ratings(("A", "B"), np.array([0, 0, 1, 1]), np.arange(4), np.array([0, 1, 0, 1]), values)
    >>> [(bot.bot, bot.estimate, bot.rank_low, bot.rank_high) for bot in rank_ratings(ratings).bots]
    [('B', 4.5, 1, 2), ('A', 1.5, 1, 2)]
    """
    require_confidence_level(confidence_level)
    require_level("significance_level", significance_level)
    k = len(ratings.bots)
    # A power of two: results do not depend on the unit of the scale, and no digit is lost.
    unit = unit_of(ratings.value)
    means, n, influence = shares_of(ratings.bot, ratings.value / unit, k)
    observations = Observations(ratings.item, ratings.annotator)
    parts = clustered_parts(observations, influence, clusters)
    variance = parts.variances()
    low, high = _bounds(means, variance, unit, ratings.scale, confidence_level)
    first, second = np.triu_indices(k, 1)
    differences = variance_of_differences(observations, influence, parts, first, second)
    better = _significantly_better(means, differences, significance_level, adjustment)
    rank_low, rank_high = 1 + better.sum(axis=0), k - better.sum(axis=1)
    cluster = clusters_of_ranges(rank_low, rank_high)
    bots = []
    for at in range(k):
        uncertainty = _times(variance.uncertainty(at), unit)
        bots.append(
            RatedBot(
                bot=ratings.bots[at],
                estimate=float(means[at] * unit),
                low=defined(low[at]),
                high=defined(high[at]),
                uncertainty=uncertainty,
                n=int(n[at]),
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


def _times(uncertainty: Uncertainty, unit: float) -> Uncertainty:
    error = uncertainty.standard_error
    return uncertainty if error is None else replace(uncertainty, standard_error=error * unit)


def _bounds(
    means: FloatArray,
    variance: ClusteredVariance,
    unit: float,
    scale: tuple[float, float] | None,
    confidence_level: float,
) -> tuple[FloatArray, FloatArray]:
    """Bound means (k,), given in units; NaN without a variance, or where ratings are alike between the scale's ends."""
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


def _significantly_better(
    means: FloatArray, differences: ClusteredVariance, significance_level: float, adjustment: Adjustment
) -> BoolArray:
    """Return (k, k): whether the mean of the row's bot is significantly higher than that of the column's."""
    better = np.zeros((len(means), len(means)), dtype=np.bool_)
    first, second = np.triu_indices(len(means), 1)
    difference, known = means[first] - means[second], differences.variance > ROUNDING
    statistic = np.divide(difference, np.sqrt(differences.variance), out=np.full(len(first), np.nan), where=known)
    p_values = adjust(2 * student_tails(np.abs(statistic), differences.degrees), adjustment)
    significant = p_values < significance_level
    better[first[significant & (difference > 0)], second[significant & (difference > 0)]] = True
    better[second[significant & (difference < 0)], first[significant & (difference < 0)]] = True
    return better


def _require_scale(scale: tuple[float, float], values: FloatArray) -> None:
    low, high = scale
    if not (low < high and math.isfinite(high - low)):
        allowed = "the lowest rating and a higher one, both finite"
        raise SettingOutOfRange(setting="scale", allowed=allowed, value=scale)
    if np.any((values < low) | (values > high)):
        raise SettingOutOfRange(setting="value", allowed=f"ratings from {low:g} to {high:g}", value="others")

"""Ratings on one scale: the bots' means and their differences, with the variances of means and differences."""

import math
from dataclasses import dataclass, replace

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray, short_repr
from spotthebot.analytics.stats.pooled_differences import ROUNDING, variance_of_differences
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.clustered_variance import (
    ClusteredParts,
    Influence,
    Observations,
    clustered_parts,
    shares_of,
)
from spotthebot.statistics.columns import read_codes, read_numbers, unit_of
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, Uncertainty


@dataclass(frozen=True, eq=False)
class Ratings:
    """The n ratings on one scale, as columns (n,): the rated bot, the rated item, the annotator, and the value.

    `bot` has indices into `bots`. Items and annotators may be named. `scale` has the lowest and the highest rating that
    annotators could give, whether or not somebody gave them. Raises `SettingOutOfRange` and `ColumnMalformed`.
    """

    bots: tuple[str, ...]
    bot: IntArray
    item: IntArray
    annotator: IntArray
    value: FloatArray
    scale: tuple[float, float] | None = None

    def __repr__(self) -> str:
        return short_repr(self)

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


@dataclass(frozen=True, eq=False)
class RatingEstimates:
    """The mean of each of k bots, its number of ratings, and the differences of all d pairs, with their variances.

    All values are in units. The unit is a power of two, so no digit is lost, and results do not depend on the unit of
    the scale.
    """

    unit: float
    means: FloatArray
    n: IntArray
    variance: ClusteredVariance
    first: IntArray
    second: IntArray
    differences: ClusteredVariance

    @classmethod
    def of(cls, ratings: Ratings, clusters: Clusters) -> "RatingEstimates":
        k, unit = len(ratings.bots), unit_of(ratings.value)
        means, n, influence = shares_of(ratings.bot, ratings.value / unit, k)
        parts = clustered_parts(Observations(ratings.item, ratings.annotator), influence, clusters)
        first, second = np.triu_indices(k, 1)
        differences = differences_of_means(ratings, influence, parts, first, second)
        return cls(unit, means, n, parts.variances(), first, second, differences)

    @property
    def leads(self) -> FloatArray:
        """Return the mean of `first` minus the mean of `second`, in units (d,)."""
        return self.means[self.first] - self.means[self.second]

    @property
    def errors(self) -> FloatArray:
        """Return the standard errors of the leads (d,); NaN if nothing varied."""
        known = self.differences.variance > ROUNDING
        return np.sqrt(np.where(known, self.differences.variance, np.nan))

    def p_values(self) -> FloatArray:
        """Return two-sided p-values (d,) of Student's t; NaN if a difference has no variance."""
        tails: FloatArray = student_tails(np.abs(self.leads) / self.errors, self.differences.degrees)
        return 2 * tails

    def significantly_better(self, significance_level: float, adjustment: Adjustment) -> BoolArray:
        """Return a matrix (k, k): whether the row's bot has a significantly higher mean than the column's bot."""
        better = np.zeros((len(self.means), len(self.means)), dtype=np.bool_)
        significant = adjust(self.p_values(), adjustment) < significance_level
        for one, other, ahead in ((self.first, self.second, 1), (self.second, self.first, -1)):
            chosen = significant & (ahead * self.leads > 0)
            better[one[chosen], other[chosen]] = True
        return better


def differences_of_means(
    ratings: Ratings, influence: Influence, parts: ClusteredParts, first: IntArray, second: IntArray
) -> ClusteredVariance:
    """Return the variances of differences (d,): the mean of bot `first` (d,) minus the mean of bot `second` (d,).

    `influence` has the influence of each rating on its bot's mean, and `parts` the parts of the means' variance. Design
    effects are pooled (`pooled_differences`). There, all ratings that one annotator gave to one bot in one item count
    as one observation. The influence of this observation is the sum of theirs. An example are ratings of a bot's turns.
    """
    own = parts.differences(first, second)
    observations, joined = _annotations(ratings, influence)
    if len(joined.value) == len(influence.value):
        return variance_of_differences(observations, joined, parts, own, first, second)
    of_annotations = clustered_parts(observations, joined, parts.clusters)
    found = variance_of_differences(observations, joined, of_annotations, own, first, second)
    return replace(found, variance=np.fmax(found.variance, own.variance))


def _annotations(ratings: Ratings, influence: Influence) -> tuple[Observations, Influence]:
    """Return one observation for each bot, item and annotator that have ratings, in this order."""
    items, annotators = (int(code.max(initial=0)) + 1 for code in (ratings.item, ratings.annotator))
    keys = (ratings.bot * items + ratings.item) * annotators + ratings.annotator
    _, at, of = np.unique(keys, return_index=True, return_inverse=True)
    if len(at) == len(ratings.bot):
        return Observations(ratings.item, ratings.annotator), influence
    joined = Influence(
        n_statistics=influence.n_statistics,
        statistic=ratings.bot[at],
        observation=np.arange(len(at)),
        ratio=ratings.bot[at],
        value=np.asarray(np.bincount(of, weights=influence.value, minlength=len(at)), dtype=np.float64),
        weight=np.bincount(of, minlength=len(at)).astype(np.float64),
    )
    return Observations(ratings.item[at], ratings.annotator[at]), joined


def in_units(uncertainty: Uncertainty, unit: float) -> Uncertainty:
    """Return an uncertainty that was computed in units, converted to the scale of the ratings."""
    error = uncertainty.standard_error
    return uncertainty if error is None else replace(uncertainty, standard_error=error * unit)


def _require_scale(scale: tuple[float, float], values: FloatArray) -> None:
    low, high = scale
    if not (low < high and math.isfinite(high - low)):
        allowed = "the lowest rating and a higher one, both finite"
        raise SettingOutOfRange(setting="scale", allowed=allowed, value=scale)
    if np.any((values < low) | (values > high)):
        raise SettingOutOfRange(setting="value", allowed=f"ratings from {low:g} to {high:g}", value="others")

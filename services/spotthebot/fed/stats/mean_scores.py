"""Mean scores of bots, and the tests of their differences, with the variances of shared clusters."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.statistics.adjustment import adjust
from spotthebot.statistics.arrays import BoolArray, FloatArray, IntArray
from spotthebot.statistics.cluster_shares import clusters_of_differences
from spotthebot.statistics.clustered_variance import Observations, clustered_parts, shares_of
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.uncertainty import Clusters

_ROUNDING: Final = 1e-9
"""A standard error below this share of the largest score counts as 0."""


@dataclass(frozen=True, eq=False)
class MeanScores:
    """The mean scores of k bots, `means` (k,), with their `covariance` (k, k), degrees of freedom and clusters.

    `bot`, `value` and `cluster` are columns of codes and scores, (n,) each. There is no lower limit for a variance: it
    stays as it is if some dialogues are there twice.
    """

    bot: IntArray
    value: FloatArray
    cluster: IntArray
    means: FloatArray
    covariance: FloatArray
    degrees: FloatArray
    n_clusters: IntArray

    @classmethod
    def of(cls, bot: IntArray, value: FloatArray, cluster: IntArray, n_bots: int) -> "MeanScores":
        means, _, influence = shares_of(bot, value, n_bots)
        parts = clustered_parts(Observations(cluster, cluster), influence, Clusters.CONVERSATION)
        (part,) = parts.clustered
        return cls(bot, value, cluster, means, part.covariance(), part.degrees, parts.n_conversations)

    @property
    def errors(self) -> FloatArray:
        """Return the standard errors of the means (k,); NaN with fewer than two clusters."""
        found: FloatArray = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return found

    @property
    def varies(self) -> BoolArray:
        """Return whether the clusters of each bot (k,) have different means."""
        largest = np.zeros(len(self.means))
        np.maximum.at(largest, self.bot, np.abs(self.value))
        found: BoolArray = np.nan_to_num(self.errors) > _ROUNDING * largest
        return found

    def sums(self, at: int) -> tuple[FloatArray, FloatArray]:
        """Return the sum and the number of a bot's scores in each of its clusters."""
        own = self.bot == at
        _, code = np.unique(self.cluster[own], return_inverse=True)
        totals = np.bincount(code.ravel(), weights=self.value[own]).astype(np.float64)
        return totals, np.bincount(code.ravel()).astype(np.float64)

    def differences(self, first: IntArray, second: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the differences (d,) of mean scores, `first` (d,) minus `second` (d,).

        Their standard errors and degrees of freedom follow. An error is NaN without a variance. There are as many
        degrees of freedom as effective clusters, less one for each of the two means, but no fewer than each mean has
        itself: two bots have the same clusters, or have twice as many.
        """
        variance, covariance = np.diag(self.covariance), self.covariance[first, second]
        variance = variance[first] + variance[second] - 2 * covariance
        clusters = clusters_of_differences(self.bot, self.cluster, np.ones(len(self.bot)), first, second)
        known = (self.varies[first] | self.varies[second]) & (variance > 0)
        errors: FloatArray = np.sqrt(np.where(known, variance, np.nan))
        degrees = np.maximum(np.minimum(self.degrees[first], self.degrees[second]), clusters - 2)
        return self.means[first] - self.means[second], errors, degrees

    def better(self, significance_level: float, *, least: int) -> BoolArray:
        """Return a matrix (k, k): whether the row's bot has a significantly higher mean than the column's bot.

        Holm's method adjusts the p-values of all pairs. Bots with fewer than `least` clusters take part in no test.
        """
        k = len(self.means)
        first, second = np.triu_indices(k, 1)
        better = np.zeros((k, k), dtype=np.bool_)
        leads, errors, degrees = self.differences(first, second)
        enough = self.n_clusters >= least
        p_values = np.where(enough[first] & enough[second], 2 * student_tails(np.abs(leads) / errors, degrees), np.nan)
        significant = adjust(p_values) < significance_level
        for one, other, ahead in ((first, second, 1), (second, first, -1)):
            chosen = significant & (ahead * leads > 0)
            better[one[chosen], other[chosen]] = True
        return better

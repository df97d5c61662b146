"""Variances of statistics whose observations have no simple influence, such as rank correlations: the jackknife.

A statistic is computed without each cluster in turn. For a mean, this is the variance that `clustered_variance`
computes from influences. The parts are combined in the same way, with the same degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np

from spotthebot.statistics.arrays import FloatArray, IntArray
from spotthebot.statistics.cluster_shares import effective_clusters
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, combine


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The `values` (m, clusters) of m statistics without each cluster of one kind.

    `weight` (clusters,) has the number of observations of each cluster. A value is NaN if its statistic is undefined
    without the cluster.
    """

    values: FloatArray
    weight: IntArray

    @property
    def n_clusters(self) -> int:
        return len(self.weight)

    @property
    def variances(self) -> FloatArray:
        """Return the variance (m,) of each statistic; NaN with fewer than two clusters, or if a value is NaN."""
        m, n = self.values.shape
        if n < 2:
            return np.full(m, np.nan)
        apart = self.values - self.values.mean(axis=1, keepdims=True)
        found: FloatArray = (n - 1) / n * np.sum(apart**2, axis=1)
        return found

    @property
    def degrees(self) -> FloatArray:
        """Return the degrees of freedom (m,) of each variance."""
        n = effective_clusters(self.weight.astype(np.float64), np.zeros(self.n_clusters, dtype=np.int64), 1)
        return np.full(len(self.values), max(float(n[0]) - 1, 0.5))


def left_out_variance(
    conversations: LeftOut, annotators: LeftOut | None = None, both: LeftOut | None = None
) -> ClusteredVariance:
    """Return the variance of each of m statistics. `both` leaves out what one annotator did in one conversation.

    A variance is at least as large as that of each kind of clusters alone.

    >>> means = np.array([[4.75, 4.5, 4.25, 3.5, 3.0]])  # of 1, 2, 3, 6 and 8, without each of them
    >>> found = left_out_variance(LeftOut(means, np.ones(5, dtype=int)))
    >>> found.variance.round(9).tolist(), found.degrees.tolist()  # the variance of the values, 8.5, by 5
    ([1.7], [4.0])
    """
    kinds = [conversations] if annotators is None else [conversations, annotators]
    parts, m = [each.variances for each in kinds], len(conversations.values)
    variance, degrees = combine(
        parts,
        [each.degrees for each in kinds],
        None if both is None else both.variances,
        least=np.max(parts, axis=0),
    )
    return ClusteredVariance(
        variance=variance,
        degrees=degrees,
        n_conversations=np.full(m, conversations.n_clusters),
        n_annotators=np.full(m, annotators.n_clusters if annotators else 0),
        clusters=Clusters.BOTH if annotators else Clusters.CONVERSATION,
    )

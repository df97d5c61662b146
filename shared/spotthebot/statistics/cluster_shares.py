"""The share of each cluster in an estimate and in its variance, and the effective number of clusters."""

from typing import Final

import numpy as np
import scipy

from spotthebot.statistics.annotator_sets import set_members
from spotthebot.statistics.arrays import FloatArray, IntArray
from spotthebot.statistics.cells import occurring_cells

WHOLE: Final = 1 - 1e-9


def cluster_weights(
    statistic: IntArray, cluster: IntArray, weight: FloatArray, members: "scipy.sparse.csr_array | None"
) -> tuple[FloatArray, IntArray]:
    """Return the sum of the weights for each statistic and cluster, and the statistic of each sum.

    With `members`, each annotator of a set is a cluster of its own.
    """
    if members is not None:
        entry, cluster = set_members(cluster, members)
        statistic, weight = statistic[entry], weight[entry]
    cells = occurring_cells(statistic, cluster, weight)
    return cells.weight, cells.outer


def enlargements(
    ratio: IntArray, cluster: IntArray, weight: FloatArray, members: "scipy.sparse.csr_array | None"
) -> FloatArray:
    """Return 1 / (1 - leverage) of each entry's cluster in the entry's ratio; 0 if the cluster is the whole ratio.

    The leverage is the cluster's share of the ratio's weight. The leverage of a set of annotators is the mean over its
    members.
    """
    found = _leverages(ratio, cluster, weight, members)
    return np.where(found < WHOLE, 1 / np.maximum(1 - found, 1 - WHOLE), 0.0)


def _leverages(
    ratio: IntArray, cluster: IntArray, weight: FloatArray, members: "scipy.sparse.csr_array | None"
) -> FloatArray:
    totals = np.bincount(ratio, weights=weight)
    if members is None:
        cells = occurring_cells(ratio, cluster, weight)
        return cells.weight[cells.entry] / totals[ratio]
    entry, annotator = set_members(cluster, members)
    cells = occurring_cells(ratio[entry], annotator, weight[entry])
    shares = cells.weight[cells.entry] / totals[ratio[entry]]
    return np.bincount(entry, weights=shares, minlength=len(cluster)) / np.bincount(entry, minlength=len(cluster))


def effective_clusters(weights: FloatArray, of: IntArray, m: int) -> FloatArray:
    """Return the effective number of clusters of m statistics: (sum of w)² / sum of w² (Kish 1965).

    w are the `weights` of the statistic's clusters; `of` has the statistic of each weight.
    """
    sums = np.bincount(of, weights=weights, minlength=m)
    squares = np.bincount(of, weights=weights**2, minlength=m)
    return np.divide(sums**2, squares, out=np.zeros(m), where=squares > 0)


def clusters_of_differences(
    statistic: IntArray, cluster: IntArray, weight: FloatArray, first: IntArray, second: IntArray
) -> FloatArray:
    """Return the effective number of clusters of differences (d,): statistic `first` (d,) minus statistic `second`.

    A cluster of both statistics counts once. Each of the n entries has a statistic, a cluster and a weight.

    >>> statistic, pair = np.array([0, 0, 1, 1]), (np.array([0]), np.array([1]))
    >>> for cluster in ([0, 1, 2, 3], [0, 1, 0, 1]):
    ...     clusters_of_differences(statistic, np.array(cluster), np.ones(4), *pair).tolist()
    [4.0]
    [2.0]
    """
    shape = int(cluster.max(initial=0)) + 1, int(statistic.max(initial=0)) + 1
    weights = scipy.sparse.csr_array((weight, (cluster, statistic)), shape=shape)
    shares = weights * (1 / np.maximum(column_sums(weights), 1e-300))
    together: FloatArray = scipy.sparse.csr_array(shares.T @ shares).toarray()
    found: FloatArray = 4 / (together[first, first] + together[second, second] + 2 * together[first, second])
    return found


def distinct_clusters(statistic: IntArray, cluster: IntArray, m: int) -> IntArray:
    """Count the clusters that contribute to each of m statistics."""
    return np.bincount(occurring_cells(statistic, cluster, np.ones(len(statistic))).outer, minlength=m)


def column_sums(matrix: "scipy.sparse.csr_array") -> FloatArray:
    """Return the sums of the columns of a matrix (rows, m)."""
    return np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()

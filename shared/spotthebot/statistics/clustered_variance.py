"""The variance of estimates whose observations share conversations and annotators. All estimates use this method.

An estimate is written as a sum of the influences psi of its observations. Two observations vary together if they have
the same conversation, or if an annotator took part in both. So the variance is the sum of psi_r psi_s over the pairs
(r, s) of such observations:

    V = V_conversation + V_annotator - V_both        (Cameron, Gelbach & Miller 2011, Eq. 2.11)

An observation may have several annotators, such as a game that joins annotations (Aronow, Samii & Assenova 2015). Each
sum over a cluster is enlarged as if the estimate had been made without this cluster, so that every part equals the
jackknife's variance (MacKinnon, Nielsen & Webb 2023, "CV3"). V is set to at least the variance of independent
observations. Degrees of freedom are Satterthwaite's (1946) over the effective numbers of clusters.
`benchmarks/analytics/coverage` measures the coverage.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Protocol

import numpy as np
import scipy

from spotthebot.statistics.annotator_sets import SharedMembers, shared_cells
from spotthebot.statistics.arrays import FloatArray, IntArray
from spotthebot.statistics.cells import occurring_cells
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.cluster_shares import (
    cluster_weights,
    column_sums,
    distinct_clusters,
    effective_clusters,
    enlargements,
)
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, combine


@dataclass(frozen=True, eq=False)
class Observations:
    """The conversations and the annotators of n observations, as codes (n,).

    Without `members`, `annotator` has the code of each observation's annotator. With `members`, it has the code of a
    set of annotators, and `members` (sets, annotators) is 1 if an annotator belongs to a set.
    """

    conversation: IntArray
    annotator: IntArray
    members: "scipy.sparse.csr_array | None" = None


@dataclass(frozen=True, eq=False)
class Counted:
    """Which observations count for each of `n_statistics` estimates, as t entries of a statistic and an observation."""

    n_statistics: int
    statistic: IntArray
    observation: IntArray


@dataclass(frozen=True, eq=False)
class Influence(Counted):
    """The influence of each observation on each estimate for which it counts.

    `value` is the change of the estimate by the observation, to first order. `ratio` is the code of the ratio in which
    the observation counts with `weight`; such a ratio is the share of the games of a pair. A cluster's share of the
    weight is its leverage.
    """

    ratio: IntArray
    value: FloatArray
    weight: FloatArray


_DENSE_CELLS: Final = 1_000_000
"""Up to this many sums, of each cluster for each statistic, a matrix with its zeros is faster than a sparse one."""


def shares_of(statistic: IntArray, hits: FloatArray, n_statistics: int) -> tuple[FloatArray, IntArray, Influence]:
    """Return the shares (m,) of hits in m groups, the groups' sizes (m,), and the influence of each observation.

    Each of the n observations belongs to one group.

    >>> share, n, influence = shares_of(np.array([0, 0, 1]), np.array([1.0, 0.0, 1.0]), 2)
    >>> share.tolist(), n.tolist(), influence.value.tolist()
    ([0.5, 1.0], [2, 1], [0.25, -0.25, 0.0])
    """
    n = np.bincount(statistic, minlength=n_statistics)
    sums = np.bincount(statistic, weights=hits, minlength=n_statistics)
    share = np.divide(sums, n, out=np.full(n_statistics, np.nan), where=n > 0)
    influence = Influence(
        n_statistics=n_statistics,
        statistic=statistic,
        observation=np.arange(len(statistic)),
        ratio=statistic,
        value=(hits - share[statistic]) / n[statistic],
        weight=np.ones(len(statistic)),
    )
    return share, n, influence


def clustered_variance(
    observations: Observations, influence: Influence, clusters: Clusters = Clusters.BOTH
) -> ClusteredVariance:
    """Return the variance of every statistic, from the influence of its observations. Raises `SettingOutOfRange`.

    >>> who = Observations(conversation=np.array([0, 0, 1, 1]), annotator=np.array([0, 1, 0, 1]))
    >>> _, _, influence = shares_of(np.zeros(4, dtype=int), np.array([1.0, 1.0, 0.0, 0.0]), 1)
    >>> found = clustered_variance(who, influence, Clusters.CONVERSATION)
    >>> found.variance.round(9).tolist()  # without either conversation the share is 1 or 0: (1 / 2) * (.5² + .5²)
    [0.25]
    """
    return clustered_parts(observations, influence, choice_of("clusters", clusters, Clusters)).variances()


class Part(Protocol):
    """The clusters of one kind, such as conversations.

    `degrees` (m,) and all results are NaN for a statistic with fewer than two clusters.
    """

    degrees: FloatArray

    def variances(self) -> FloatArray:
        """Return the variance (m,) of each statistic."""

    def covariance(self) -> FloatArray:
        """Return the covariance (m, m) of the statistics."""


@dataclass(frozen=True, eq=False)
class ClusteredParts:
    """The parts of the variance of several statistics.

    The variance of their differences can be computed from them as well.

    `single` treats observations as independent. `clustered` has one part for each kind of clusters. `both` is the part
    of the intersections of two kinds.
    """

    single: Part
    clustered: Sequence[Part]
    both: Part | None
    n_conversations: IntArray
    n_annotators: IntArray
    clusters: Clusters

    def variances(self) -> ClusteredVariance:
        """Return the variance of every statistic."""
        parts = self.clustered or [self.single]
        return self._combined(lambda part: part.variances(), [part.degrees for part in parts])

    def unfloored(self) -> FloatArray:
        """Return the sum of the parts (m,). It may be smaller than the variance of independent observations."""
        return self._sum(lambda part: part.variances())

    def differences(self, first: IntArray, second: IntArray) -> ClusteredVariance:
        """Return the variance of statistic `first` (d,) minus statistic `second` (d,)."""
        degrees = [np.minimum(part.degrees[first], part.degrees[second]) for part in self.clustered or [self.single]]
        return replace(
            self._combined(lambda part: _difference(part, first, second), degrees),
            n_conversations=np.minimum(self.n_conversations[first], self.n_conversations[second]),
            n_annotators=np.minimum(self.n_annotators[first], self.n_annotators[second]),
        )

    def effects_of_differences(self, first: IntArray, second: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the variances (d,) that differences would have for independent observations, and their design effects.

        A design effect is the sum of the parts, divided by the variance for independent observations. It has no lower
        limit. It is NaN if the variance for independent observations is 0 or unknown.
        """
        single = _difference(self.single, first, second)
        whole = self._sum(lambda part: _difference(part, first, second))
        return single, np.divide(whole, single, out=np.full(single.shape, np.nan), where=single > 0)

    def covariance(self) -> FloatArray:
        """Return the covariance (m, m) of all statistics, made positive semidefinite; NaN if it is unknown."""
        parts = [part.covariance() for part in self.clustered or [self.single]]
        whole = np.sum(parts, axis=0)
        if self.both is not None:
            whole = whole - self.both.covariance()
        unknown = np.isnan(np.diag(whole))
        values, vectors = np.linalg.eigh(np.nan_to_num(whole))
        found: FloatArray = (vectors * np.maximum(values, 0.0)) @ vectors.T
        found[unknown] = np.nan
        found[:, unknown] = np.nan
        return found

    def _combined(self, of: Callable[[Part], FloatArray], degrees: Sequence[FloatArray]) -> ClusteredVariance:
        parts = [of(part) for part in self.clustered or [self.single]]
        both = None if self.both is None else of(self.both)
        variance, freedom = combine(parts, degrees, both, least=of(self.single))
        return ClusteredVariance(variance, freedom, self.n_conversations, self.n_annotators, self.clusters)

    def _sum(self, of: Callable[[Part], FloatArray]) -> FloatArray:
        whole: FloatArray = np.sum([of(part) for part in self.clustered or [self.single]], axis=0)
        return whole if self.both is None else whole - of(self.both)


def _difference(part: Part, first: IntArray, second: IntArray) -> FloatArray:
    gram = part.covariance()
    variance: FloatArray = np.maximum(gram[first, first] + gram[second, second] - 2 * gram[first, second], 0.0)
    return variance


def clustered_parts(observations: Observations, influence: Influence, clusters: Clusters) -> ClusteredParts:
    """Return the parts of the variance of statistics. Each observation may count for a few statistics."""
    m, members = influence.n_statistics, observations.members
    annotator = observations.annotator[influence.observation]
    conversation = _codes(observations.conversation)[influence.observation]
    single, clustered = _Part(influence, influence.observation), []
    if clusters.has_conversations:
        clustered.append(_Part(influence, conversation))
    if clusters.has_annotators:
        shared = None if members is None else SharedMembers(members)
        clustered.append(_Part(influence, annotator, members, shared))
    cells = shared_cells(conversation, annotator, members) if len(clustered) == 2 else None
    both = None if cells is None else _Part(influence, cells[0], None, cells[1])
    _, of_annotators = cluster_weights(influence.statistic, annotator, influence.weight, members)
    return ClusteredParts(
        single=single,
        clustered=clustered,
        both=both,
        n_conversations=distinct_clusters(influence.statistic, conversation, m),
        n_annotators=np.bincount(of_annotators, minlength=m),
        clusters=clusters,
    )


class _Part:
    """The clusters of one kind.

    Their sums of influence are enlarged as if the estimate had been made without the cluster.
    """

    def __init__(
        self,
        influence: Influence,
        cluster: IntArray,
        members: "scipy.sparse.csr_array | None" = None,
        shared: "SharedMembers | scipy.sparse.csr_array | None" = None,
    ) -> None:
        m = influence.n_statistics
        value = influence.value * enlargements(influence.ratio, cluster, influence.weight, members)
        weights, of = cluster_weights(influence.statistic, cluster, influence.weight, members)
        n = np.bincount(of, minlength=m)
        enough = n > 1
        factor = np.sqrt(np.divide(n - 1, n, out=np.full(m, np.nan), where=enough))
        rows = int(cluster.max()) + 1 if len(cluster) else 1
        self._shape = (rows if members is None else members.shape[0], m)
        self._cluster, self._statistic = cluster, influence.statistic
        self._value = value * factor[influence.statistic]
        self._shared = shared
        self._undefined = ~enough
        # Two clusters of very different size are worth less than two.
        self.degrees = np.where(enough, np.maximum(effective_clusters(weights, of, m) - 1, 0.5), np.nan)

    def variances(self) -> FloatArray:
        """Return the variance of each statistic; NaN if it has fewer than two clusters."""
        if self._shared is None:
            cells = occurring_cells(self._statistic, self._cluster, self._value)
            found = np.bincount(cells.outer, weights=cells.weight**2, minlength=len(self._undefined))
        else:
            found = np.maximum(column_sums(self._sums.multiply(self._shared @ self._sums)), 0.0)
        return np.where(self._undefined, np.nan, found)

    @cached_property
    def _sums(self) -> "scipy.sparse.csr_array":
        return scipy.sparse.csr_array((self._value, (self._cluster, self._statistic)), shape=self._shape)

    def covariance(self) -> FloatArray:
        """Return the covariance (m, m) of the statistics."""
        return self._covariance

    @cached_property
    def _covariance(self) -> FloatArray:
        rows, m = self._shape
        if self._shared is None and rows * m <= _DENSE_CELLS:
            code = self._cluster * m + self._statistic
            sums = np.bincount(code, weights=self._value, minlength=rows * m).reshape(rows, m).astype(np.float64)
            gram: FloatArray = sums.T @ sums
        else:
            other = self._sums if self._shared is None else self._shared @ self._sums
            gram = (self._sums.T @ other).toarray()
        gram[self._undefined] = np.nan
        gram[:, self._undefined] = np.nan
        return gram


def _codes(values: IntArray) -> IntArray:
    return np.unique(values, return_inverse=True)[1]

"""Design effects of a family of similar estimates, such as the win rates of all pairs of bots, pooled.

The variance of a single estimate is known only from its few clusters, and has few degrees of freedom. The causes of the
variance are similar in the whole family: the agreement of annotations of one conversation, or of one annotator. So the
family has one correlation rho, and the expected design effect of an estimate is

    1 + rho (m - 1 + c - 1)

where m is the mean number of observations in its clusters of annotators, and c in its clusters of conversations. Both
means weight each cluster by its number of observations (Kish 1965). rho is the ratio of the sums over the family of w
(own effect - 1) and of w (m - 1 + c - 1). The weights of shares are w = d 4 p (1 - p), with degrees of freedom d that
depend only on the numbers of clusters. Satterthwaite's degrees of freedom are larger for variances that are large by
chance, and would make rho too large. No value is raised to a minimum before this.

The effect in use is the mean of the expected effect and the estimate's own effect, weighted by their degrees of
freedom. It is never below the own effect: if a pair's annotators differ more than the family's, its own games show it.
It is never below 1 either. It has the degrees of freedom of the family. `benchmarks/analytics/power` compares level and
power with an oracle.
"""

from dataclasses import replace
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.statistics.annotator_sets import SharedMembers
from spotthebot.statistics.cluster_shares import cluster_weights, column_sums, effective_clusters
from spotthebot.statistics.clustered_variance import Counted, Influence, Observations, clustered_parts
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, PooledEffects

LEAST_SHARES: Final = 3
"""The fewest estimates that are pooled: two bots have one pair, which has no family."""
_CERTAIN: Final = 1e-12


def pooled_variance(
    share: FloatArray, observations: Observations, influence: Influence, clusters: Clusters, *, contrasts: int
) -> ClusteredVariance:
    """Return the variance of shares (m,) with pooled design effects. Each observation counts for one share.

    `contrasts` is the number of differences that determine the whole family: the number of bots minus one. If fewer
    than `LEAST_SHARES` shares are known, or if observations are treated as independent, each share keeps its own
    variance.
    """
    parts = clustered_parts(observations, influence, clusters)
    own = parts.variances()
    known = ~np.isnan(own.variance)
    if contrasts < 2 or not parts.clustered:
        return own
    n = np.bincount(influence.statistic, minlength=len(share))
    spread = share * (1 - share)
    varied = known & (spread > _CERTAIN)
    cluster_degrees = np.min([part.degrees for part in parts.clustered], axis=0)
    degrees = float(np.sum(cluster_degrees, where=known))
    if clusters.has_annotators:
        everything = np.zeros(len(influence.observation), dtype=np.int64)
        family = Counted(1, everything, influence.observation)
        degrees = min(degrees, contrasts * (float(effective_annotators(observations, family)[0]) - 1))
    return pool(
        own,
        known,
        spread / np.maximum(n, 1),
        effect=np.divide(parts.unfloored() * n, spread, out=np.full(share.shape, np.nan), where=varied),
        excess=others_in_clusters(observations, influence, clusters),
        weight=cluster_degrees * 4 * spread,
        degrees=np.full(share.shape, max(degrees, 1.0)),
    )


def pool(
    own: ClusteredVariance,
    known: BoolArray,
    independent: FloatArray,
    *,
    effect: FloatArray,
    excess: FloatArray,
    weight: FloatArray,
    degrees: FloatArray,
    information: FloatArray | float = 1.0,
) -> ClusteredVariance:
    """Return variances (m,). Those that are `known`, at least `LEAST_SHARES`, have pooled design effects.

    `independent` has the variances for independent observations. `effect` has the own design effects, NaN if nothing
    varied. `information` is the share of the own degrees of freedom that counts in the mean. Unknown variances stay
    unchanged.
    """
    if np.sum(known) < LEAST_SHARES:
        return own
    varied = known & ~np.isnan(effect)
    expected = np.where(known, expected_effects(effect, excess, np.where(varied, weight, 0.0)), np.nan)
    own_degrees = np.where(varied, own.degrees * information, 0.0)
    in_use = effects_in_use(np.where(varied, effect, expected), own_degrees, expected, degrees)
    return replace(
        own,
        variance=np.where(known, in_use * independent, own.variance),
        degrees=np.where(known, degrees, own.degrees),
        pooled=PooledEffects(
            design_effect=in_use,
            expected=expected,
            own=np.where(varied, effect, np.nan),
            own_degrees=np.where(varied, own.degrees, np.nan),
            family=int(np.sum(known)),
        ),
    )


def expected_effects(own: FloatArray, excess: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the expected design effects (m,) of a family. They are computed from its members with a weight above 0.

    `excess` (m,) is m - 1 + c - 1 in the formula of this module. It is 0 for independent observations.

    >>> expected_effects(np.array([2.0, 4.0]), np.array([1.0, 3.0]), np.array([1.0, 1.0])).tolist()  # rho (1 + 3) / 4
    [2.0, 4.0]
    """
    used = weight > 0
    together = float(np.sum(weight * excess, where=used))
    correlation = float(np.sum(weight * (own - 1), where=used)) / together if together > 0 else 0.0
    return 1 + max(0.0, correlation) * excess


def effects_in_use(
    own: FloatArray, own_degrees: FloatArray, expected: FloatArray, degrees: float | FloatArray
) -> FloatArray:
    """Return the mean (m,) of own and expected effects, weighted by degrees of freedom.

    The mean is raised to the own effect if it is below it, and to 1 if it is below 1.

    >>> one = np.ones(2)
    >>> effects_in_use(np.array([1.0, 4.0]), 5 * one, 3 * one, 15.0).tolist()  # (5 * 1 + 15 * 3) / 20
    [2.5, 4.0]
    """
    mean = (own_degrees * own + degrees * expected) / (own_degrees + degrees)
    in_use: FloatArray = np.maximum(1.0, np.maximum(mean, own))
    return in_use


def others_in_clusters(observations: Observations, counted: Counted, clusters: Clusters) -> FloatArray:
    """Return for each estimate (m,) the mean number of other observations in the clusters of an observation."""
    m = counted.n_statistics
    total = np.bincount(counted.statistic, minlength=m)
    others = np.zeros(m)
    if clusters.has_conversations:
        others += _pairs(observations.conversation[counted.observation], counted, None) - total
    if clusters.has_annotators:
        others += _pairs(observations.annotator[counted.observation], counted, observations.members) - total
    return np.divide(others, total, out=np.zeros(m), where=total > 0)


def _pairs(cluster: IntArray, counted: Counted, members: "scipy.sparse.csr_array | None") -> FloatArray:
    """Count for each estimate (m,) the ordered pairs of its observations in one cluster.

    An observation pairs with itself.
    """
    ones, m = np.ones(len(cluster)), counted.n_statistics
    if members is None:
        weights, of = cluster_weights(counted.statistic, np.unique(cluster, return_inverse=True)[1], ones, None)
        return np.asarray(np.bincount(of, weights=weights**2, minlength=m), dtype=np.float64)
    counts = scipy.sparse.csr_array((ones, (cluster, counted.statistic)), shape=(members.shape[0], m))
    return column_sums(counts.multiply(SharedMembers(members) @ counts))


def effective_annotators(observations: Observations, counted: Counted) -> FloatArray:
    """Return the effective number of annotators of each estimate (m,) (Kish 1965).

    It is the number of equally busy annotators who would be worth as much.
    """
    annotator = observations.annotator[counted.observation]
    weights, of = cluster_weights(counted.statistic, annotator, np.ones(len(annotator)), observations.members)
    return effective_clusters(weights, of, counted.n_statistics)


def effective_conversations(observations: Observations, counted: Counted, clusters: Clusters) -> FloatArray:
    """Return the effective number of conversations of each estimate (m,).

    If conversations are not clusters, each observation counts as one conversation.
    """
    conversation = (
        observations.conversation if clusters.has_conversations else np.arange(len(observations.conversation))
    )
    code = conversation[counted.observation]
    weights, of = cluster_weights(counted.statistic, code, np.ones(len(code)), None)
    return effective_clusters(weights, of, counted.n_statistics)

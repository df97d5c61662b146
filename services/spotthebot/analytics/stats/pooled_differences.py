"""Variances of all differences of bots' means, pooled over bots that the same annotators rated alike often.

Six annotators tell the variance of one difference with five degrees of freedom. Where that variance comes out small by
chance, Satterthwaite's number of them is large, and the test is too bold. Five of them for every difference hold the
level, and find next to nothing. All differences are matters of the same annotators' tastes: so they have one
correlation, and are pooled as the win rates of pairs are (`pooled_design_effects`).

A design effect here is the variance of a difference over that of independent ratings. An annotator's leniency moves
both means alike and cancels if the annotator gave the same share of the ratings of either bot. Its remainder grows with
the sum of squared differences of these shares over annotators, which is 1 / n_first + 1 / n_second by chance. Above
`MAX_UNEVENNESS` times as much a difference keeps its own variance, as the others tell nothing of leniency.

A pooled variance is a product of two estimates, so that the reciprocals of their degrees of freedom add up: those of
the design effect are the annotators' for each independent difference of the family, those of the variance of
independent ratings are the items' of both bots. A difference with its own variance has at most as many as it has
clusters, less one. `benchmarks/analytics/README.md` has level and power beside an oracle.
"""

from dataclasses import replace
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.clustered_variance import ClusteredParts, Influence, Observations
from spotthebot.analytics.stats.pooled_design_effects import (
    LEAST_SHARES,
    effects_in_use,
    expected_effects,
    others_in_clusters,
)
from spotthebot.analytics.stats.uncertainty import ClusteredVariance

MAX_UNEVENNESS: Final = 2.0
"""Annotators' shares of two bots' ratings may differ by so much more than by chance, in squares."""
ROUNDING: Final = 1e-26
"""Variances of values of at most 1 that are so small are 0 but for rounding."""


def variance_of_differences(
    observations: Observations, influence: Influence, parts: ClusteredParts, first: IntArray, second: IntArray
) -> ClusteredVariance:
    """Return the variance of mean `first` (d,) less mean `second` (d,); each observation counts into one mean.

    Values are at most 1, and `parts` are those of the same observations and influence. Nothing is pooled without
    clusters of annotators, or where fewer differences than `LEAST_SHARES` can be.
    """
    own = parts.differences(first, second)
    own = replace(own, degrees=np.minimum(own.degrees, np.maximum(own.n_clusters - 1, 1)))
    if not parts.clusters.has_annotators:
        return own
    independent, effect = parts.effects_of_differences(first, second)
    n = np.maximum(np.bincount(influence.statistic, minlength=influence.n_statistics), 1)
    known = (independent > ROUNDING) & ~np.isnan(effect)
    pooled = known & _rated_alike(observations, influence, n, first, second)
    if np.sum(pooled) < LEAST_SHARES:
        return own
    first, second, effect = first[pooled], second[pooled], effect[pooled]
    others = others_in_clusters(observations, influence, parts.clusters) / n
    excess = (others[first] + others[second]) / (1 / n[first] + 1 / n[second])
    of_annotators = parts.clustered[-1].degrees
    weight = np.minimum(of_annotators[first], of_annotators[second])
    expected = expected_effects(effect, excess, weight)
    degrees = weight * (len(np.unique([first, second])) - 1)
    variance, freedom = own.variance.copy(), own.degrees.copy()
    variance[pooled] = effects_in_use(effect, own.degrees[pooled], expected, degrees) * independent[pooled]
    of_items = (parts.clustered[0] if parts.clusters.has_conversations else parts.single).degrees
    freedom[pooled] = 1 / (1 / degrees + 1 / (of_items[first] + of_items[second]))
    return replace(own, variance=variance, degrees=freedom)


def _rated_alike(
    observations: Observations, influence: Influence, n: IntArray, first: IntArray, second: IntArray
) -> BoolArray:
    """Return for which differences (d,) annotators have like shares of both bots' ratings."""
    annotator = observations.annotator[influence.observation]
    shape = (int(annotator.max(initial=0)) + 1, len(n))
    counts = scipy.sparse.csr_array((np.ones(len(annotator)), (annotator, influence.statistic)), shape=shape)
    shares = counts * (1 / n)
    together: FloatArray = scipy.sparse.csr_array(shares.T @ shares).toarray()
    unevenness = together[first, first] + together[second, second] - 2 * together[first, second]
    alike: BoolArray = unevenness <= MAX_UNEVENNESS * (1 / n[first] + 1 / n[second])
    return alike

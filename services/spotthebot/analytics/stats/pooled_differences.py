"""Variances of all differences between bots, pooled over bots whom the same annotators saw alike often.

Six annotators tell the variance of one difference with five degrees of freedom. Where that variance comes out small by
chance, Satterthwaite's number of them is large, and the test is too bold. Five of them for every difference hold the
level, and find next to nothing. All differences are matters of the same annotators' tastes: so they have one
correlation, and are pooled as the win rates of pairs are (`pooled_design_effects`). Differences of mean win rates, of
mean ratings and of strengths are pooled, and the scores of log-rank tests.

A design effect here is the variance of a difference over that of independent observations. An annotator's leniency
moves both bots alike and cancels if the annotator gave the same share of the annotations of either. Its remainder grows
with the sum of squared differences of these shares over annotators, which is 1 / n_first + 1 / n_second by chance.
Above `MAX_UNEVENNESS` times as much a difference keeps its own variance, as the others tell nothing of leniency.

A pooled variance is a product of two estimates, so that the reciprocals of their degrees of freedom add up: those of
the design effect are the annotators' for each independent difference of the family, those of the variance of
independent observations are the conversations' of both bots. A difference with its own variance has at most as many as
it has clusters, less one. `benchmarks/analytics/README.md` has level and power beside an oracle.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.clustered_variance import ClusteredParts, Counted, Observations
from spotthebot.analytics.stats.pooled_design_effects import (
    LEAST_SHARES,
    effective_annotators,
    effective_conversations,
    others_in_clusters,
    pool,
)
from spotthebot.analytics.stats.uncertainty import POOLED, ClusteredVariance, Clusters

MAX_UNEVENNESS: Final = 2.0
"""Annotators' shares of two bots' annotations may differ by so much more than by chance, in squares."""
ROUNDING: Final = 1e-26
"""Variances of values of at most 1 that are so small are 0 but for rounding."""


def variance_of_differences(
    observations: Observations, counted: Counted, parts: ClusteredParts, first: IntArray, second: IntArray
) -> ClusteredVariance:
    """Return the variance of estimate `first` (d,) less estimate `second` (d,), of which each is one bot's.

    `counted` says which observations are whose, and `parts` are the parts of the estimates' variance; values are at
    most 1. Nothing is pooled without clusters of annotators, or where fewer than three differences can be.
    """
    own = parts.differences(first, second)
    own = replace(own, degrees=np.minimum(own.degrees, np.maximum(own.n_clusters - 1, 1)))
    independent, effect = parts.effects_of_differences(first, second)
    known = (independent > ROUNDING) & ~np.isnan(effect)
    return SeenBots(observations, counted, first, second).pool(own, known, independent, effect)


def words_of_differences(clusters: Clusters, bots: int) -> str:
    """Say what the variances of all differences between so many bots stand on."""
    pooled = clusters.has_annotators and bots * (bots - 1) // 2 >= LEAST_SHARES
    return f"{clusters.words}, {POOLED}" if pooled else clusters.words


@dataclass(frozen=True, eq=False)
class SeenBots:
    """Differences between the bots `first` and `second` (d,), and what was seen of each bot."""

    observations: Observations
    counted: Counted
    first: IntArray
    second: IntArray

    def pool(
        self,
        own: ClusteredVariance,
        known: BoolArray,
        independent: FloatArray,
        effect: FloatArray,
        information: FloatArray | float = 1.0,
    ) -> ClusteredVariance:
        """Pool the `known` of the differences' own variances (d,), of those that the same annotators saw alike often.

        `independent` are the variances of independent observations, `effect` the own design effects, NaN where nothing
        varied. `information` says how much an own effect tells, in shares of 1.
        """
        if not own.clusters.has_annotators:
            return own
        first, second = self.first, self.second
        known = known & self._seen_alike()
        n = np.maximum(np.bincount(self.counted.statistic, minlength=self.counted.n_statistics), 1)
        others = others_in_clusters(self.observations, self.counted, own.clusters) / n
        annotators = np.maximum(effective_annotators(self.observations, self.counted) - 1, 0.5)
        conversations = effective_conversations(self.observations, self.counted, own.clusters)
        weight = np.minimum(annotators[first], annotators[second])
        bots = len(np.unique([first[known], second[known]]))
        degrees = np.maximum(weight * (bots - 1), 0.5)
        found = pool(
            own,
            known,
            independent,
            effect=effect,
            excess=(others[first] + others[second]) / (1 / n[first] + 1 / n[second]),
            weight=weight * information,
            degrees=degrees,
            information=information,
        )
        if found.pooled is None:
            return own
        of_spread = np.maximum(conversations - 1, 0.5)
        of_product = 1 / (1 / degrees + 1 / (of_spread[first] + of_spread[second]))
        return replace(found, degrees=np.where(known, of_product, own.degrees))

    def _seen_alike(self) -> BoolArray:
        """Return for which differences (d,) annotators have like shares of both bots' annotations."""
        first, second, counted = self.first, self.second, self.counted
        annotator, members = self.observations.annotator[counted.observation], self.observations.members
        n = np.maximum(np.bincount(counted.statistic, minlength=counted.n_statistics), 1)
        rows = int(annotator.max(initial=0)) + 1 if members is None else members.shape[0]
        counts = scipy.sparse.csr_array((np.ones(len(annotator)), (annotator, counted.statistic)), shape=(rows, len(n)))
        shares = (counts if members is None else members.T @ counts) * (1 / n)
        together: FloatArray = scipy.sparse.csr_array(shares.T @ shares).toarray()
        unevenness = together[first, first] + together[second, second] - 2 * together[first, second]
        alike: BoolArray = unevenness <= MAX_UNEVENNESS * (1 / n[first] + 1 / n[second])
        return alike

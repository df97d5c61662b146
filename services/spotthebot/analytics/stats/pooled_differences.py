"""Variances of all differences between bots, pooled over bots that the same annotators saw about equally often.

With six annotators, the variance of one difference has five degrees of freedom. If this variance is small by chance,
Satterthwaite's degrees of freedom are many, and the test finds too many differences. A test with five degrees of
freedom for every difference holds its level, but finds next to nothing. All differences depend on the tastes of the
same annotators. So they have one correlation, and are pooled like the win rates of pairs (`pooled_design_effects`).
This module pools differences of mean win rates, of mean ratings and of strengths, and the scores of log-rank tests.

A design effect here is the variance of a difference, divided by its variance for independent observations. An
annotator's leniency changes both bots equally. It cancels if the annotator made the same share of the annotations of
each of the two bots. Otherwise a remainder stays, which grows with the sum, over annotators, of the squared differences
of these two shares. By chance this sum is 1 / n_first + 1 / n_second. If the sum is more than `MAX_UNEVENNESS` times as
large, a difference keeps its own variance, since other differences tell nothing about leniency. The values that one
annotation has of a bot's turns count as one observation, because one annotator gives them all.

A pooled variance is a product of two estimates, so the reciprocals of their degrees of freedom add up. The design
effect has the degrees of freedom of the annotators, for each independent difference of the family. The variance for
independent observations has the degrees of freedom of the conversations of both bots. A difference with its own
variance has at most as many degrees of freedom as clusters minus one. `benchmarks/analytics/README.md` compares level
and power with an oracle.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.pooled_design_effects import (
    LEAST_SHARES,
    effective_annotators,
    effective_conversations,
    others_in_clusters,
    pool,
)
from spotthebot.statistics.clustered_variance import ClusteredParts, Counted, Observations
from spotthebot.statistics.uncertainty import POOLED, ClusteredVariance, Clusters

MAX_UNEVENNESS: Final = 2.0
"""The limit, relative to chance, of the squared differences of annotators' shares of two bots' annotations."""
ROUNDING: Final = 1e-26
"""Variances this small, of values of at most 1, are rounding errors of 0."""


def variance_of_differences(
    observations: Observations,
    counted: Counted,
    parts: ClusteredParts,
    own: ClusteredVariance,
    first: IntArray,
    second: IntArray,
) -> ClusteredVariance:
    """Return the variance of estimate `first` (d,) minus estimate `second` (d,). Each estimate is about one bot.

    `counted` assigns observations to bots. `parts` are the parts of the variance of the estimates, whose values are at
    most 1, and `own` the variances of the differences (d,) that are not pooled. Nothing is pooled without clusters of
    annotators, or if fewer than three differences can be pooled.
    """
    own = replace(own, degrees=np.minimum(own.degrees, np.maximum(own.n_clusters - 1, 1)))
    independent, effect = parts.effects_of_differences(first, second)
    known = (independent > ROUNDING) & ~np.isnan(effect)
    return SeenBots(observations, counted, first, second).pool(own, known, independent, effect)


def words_of_differences(clusters: Clusters, bots: int) -> str:
    """Return a description of the clusters behind the variances of all differences between this number of bots."""
    pooled = clusters.has_annotators and bots * (bots - 1) // 2 >= LEAST_SHARES
    return f"{clusters.words}, {POOLED}" if pooled else clusters.words


@dataclass(frozen=True, eq=False)
class SeenBots:
    """Differences between the bots `first` and `second` (d,), and the observations of each bot."""

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
        """Return variances (d,).

        `known` differences between bots that the same annotators saw about equally often are pooled.

        `independent` has the variances for independent observations. `effect` has the own design effects, NaN if
        nothing varied. `information` is the share of the own degrees of freedom that counts in the mean.
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
        """Return for which differences (d,) each annotator has similar shares of the annotations of both bots."""
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

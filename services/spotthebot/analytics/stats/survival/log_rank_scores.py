"""Scores of the generalized log-rank test of two bots, under one common survival curve.

The statistic is the score of a proportional-hazards effect, at an effect of 0 (Finkelstein 1986). A row (L, R] has the
score (S(L) log S(L) - S(R) log S(R)) / (S(L) - S(R)). S is the nonparametric maximum likelihood estimate (NPMLE) of
both bots' inspections together, and F is 1 - S. At inspection time k the score is -S log S / F if the bot was spotted,
and log S if it was not.
"""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.survival.curves import CurrentStatus
from spotthebot.analytics.stats.survival.isotonic import isotonic_shares, pooled_blocks
from spotthebot.statistics.uncertainty import Clusters


@dataclass(frozen=True, eq=False)
class Pair:
    """Two bots, by their codes: the common curve of both, and the rows of their inspections, in any order."""

    first: int
    second: int
    shared: "SharedCurve"
    rows: IntArray
    is_first: BoolArray
    time: IntArray
    spotted: BoolArray
    conversation: IntArray
    annotator: IntArray

    @classmethod
    def of(
        cls, status: CurrentStatus, first: int, second: int, rows: IntArray, inspected: FloatArray, spotted: FloatArray
    ) -> "Pair":
        return cls(
            first=first,
            second=second,
            shared=SharedCurve(inspected, spotted),
            rows=rows,
            is_first=status.entity[rows] == first,
            time=status.time[rows],
            spotted=status.spotted[rows],
            conversation=status.conversation[rows],
            annotator=status.annotator[rows],
        )

    def scores(self) -> FloatArray:
        return np.where(self.spotted, self.shared.if_spotted[self.time], self.shared.if_not[self.time])

    def lead(self) -> FloatArray:
        """Return for each row: 1 if it is the first bot's, else 0; minus the first bot's share in the row's pool."""
        lead: FloatArray = self.is_first - self.shared.share_of_first()[self.time]
        return lead

    def summed_variance(self, cluster: IntArray) -> float:
        _, codes = np.unique(cluster, return_inverse=True)
        sums = np.bincount(codes, weights=self.lead() * self.scores())
        # One cluster would be compared with itself: its statistic is 1 whatever the data.
        return float(np.sum(sums**2)) if len(sums) > 1 else 0.0

    def influence(self) -> tuple[IntArray, FloatArray]:
        """Return for each row a code of its bot and pool, and its influence on the score."""
        scores, cell = self.scores(), 2 * self.shared.block[self.time] + self.is_first
        n = np.bincount(cell)
        means = np.divide(np.bincount(cell, weights=scores), n, out=np.zeros(len(n)), where=n > 0)
        return cell, self.lead() * (scores - means[cell])

    def n_clusters(self, clusters: Clusters) -> int:
        """Return the smallest number of clusters of one kind of one bot, over the kinds in `clusters` and both bots."""
        kinds = [self.conversation] if clusters.has_conversations else []
        kinds += [self.annotator] if clusters.has_annotators else []
        kinds = kinds or [self.rows]
        return min(len(np.unique(kind[mine])) for kind in kinds for mine in (self.is_first, ~self.is_first))


class SharedCurve:
    """Scores of two groups (2, times) under one common survival curve."""

    def __init__(self, inspected: FloatArray, spotted: FloatArray) -> None:
        self.inspected, self.spotted = inspected, spotted
        self.total = inspected.sum(axis=0)
        failure = isotonic_shares(spotted.sum(axis=0), self.total)
        # If none or all were spotted, the scores have the limit 0.
        inside = (failure > 0) & (failure < 1)
        f = np.where(inside, failure, 0.5)
        log_s = np.where(inside, np.log1p(-f), 0.0)
        self.if_spotted, self.if_not = -(1 - f) * log_s / f, log_s
        self.weight = (1 - f) * log_s**2 / f
        self.block = pooled_blocks(failure)
        group_scores = spotted * self.if_spotted + (inspected - spotted) * self.if_not
        self.score = float(group_scores[0].sum())

    def share_of_first(self) -> FloatArray:
        """Return for each time the first group's share of inspections, in the block of times that the NPMLE pooled."""
        first = np.bincount(self.block, weights=self.inspected[0])
        both = np.bincount(self.block, weights=self.total)
        share: FloatArray = np.divide(first, both, out=np.zeros_like(both), where=both > 0)[self.block]
        return share

    def score_variance(self) -> float:
        share = self.share_of_first()
        return float(np.sum(self.total * share * (1 - share) * self.weight))

    def permutation_variance(self) -> float:
        n_first, n = self.inspected[0].sum(), self.total.sum()
        if n < 2:
            return 0.0
        events = self.spotted.sum(axis=0)
        squares = np.sum(events * self.if_spotted**2 + (self.total - events) * self.if_not**2)
        mean = np.sum(events * self.if_spotted + (self.total - events) * self.if_not) / n
        return float(n_first * (n - n_first) / n / (n - 1) * (squares - n * mean**2))

    def why_undecided(self) -> str | None:
        if not self.inspected.sum(axis=1).all():
            return "one of the two was never inspected"
        if not self.spotted.any():
            return "neither was ever spotted"
        if (self.spotted == self.inspected).all():
            return "both were spotted at every inspection"
        return (
            None
            if self.score_variance() > 0
            else "the two share no inspection times at which some were spotted and some not"
        )

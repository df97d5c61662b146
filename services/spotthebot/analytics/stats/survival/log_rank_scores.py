"""Scores of the generalized log-rank test of two bots, under one common survival curve.

The statistic is the score of a proportional-hazards effect, at an effect of 0 (Finkelstein 1986). A row (L, R] has the
score (S(L) log S(L) - S(R) log S(R)) / (S(L) - S(R)). S is the nonparametric maximum likelihood estimate (NPMLE) of
both bots' inspections together, and F is 1 - S. At inspection time k the score is -S log S / F if the bot was spotted,
and log S if it was not.

Of exact times, whose censored rows all last as long as the last exchange, the score is the log-rank test's: 1 if the
bot was spotted, minus Nelson & Aalen's hazard of both bots up to the row's time (Peto & Peto 1972).
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
    def of(cls, status: CurrentStatus, first: int, second: int, rows: IntArray, shared: "SharedCurve") -> "Pair":
        return cls(
            first=first,
            second=second,
            shared=shared,
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
        self.if_spotted, self.if_not, self.block = self._scores()
        group_scores = spotted * self.if_spotted + (inspected - spotted) * self.if_not
        self.score = float(group_scores[0].sum())

    def _scores(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the scores of rows with and without a spotting at each time, and the pool of each time."""
        failure = isotonic_shares(self.spotted.sum(axis=0), self.total)
        # If none or all were spotted, the scores have the limit 0.
        inside = (failure > 0) & (failure < 1)
        f = np.where(inside, failure, 0.5)
        log_s = np.where(inside, np.log1p(-f), 0.0)
        return -(1 - f) * log_s / f, log_s, pooled_blocks(failure)

    def share_of_first(self) -> FloatArray:
        """Return for each time the first group's share of inspections, in the block of times that the NPMLE pooled."""
        first = np.bincount(self.block, weights=self.inspected[0])
        both = np.bincount(self.block, weights=self.total)
        share: FloatArray = np.divide(first, both, out=np.zeros_like(both), where=both > 0)[self.block]
        return share

    def score_variance(self) -> float:
        share = self.share_of_first()
        # Under the common curve, a row's score has the mean 0 and the variance -(score if spotted) (score if not).
        return float(np.sum(self.total * share * (1 - share) * -self.if_spotted * self.if_not))

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


class ExactCurve(SharedCurve):
    """Scores of two groups (2, times) whose spottings have exact times; all other rows are at the last time.

    Here `inspected` counts the rows that end at a time.
    """

    def _scores(self) -> tuple[FloatArray, FloatArray, IntArray]:
        self._at_risk = self.inspected[:, ::-1].cumsum(axis=1)[:, ::-1]
        self._died, self._all = self.spotted.sum(axis=0), self._at_risk.sum(axis=0)
        hazard = np.cumsum(np.divide(self._died, self._all, out=np.zeros_like(self._all), where=self._all > 0))
        return 1 - hazard, -hazard, np.zeros(len(hazard), dtype=np.int64)

    def score_variance(self) -> float:
        """Return the sum of the hypergeometric variances of the first group's spottings."""
        more = self._all > 1
        d, n, first, second = self._died[more], self._all[more], self._at_risk[0, more], self._at_risk[1, more]
        return float(np.sum(d * (n - d) / (n - 1) * first * second / n**2))

    def why_undecided(self) -> str | None:
        if not self.inspected.sum(axis=1).all():
            return "one of the two was never inspected"
        if not self.spotted.any():
            return "neither was ever spotted"
        return None if self.score_variance() > 0 else "both were spotted at the same exchange, at every inspection"

"""Which survival curves differ: the generalized log-rank test for each pair, on current-status data.

The statistic is the score of a proportional-hazards effect at no effect (Finkelstein 1986): each row scores
(S(L) log S(L) - S(R) log S(R)) / (S(L) - S(R)) under the pooled NPMLE of the pair, which is -S log S / F for a row
spotted at k and log S for one that was not.

The default variance lets inspections of one conversation and of one annotator vary together. Given the pools of the
NPMLE the score adds up weighted differences of the two bots' shares, so that an inspection's influence is its score
less the mean of its bot in its pool; the statistic is F(1, d) with Satterthwaite's d, the number of clusters less one
at most.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import HUMAN, BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import defined
from spotthebot.analytics.stats.clustered_variance import Influence, Observations, clustered_variance
from spotthebot.analytics.stats.distributions import chi_square_tails, f_tails
from spotthebot.analytics.stats.significance import Adjustment, adjust
from spotthebot.analytics.stats.survival.curves import CurrentStatus
from spotthebot.analytics.stats.survival.isotonic import isotonic_shares, pooled_blocks
from spotthebot.analytics.stats.uncertainty import ClusteredVariance, Clusters, Uncertainty


class LogRankVariance(StrEnum):
    """How the variance of the score is found.

    `CLUSTERED` is that of shared conversations and annotators, and the one that holds its level. `SCORE`, from the
    binomial model, and `PERMUTATION` take rows for independent: an annotator's habits make them dependent, which lifts
    a nominal 5 % to 12-20 % rejections. `ANNOTATOR` and `CONVERSATION` sum the scores of each cluster of one kind and
    refer to chi-squared, which few clusters make too strict or too lenient.
    """

    CLUSTERED = "clustered"
    SCORE = "score"
    PERMUTATION = "permutation"
    ANNOTATOR = "annotator"
    CONVERSATION = "conversation"


class PairFamily(StrEnum):
    """Which pairs are adjusted together: comparisons of bots are one question, bots against people another."""

    BOTS = "bots against bots"
    PEOPLE = "bots against people"


@dataclass(frozen=True)
class LogRankTest:
    """One pair's test: `estimate` is the score of `bot`, above 0 where it is spotted sooner than `other`.

    `statistic` is the squared score over its variance: F with 1 and the uncertainty's degrees of freedom, or
    chi-squared with one where it has none. Where the data cannot tell, `statistic` and both p-values are None and
    `reason` says why. Where every inspection of each bot ended alike no variance can be seen, and p is that of flipping
    the sign of every cluster. `p_adjusted` is adjusted within `family`, of which `family_size` tests could be made.
    """

    bot: str
    other: str
    estimate: float
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    n: int
    method: str
    family: PairFamily
    family_size: int
    adjustment: Adjustment
    uncertainty: Uncertainty
    reason: str | None


def log_rank_tests(
    status: CurrentStatus,
    *,
    variance: LogRankVariance = LogRankVariance.CLUSTERED,
    clusters: Clusters = Clusters.BOTH,
    adjustment: Adjustment = Adjustment.HOLM,
) -> tuple[LogRankTest, ...]:
    """Compare every unordered pair of `names`; `clusters` are those of the clustered variance.

    >>> from spotthebot.analytics.stats import AnnotationTable, current_status
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "bot", "human", 0),
    ...         (0, "A", "B", 3, "human", "bot", 1),
    ...         (1, "A", "B", 3, "bot", "human", 1),
    ...     ]
    ... )
    >>> (test,) = log_rank_tests(current_status(table))
    >>> test.bot, test.other, test.estimate > 0  # A is spotted sooner
    ('A', 'B', True)
    """
    inspected, spotted = (counts.astype(np.float64) for counts in status.counts())
    by_entity = np.split(np.argsort(status.entity, kind="stable"), np.cumsum(inspected.sum(axis=1)).astype(int)[:-1])
    pairs = (
        _Pair.of(status, i, j, np.concatenate([by_entity[i], by_entity[j]]), inspected[[i, j]], spotted[[i, j]])
        for i, j in combinations(range(len(status.names)), 2)
    )
    tests = [
        LogRankTest(
            bot=pair.bot,
            other=pair.other,
            estimate=pair.pooled.score,
            statistic=decided.statistic,
            p_value=decided.p_value,
            p_adjusted=None,
            n=len(pair.rows),
            method=f"generalized log-rank, {variance} variance",
            family=PairFamily.PEOPLE if HUMAN in {pair.bot, pair.other} else PairFamily.BOTS,
            family_size=0,
            adjustment=adjustment,
            uncertainty=decided.uncertainty,
            reason=decided.reason,
        )
        for pair, decided in _decide(status, pairs, variance, clusters)
    ]
    return _adjusted(tests, adjustment)


def _adjusted(tests: list[LogRankTest], adjustment: Adjustment) -> tuple[LogRankTest, ...]:
    for family in PairFamily:
        members = [at for at, test in enumerate(tests) if test.family is family]
        p_values = np.array([np.nan if (p := tests[at].p_value) is None else p for at in members], dtype=np.float64)
        made = int(np.sum(~np.isnan(p_values)))
        for at, p_adjusted in zip(members, adjust(p_values, adjustment), strict=True):
            tests[at] = replace(tests[at], p_adjusted=defined(p_adjusted), family_size=made)
    return tuple(tests)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two bots: their common curve, and the rows of the data that are their inspections, in any order."""

    bot: str
    other: str
    pooled: "_PooledPair"
    rows: IntArray
    is_first: BoolArray
    time: IntArray
    spotted: BoolArray
    conversation: IntArray
    annotator: IntArray

    @classmethod
    def of(
        cls, status: CurrentStatus, first: int, second: int, rows: IntArray, inspected: FloatArray, spotted: FloatArray
    ) -> "_Pair":
        return cls(
            bot=status.names[first],
            other=status.names[second],
            pooled=_PooledPair(inspected, spotted),
            rows=rows,
            is_first=status.entity[rows] == first,
            time=status.time[rows],
            spotted=status.spotted[rows],
            conversation=status.conversation[rows],
            annotator=status.annotator[rows],
        )

    def scores(self) -> FloatArray:
        return np.where(self.spotted, self.pooled.if_spotted[self.time], self.pooled.if_not[self.time])

    def lead(self) -> FloatArray:
        """Return by how much more of the first bot a row is than the inspections of its pool are."""
        lead: FloatArray = self.is_first - self.pooled.share_of_first()[self.time]
        return lead

    def summed_variance(self, cluster: IntArray) -> float:
        _, codes = np.unique(cluster, return_inverse=True)
        sums = np.bincount(codes, weights=self.lead() * self.scores())
        # One cluster would be compared with itself: its statistic is 1 whatever the data.
        return float(np.sum(sums**2)) if len(sums) > 1 else 0.0

    def influence(self) -> tuple[IntArray, FloatArray]:
        """Return each row's bot and pool, coded, and by how much the row moves the score."""
        scores, cell = self.scores(), 2 * self.pooled.block[self.time] + self.is_first
        n = np.bincount(cell)
        means = np.divide(np.bincount(cell, weights=scores), n, out=np.zeros(len(n)), where=n > 0)
        return cell, self.lead() * (scores - means[cell])

    def n_clusters(self, clusters: Clusters) -> int:
        """Count the clusters of the bot that has fewer, of the kind of which there are fewer."""
        kinds = [self.conversation] if clusters.has_conversations else []
        kinds += [self.annotator] if clusters.has_annotators else []
        kinds = kinds or [self.rows]
        return min(len(np.unique(kind[mine])) for kind in kinds for mine in (self.is_first, ~self.is_first))


@dataclass(frozen=True)
class _Decision:
    statistic: float | None
    p_value: float | None
    uncertainty: Uncertainty
    reason: str | None


_ROWS_AT_ONCE: Final = 200_000
_NO_VARIANCE: Final = 1e-9
"""Shares below it of the score's variance under independence are rounding."""


def _independent_test(pair: _Pair, variance: LogRankVariance) -> _Decision:
    of = Clusters.NONE
    if variance is LogRankVariance.SCORE:
        spread = pair.pooled.score_variance()
    elif variance is LogRankVariance.PERMUTATION:
        spread = pair.pooled.permutation_variance()
    elif variance is LogRankVariance.ANNOTATOR:
        of, spread = Clusters.ANNOTATOR, pair.summed_variance(pair.annotator)
    else:
        of, spread = Clusters.CONVERSATION, pair.summed_variance(pair.conversation)
    reason = None if spread > 0 else pair.pooled.why_undecided() or "all annotations are one cluster"
    statistic = pair.pooled.score**2 / spread if spread > 0 else None
    return _Decision(
        statistic=statistic,
        p_value=None if statistic is None else float(chi_square_tails(statistic, 1)),
        uncertainty=Uncertainty(
            standard_error=float(np.sqrt(spread)) if spread > 0 else None,
            degrees_of_freedom=None,
            conversations=len(np.unique(pair.conversation)),
            annotators=len(np.unique(pair.annotator)),
            clusters=of,
            reason=reason,
        ),
        reason=reason,
    )


def _decide(
    status: CurrentStatus, pairs: Iterable[_Pair], variance: LogRankVariance, clusters: Clusters
) -> Iterator[tuple[_Pair, _Decision]]:
    if variance is LogRankVariance.CLUSTERED:
        for batch in _batches(pairs):
            yield from zip(batch, _clustered_tests(status, batch, clusters), strict=True)
    else:
        for pair in pairs:
            yield pair, _independent_test(pair, variance)


def _batches(pairs: Iterable[_Pair]) -> Iterator[list[_Pair]]:
    """Yield the pairs in runs of not too many rows: one variance of many pairs costs less than many of one."""
    batch: list[_Pair] = []
    n_rows = 0
    for pair in pairs:
        if batch and n_rows + len(pair.rows) > _ROWS_AT_ONCE:
            yield batch
            batch, n_rows = [], 0
        batch.append(pair)
        n_rows += len(pair.rows)
    if batch:
        yield batch


def _clustered_tests(status: CurrentStatus, pairs: Sequence[_Pair], clusters: Clusters) -> Iterator[_Decision]:
    cells, values = zip(*(pair.influence() for pair in pairs), strict=True)
    statistic = np.repeat(np.arange(len(pairs)), [len(pair.rows) for pair in pairs])
    influence = Influence(
        n_statistics=len(pairs),
        statistic=statistic,
        observation=np.concatenate([pair.rows for pair in pairs]),
        ratio=2 * len(status.times) * statistic + np.concatenate(cells),
        value=np.concatenate(values),
        weight=np.ones(len(statistic)),
    )
    variance = clustered_variance(Observations(status.conversation, status.annotator), influence, clusters)
    for at, pair in enumerate(pairs):
        yield _clustered_test(pair, variance, at)


def _clustered_test(pair: _Pair, known: ClusteredVariance, at: int) -> _Decision:
    uncertainty, clusters = known.uncertainty(at), known.clusters
    reason = pair.pooled.why_undecided() or uncertainty.reason
    if reason is not None:
        return _Decision(None, None, replace(uncertainty, standard_error=None, reason=reason), reason)
    # Under independence the score varies as much if the two do not differ; clusters cannot make it less.
    variance, least = float(known.variance[at]), pair.pooled.score_variance()
    if variance <= _NO_VARIANCE * least:
        flips = min(1.0, 2 * 0.5 ** pair.n_clusters(clusters))
        return _Decision(None, flips, replace(uncertainty, standard_error=None, degrees_of_freedom=None), None)
    statistic = pair.pooled.score**2 / max(variance, least)
    degrees = float(known.degrees[at])
    if clusters is not Clusters.NONE:
        # Satterthwaite's estimate is high where the variance of few clusters is low by chance: far in the tails, where
        # a family of many pairs is decided, that would count twice.
        degrees = min(degrees, max(0.5, float(known.n_clusters[at] - 1)))
    return _Decision(
        statistic=statistic,
        p_value=float(f_tails(statistic, 1, degrees)),
        uncertainty=replace(
            uncertainty, standard_error=float(np.sqrt(max(variance, least))), degrees_of_freedom=degrees
        ),
        reason=None,
    )


class _PooledPair:
    """Scores of two groups (2, times) under the survival curve that they share if they do not differ."""

    def __init__(self, inspected: FloatArray, spotted: FloatArray) -> None:
        self.inspected, self.spotted = inspected, spotted
        self.total = inspected.sum(axis=0)
        failure = isotonic_shares(spotted.sum(axis=0), self.total)
        # Where nobody or everybody was spotted the scores have the limit 0.
        inside = (failure > 0) & (failure < 1)
        f = np.where(inside, failure, 0.5)
        log_s = np.where(inside, np.log1p(-f), 0.0)
        self.if_spotted, self.if_not = -(1 - f) * log_s / f, log_s
        self.weight = (1 - f) * log_s**2 / f
        self.block = pooled_blocks(failure)
        group_scores = spotted * self.if_spotted + (inspected - spotted) * self.if_not
        self.score = float(group_scores[0].sum())

    def share_of_first(self) -> FloatArray:
        """Find the first group's share of the inspections, per time but over the block that the NPMLE pooled."""
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

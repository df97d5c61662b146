"""Which survival curves differ: the generalized log-rank test for each pair, on current-status data.

The module `log_rank_scores` computes the scores. The default variance lets inspections of one conversation and of one
annotator vary together. It is pooled if a family has at least three pairs (`log_rank_variance`). The statistic has the
distribution F(1, d), with the degrees of freedom d of the family. Without pooling, d is Satterthwaite's, at most the
number of clusters minus one.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import Final

import numpy as np

from spotthebot.analytics.stats.survival.curves import CurrentStatus
from spotthebot.analytics.stats.survival.log_rank_scores import ExactCurve, Pair, SharedCurve
from spotthebot.analytics.stats.survival.log_rank_variance import PairFamily, ScoredPair, clustered_scores
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.distributions import chi_square_tails, f_tails
from spotthebot.statistics.uncertainty import POOLED, ClusteredVariance, Clusters, Uncertainty


class LogRankVariance(StrEnum):
    """How the variance of the score is computed.

    `CLUSTERED` lets inspections of one conversation or one annotator vary together; only this test holds its level.
    `SCORE`, from the binomial model, and `PERMUTATION` assume independent rows. An annotator's habits make rows
    dependent, which raises a nominal 5 % to 12-20 % rejections. `ANNOTATOR` and `CONVERSATION` sum the scores of each
    cluster of one kind and use chi-squared, which is too strict or too lenient with few clusters.
    """

    CLUSTERED = "clustered"
    SCORE = "score"
    PERMUTATION = "permutation"
    ANNOTATOR = "annotator"
    CONVERSATION = "conversation"


@dataclass(frozen=True)
class LogRankTest:
    """The test of one pair. `estimate` is the score of `bot`; it is above 0 if `bot` is spotted sooner than `other`.

    `statistic` is the squared score, divided by its variance. It is F with 1 and the uncertainty's degrees of freedom,
    or chi-squared with one degree of freedom if the uncertainty has none. If the data allow no test, `statistic` and
    both p-values are None and `reason` says why. If all inspections of each bot had the same outcome, there is no
    variance to see: the p-value is that of the test that flips the sign of each cluster. `p_adjusted` is adjusted
    within `family`, in which `family_size` tests were possible.
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
    exact: bool = False,
) -> tuple[LogRankTest, ...]:
    """Compare every unordered pair of `names`. `clusters` is for the clustered variance.

    With `exact`, `time` is the exact time of a spotting, and the last time for all rows that were not spotted.

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
    variance = choice_of("variance", variance, LogRankVariance)
    clusters = choice_of("clusters", clusters, Clusters)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    curve, name = (ExactCurve, "log-rank") if exact else (SharedCurve, "generalized log-rank")
    inspected, spotted = (counts.astype(np.float64) for counts in status.counts())
    by_entity = np.split(np.argsort(status.entity, kind="stable"), np.cumsum(inspected.sum(axis=1)).astype(int)[:-1])
    pairs = (
        Pair.of(status, i, j, np.concatenate([by_entity[i], by_entity[j]]), curve(inspected[[i, j]], spotted[[i, j]]))
        for i, j in combinations(range(len(status.names)), 2)
    )
    if variance is LogRankVariance.CLUSTERED:
        scores = clustered_scores(status, pairs, clusters)
        found = [(pair, _clustered_test(pair, known, at)) for pair, known, at in scores]
    else:
        found = [(ScoredPair.of(status, pair), _independent_test(pair, variance)) for pair in pairs]
    tests = [
        LogRankTest(
            bot=status.names[pair.first],
            other=status.names[pair.second],
            estimate=pair.score,
            statistic=decided.statistic,
            p_value=decided.p_value,
            p_adjusted=None,
            n=pair.n,
            method=f"{name}, {variance} variance{_POOLED if decided.uncertainty.pooled else ''}",
            family=pair.family,
            family_size=0,
            adjustment=adjustment,
            uncertainty=decided.uncertainty,
            reason=decided.reason,
        )
        for pair, decided in found
    ]
    return _adjusted(tests, adjustment)


_POOLED: Final = f", {POOLED}"


def _adjusted(tests: list[LogRankTest], adjustment: Adjustment) -> tuple[LogRankTest, ...]:
    for family in PairFamily:
        members = [at for at, test in enumerate(tests) if test.family is family]
        p_values = np.array([np.nan if (p := tests[at].p_value) is None else p for at in members], dtype=np.float64)
        made = int(np.sum(~np.isnan(p_values)))
        for at, p_adjusted in zip(members, adjust(p_values, adjustment), strict=True):
            tests[at] = replace(tests[at], p_adjusted=defined(p_adjusted), family_size=made)
    return tuple(tests)


@dataclass(frozen=True)
class _Decision:
    statistic: float | None
    p_value: float | None
    uncertainty: Uncertainty
    reason: str | None


def _independent_test(pair: Pair, variance: LogRankVariance) -> _Decision:
    of = Clusters.NONE
    if variance is LogRankVariance.SCORE:
        spread = pair.shared.score_variance()
    elif variance is LogRankVariance.PERMUTATION:
        spread = pair.shared.permutation_variance()
    elif variance is LogRankVariance.ANNOTATOR:
        of, spread = Clusters.ANNOTATOR, pair.summed_variance(pair.annotator)
    else:
        of, spread = Clusters.CONVERSATION, pair.summed_variance(pair.conversation)
    reason = None if spread > 0 else pair.shared.why_undecided() or "all annotations are one cluster"
    statistic = pair.shared.score**2 / spread if spread > 0 else None
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


def _clustered_test(pair: ScoredPair, known: ClusteredVariance, at: int) -> _Decision:
    uncertainty = known.uncertainty(at)
    reason = pair.undecided or uncertainty.reason
    if reason is not None:
        return _Decision(None, None, replace(uncertainty, standard_error=None, reason=reason), reason)
    if pair.agreed_clusters is not None and uncertainty.pooled is None:
        flips = min(1.0, 2 * 0.5**pair.agreed_clusters)
        return _Decision(None, flips, replace(uncertainty, standard_error=None, degrees_of_freedom=None), None)
    statistic = pair.score**2 / float(known.variance[at])
    return _Decision(statistic, float(f_tails(statistic, 1, float(known.degrees[at]))), uncertainty, None)

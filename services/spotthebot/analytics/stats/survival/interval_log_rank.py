"""Tests whether groups of interval-censored times differ: generalized log-rank tests.

Every row gets a score under the distribution that all groups share. The statistic of a group is the sum of its rows'
scores. Sources: Finkelstein 1986 and Sun 1996 for the scores, Fay 1999 for the permutation form, Sun, Zhao & Zhao 2005
for weights, Zhao & Sun 2004 and Huang, Lee & Yu 2008 for multiple imputation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_resamples
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes, censored_times
from spotthebot.analytics.stats.survival.imputed_log_rank import imputed_log_rank
from spotthebot.analytics.stats.survival.interval_information import Link, cumulative_information, score_information
from spotthebot.analytics.stats.survival.npmle import Npmle, npmle
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.columns import read_numbers
from spotthebot.statistics.distributions import chi_square_tails
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.randomness import Seed, generator_of, seed_of


class RowScore(StrEnum):
    """The model of a row's score: proportional hazards, a discrete logistic hazard, or Wilcoxon's ranks."""

    FINKELSTEIN = "finkelstein"
    SUN = "sun"
    WILCOXON = "wilcoxon"


class ScoreVariance(StrEnum):
    """How the variance of a group's sum is computed.

    `PERMUTATION`, `SCORE` and `CUMULATIVE` are asymptotic. `SCORE` is the information about the groups, minus the part
    that is lost by estimating the hazards of cells with mass. `CUMULATIVE`, Finkelstein's form, subtracts the part of
    the cumulative hazards of all cells. `MONTE_CARLO` shuffles rows among groups. `ADDED` (Zhao & Sun) and `SUBTRACTED`
    (Huang, Lee & Yu) impute exact times; right-censored rows stay censored. `ADDED` adds the variance between
    imputations to the variance within, `SUBTRACTED` subtracts it.
    """

    PERMUTATION = "permutation"
    SCORE = "score"
    CUMULATIVE = "cumulative"
    MONTE_CARLO = "monte_carlo"
    ADDED = "added"
    SUBTRACTED = "subtracted"


@dataclass(frozen=True)
class IntervalLogRank:
    """The test of several groups. `scores` has the sum of the scores of each group's rows.

    A sum above 0 means that events happen sooner in this group. `statistic` is chi-squared with `degrees`. If there is
    no statistic, it and the p-values are None, and `reason` says why. The Monte Carlo test has only a p-value.
    """

    groups: tuple[str, ...]
    scores: tuple[float, ...]
    statistic: float | None
    degrees: int
    p_value: float | None
    p_adjusted: float | None
    n: int
    n_resamples: int
    method: str
    adjustment: Adjustment
    seed: int | None
    reason: str | None


def interval_log_rank(
    times: CensoredTimes,
    group: ArrayLike,
    names: Sequence[str],
    *,
    score: RowScore = RowScore.FINKELSTEIN,
    variance: ScoreVariance = ScoreVariance.SCORE,
    rho: float = 0.0,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> IntervalLogRank:
    """Compare all groups at once. `group` (n,) has codes, which are indices into `names`.

    Groups without rows are left out.

    `rho` weights Finkelstein's scores by S^rho, so that early differences count more. Raises `SettingOutOfRange`.

    >>> from spotthebot.analytics.stats.survival.censored_times import censored_times
    >>> times = censored_times([0, 0, 2, 2], [2, 2, float("inf"), float("inf")])
    >>> test = interval_log_rank(times, [0, 0, 1, 1], ["early", "late"], variance=ScoreVariance.PERMUTATION)
    >>> [round(each, 4) for each in test.scores], round(test.statistic, 4)  # 2 log 2; n - 1 = 3 of 3 as a correlation
    ([1.3863, -1.3863], 3.0)
    """
    score = choice_of("score", score, RowScore)
    variance = choice_of("variance", variance, ScoreVariance)
    require_resamples(n_resamples)
    if not 0 <= rho < np.inf or (rho and score is not RowScore.FINKELSTEIN):
        raise SettingOutOfRange(setting="rho", allowed="a number from 0, and 0 but for Finkelstein's scores", value=rho)
    _require_fitting(score, variance)
    codes = _codes(times, group)
    if codes.shape != (len(times),) or (len(codes) and (codes.min() < 0 or codes.max() >= len(names))):
        raise SettingOutOfRange(setting="group", allowed=f"{len(times)} codes of {len(names)} names", value=codes.shape)
    present, membership = np.unique(codes, return_inverse=True)
    known = tuple(names[code] for code in present)
    pooled = npmle(times)
    values = row_scores(times, pooled, score, rho)
    sums = np.bincount(membership, weights=values, minlength=len(known))
    statistic, p_value = _decide(times, pooled, values, membership, len(known), (score, variance), n_resamples, seed)
    return IntervalLogRank(
        groups=known,
        scores=tuple(sums.tolist()),
        statistic=statistic,
        degrees=max(0, len(known) - 1),
        p_value=p_value,
        p_adjusted=p_value,
        n=len(times),
        n_resamples=n_resamples,
        method=f"generalized log-rank, {score} scores, {variance} variance" + (f", rho {rho:g}" if rho else ""),
        adjustment=Adjustment.NONE,
        seed=seed_of(seed),
        reason=None if p_value is not None else _why(known, values),
    )


def interval_log_rank_pairs(
    times: CensoredTimes,
    group: ArrayLike,
    names: Sequence[str],
    *,
    score: RowScore = RowScore.FINKELSTEIN,
    variance: ScoreVariance = ScoreVariance.SCORE,
    adjustment: Adjustment = Adjustment.HOLM,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> tuple[IntervalLogRank, ...]:
    """Compare every two groups separately. All tests that are possible are one family for the adjustment.

    >>> from spotthebot.analytics.stats.survival.censored_times import censored_times
    >>> times = censored_times([0, 2, 0], [2, 4, 2])
    >>> [test.groups for test in interval_log_rank_pairs(times, [0, 1, 2], ["a", "b", "c"])]
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    score = choice_of("score", score, RowScore)
    variance = choice_of("variance", variance, ScoreVariance)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    codes = _codes(times, group)
    generator = generator_of(seed)
    tests = []
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            rows = (codes == i) | (codes == j)
            pair = subset(times, rows)
            tests.append(
                interval_log_rank(
                    pair, codes[rows], names, score=score, variance=variance, n_resamples=n_resamples, seed=generator
                )
            )
    p_values = np.array([np.nan if test.p_value is None else test.p_value for test in tests])
    adjusted = adjust(p_values, adjustment)
    return tuple(
        IntervalLogRank(
            **{
                **test.__dict__,
                "p_adjusted": None if np.isnan(p_adjusted) else float(p_adjusted),
                "adjustment": adjustment,
                "seed": seed_of(seed),
            }
        )
        for test, p_adjusted in zip(tests, adjusted, strict=True)
    )


def _codes(times: CensoredTimes, group: ArrayLike) -> IntArray:
    codes = read_numbers(group, "group", finite=True)
    if codes.shape != (len(times),) or np.any(codes % 1 != 0) or np.any(np.abs(codes) > len(times)):
        allowed = f"a column of {len(times)} codes of the groups, from 0"
        raise SettingOutOfRange(setting="group", allowed=allowed, value="others")
    return codes.astype(np.int64)


def subset(times: CensoredTimes, rows: BoolArray) -> CensoredTimes:
    """Return some rows. Their cells are computed only from these rows."""
    return censored_times(times.left[rows], times.right[rows])


def row_scores(times: CensoredTimes, pooled: Npmle, score: RowScore, rho: float = 0.0) -> FloatArray:
    """Return the score of each row (n,) under the pooled estimate.

    If rho is 0, the scores add up to 0, up to rounding.
    """
    survival = np.clip(1 - np.concatenate([[0.0], np.cumsum(pooled.mass)]), 0.0, 1.0)
    survival[-1] = 0.0
    before, after = survival[times.first], survival[times.last + 1]
    if score is RowScore.WILCOXON:
        ranks: FloatArray = before + after - 1
        return ranks
    if score is RowScore.SUN:
        hazards = np.divide(pooled.mass, survival[:-1], out=np.zeros(len(pooled.mass)), where=survival[:-1] > 0)
        logarithms = -np.concatenate([[0.0], np.cumsum(hazards)])
    else:
        logarithms = np.log(np.where(survival > 0, survival, 1.0)) * survival**rho
    weighted = survival * logarithms
    scores: FloatArray = (weighted[times.first] - weighted[times.last + 1]) / (before - after)
    return scores


def _require_fitting(score: RowScore, variance: ScoreVariance) -> None:
    asymptotic = {
        ScoreVariance.SCORE: (RowScore.FINKELSTEIN, RowScore.SUN),
        ScoreVariance.CUMULATIVE: (RowScore.FINKELSTEIN,),
    }
    if score not in asymptotic.get(variance, tuple(RowScore)):
        raise SettingOutOfRange(setting="variance", allowed=f"permutation or monte_carlo for {score}", value=variance)


def _decide(
    times: CensoredTimes,
    pooled: Npmle,
    values: FloatArray,
    membership: IntArray,
    k: int,
    how: tuple[RowScore, ScoreVariance],
    n_resamples: int,
    seed: Seed,
) -> tuple[float | None, float | None]:
    if k < 2 or np.ptp(values) < 1e-12:
        return None, None
    score, variance = how
    if variance in {ScoreVariance.ADDED, ScoreVariance.SUBTRACTED}:
        sums, covariance = imputed_log_rank(
            times, pooled, membership, k, n_resamples, seed, added=variance is ScoreVariance.ADDED
        )
        return _chi_squared(sums, covariance, k)
    sizes = np.bincount(membership, minlength=k).astype(np.float64)
    n, centred = len(values), values - values.mean()
    sums = np.bincount(membership, weights=centred, minlength=k).astype(np.float64)
    spread = float(np.sum(centred**2)) / (n - 1)
    covariance = (np.diag(sizes) - np.outer(sizes, sizes) / n) * spread
    if variance is ScoreVariance.MONTE_CARLO:
        observed, _ = _chi_squared(sums, covariance, k)
        generator, beyond = generator_of(seed), 0
        for _ in range(n_resamples):
            shuffled = np.bincount(generator.permutation(membership), weights=centred, minlength=k).astype(np.float64)
            again, _ = _chi_squared(shuffled, covariance, k)
            beyond += (again or 0.0) >= (observed or 0.0) * (1 - 1e-12)
        return None, (1 + beyond) / (1 + n_resamples)
    if variance is ScoreVariance.SCORE:
        link = Link.LOGIT if score is RowScore.SUN else Link.CLOGLOG
        covariance = score_information(times, pooled, membership, k, link)
    elif variance is ScoreVariance.CUMULATIVE:
        covariance = cumulative_information(times, pooled, membership, k)
    return _chi_squared(sums, covariance, k)


def _chi_squared(sums: FloatArray, covariance: FloatArray, k: int) -> tuple[float | None, float | None]:
    # Sums add up to 0, so the last group follows from the others.
    inside = covariance[:-1, :-1]
    if np.linalg.matrix_rank(inside) < k - 1:
        return None, None
    statistic = float(sums[:-1] @ np.linalg.solve(inside, sums[:-1]))
    return (statistic, float(chi_square_tails(statistic, k - 1))) if statistic >= 0 else (None, None)


def _why(groups: tuple[str, ...], values: FloatArray) -> str:
    if len(groups) < 2:
        return "fewer than two groups have rows"
    if not len(values) or np.ptp(values) < 1e-12:
        return "all rows score the same: nothing tells who was sooner"
    return "the variance of the statistic is not positive"

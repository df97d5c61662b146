"""Means over strata, such as the campaigns of several domains. Each stratum counts the same, however large it is.

The strata are fixed: a mean says nothing of other strata. Its variance is the sum of the variances within strata,
divided by the square of their number (Cochran 1977, section 5.4), and its degrees of freedom are Satterthwaite's
(1946). Strata that share annotators or conversations may err alike: their standard errors then add up, which is the
most that any correlation can give (Cauchy and Schwarz), with the fewest degrees of freedom of a stratum. If all
observations of a stratum agree, its variance is that of a share of 1 of 2 more clusters than it has.

Whether strata differ is Welch's (1951) test of several means, whose variances differ and are known from few clusters.
The variances of strata that share annotators or conversations count times the number of strata: no correlation makes
the strata differ more, since no eigenvalue of a matrix of correlations exceeds its size.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.share_intervals import share_bounds, share_tests
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.distributions import f_tails, student_tails
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, Uncertainty

METHOD: Final = "mean over campaigns, each with the same weight; variances within campaigns"
SHARED_METHOD: Final = (
    "mean over campaigns, each with the same weight; standard errors within campaigns add up, since campaigns share"
    " annotators or conversations"
)


@dataclass(frozen=True)
class Stratum:
    """An estimate from one stratum, of `n` observations. Without a standard error, `reason` says why.

    `conversations` and `annotators` count the clusters behind it.
    """

    estimate: float
    standard_error: float | None
    degrees_of_freedom: float | None
    n: int
    conversations: int
    annotators: int
    reason: str | None = None


@dataclass(frozen=True)
class StratifiedMean:
    """The mean over strata with its bounds.

    `p_value` is of the middle of the scale, two-sided; without a scale of 0. If any stratum has no standard error,
    there are neither bounds nor a p-value, and the reason is in `uncertainty`.
    """

    estimate: float
    low: float | None
    high: float | None
    p_value: float | None
    n: int
    uncertainty: Uncertainty


def mean_over_strata(
    strata: Sequence[Stratum],
    *,
    scale: tuple[float, float] | None = (0.0, 1.0),
    confidence_level: float = 0.95,
    clusters: Clusters = Clusters.BOTH,
    shared: bool = False,
) -> StratifiedMean:
    """Return the mean of the estimates of one or more strata. `scale` has the ends of what is estimated.

    `shared` says that strata share annotators or conversations. `clusters` is how the strata's standard errors were
    computed. On a scale, bounds are Wilson's for the effective number of observations, otherwise Student's. Raises
    `SettingOutOfRange`.

    >>> two = [Stratum(0.4, 0.06, 10.0, 60, 20, 11), Stratum(0.6, 0.08, 10.0, 40, 20, 11)]
    >>> found = mean_over_strata(two)
    >>> found.estimate, round(found.uncertainty.standard_error, 9)  # the root of (.06² + .08²) / 2²
    (0.5, 0.05)
    """
    require_confidence_level(confidence_level)
    clusters = choice_of("clusters", clusters, Clusters)
    if not strata:
        raise SettingOutOfRange(setting="strata", allowed="one or more", value="none")
    k, (lowest, highest) = len(strata), (0.0, 1.0) if scale is None else scale
    reach = highest - lowest
    estimate = np.array([np.mean([each.estimate for each in strata])])
    counts = {name: [getattr(each, name) for each in strata] for name in ("n", "conversations", "annotators")}
    totals = {name: sum(values) for name, values in counts.items()}
    reasons = [each.reason or "a campaign has no standard error" for each in strata if each.standard_error is None]
    if reasons:
        none = Uncertainty(None, None, totals["conversations"], totals["annotators"], clusters, reasons[0])
        return StratifiedMean(float(estimate[0]), None, None, None, totals["n"], none)
    parts, degrees = np.array([_part(each, clusters, scale) for each in strata]).T
    apart = 1 if shared else k
    worth = {
        name: np.array([int(k * apart / sum(1 / max(each, 1) for each in values))]) for name, values in counts.items()
    }
    total = np.sqrt(parts).sum() ** 2 if shared else parts.sum()
    fewest = shared or not parts.any()
    variance = ClusteredVariance(
        variance=np.array([total]) / (k * reach) ** 2,
        degrees=np.array([degrees.min() if fewest else total**2 / np.sum(parts**2 / degrees)]),
        n_conversations=worth["conversations"],
        n_annotators=worth["annotators"],
        clusters=clusters,
    )
    share = (estimate - lowest) / reach
    if scale is None:
        half = variance.quantiles(confidence_level) * np.sqrt(variance.variance)
        low, high = share - half, share + half
        known = variance.variance > 0
        statistic = np.divide(share, np.sqrt(variance.variance), out=np.full(1, np.nan), where=known)
        p_value = defined(2 * student_tails(np.abs(statistic), variance.degrees)[0])
    else:
        low, high = share_bounds(share, worth["n"], variance, confidence_level)
        p_value = defined(share_tests(share, worth["n"], variance)[1][0])
    uncertainty = variance.uncertainty(0)
    error = uncertainty.standard_error
    return StratifiedMean(
        estimate=float(estimate[0]),
        low=defined(lowest + reach * low[0]),
        high=defined(lowest + reach * high[0]),
        p_value=p_value,
        n=totals["n"],
        uncertainty=replace(
            uncertainty,
            standard_error=None if error is None else error * reach,
            conversations=totals["conversations"],
            annotators=totals["annotators"],
        ),
    )


def strata_differ(
    strata: Sequence[Stratum],
    *,
    scale: tuple[float, float] | None = (0.0, 1.0),
    clusters: Clusters = Clusters.BOTH,
    shared: bool = False,
) -> float | None:
    """Return the p-value of equal estimates of all strata; None of one stratum, or without all standard errors.

    The arguments are those of `mean_over_strata`. Raises `SettingOutOfRange`.

    >>> two = [Stratum(0.4, 0.06, 10.0, 60, 20, 11), Stratum(0.6, 0.08, 10.0, 40, 20, 11)]
    >>> round(strata_differ(two), 4)  # Welch's t: .2 over the root of .06² + .08², with 18.5 degrees of freedom
    0.0604
    """
    clusters, k = choice_of("clusters", clusters, Clusters), len(strata)
    if k < 2 or any(each.standard_error is None for each in strata):
        return None
    parts, degrees = np.array([_part(each, clusters, scale) for each in strata]).T
    if not parts.all():
        return None
    if shared:
        parts, degrees = parts * k, np.full(k, degrees.min())
    estimate, weight = np.array([each.estimate for each in strata]), 1 / parts
    share = weight / weight.sum()
    spread = float(np.sum(weight * (estimate - share @ estimate) ** 2)) / (k - 1)
    lack = float(np.sum((1 - share) ** 2 / degrees)) / (k**2 - 1)
    return float(f_tails(spread / (1 + 2 * (k - 2) * lack), k - 1, 1 / (3 * lack)))


def _part(stratum: Stratum, clusters: Clusters, scale: tuple[float, float] | None) -> tuple[float, float]:
    """Return the variance of a stratum's estimate and its degrees of freedom."""
    counts = {Clusters.BOTH: min(stratum.conversations, stratum.annotators), Clusters.ANNOTATOR: stratum.annotators}
    n = max(counts.get(clusters, stratum.conversations), 2)
    degrees = stratum.degrees_of_freedom or float(n - 1)
    if not stratum.standard_error and scale is not None:
        share = 1 / (n + 2)
        return share * (1 - share) / n * (scale[1] - scale[0]) ** 2, degrees
    return (stratum.standard_error or 0.0) ** 2, degrees

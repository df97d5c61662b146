"""Whether a judge's probabilities mean what they say: the Brier score with its parts, and the reliability curve.

Each label of a person is an observation. The Brier score (1950) is the mean of (p - y)², where y is 1 for the label
"human". Over bins of equal probability it is, exactly (Murphy 1973; Stephenson, Coelho & Jolliffe 2008):

    Brier = reliability - resolution + uncertainty + within

`reliability` is the weighted mean of the squared distance between a bin's mean probability and its share of "human";
`resolution` that of the squared distance between a bin's share and the share of all; `uncertainty` is the Brier score
of the share of all; `within` is what probabilities that differ within a bin add.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.judge_quality.clustered_means import ClusteredMean, clustered_means
from spotthebot.analytics.stats.judge_quality.columns import NOTHING, ScoredLabels
from spotthebot.analytics.stats.share_intervals import METHOD as SHARE_METHOD
from spotthebot.analytics.stats.share_intervals import share_bounds
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import clustered_variance, shares_of
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters, Uncertainty
from spotthebot.statistics.whole_numbers import is_whole

BINS: Final = 10
MAX_BINS: Final = 100


@dataclass(frozen=True)
class ReliabilityBin:
    """A bin of the reliability curve: `n` labels of units whose probabilities are from `lowest` to `highest`.

    `probability` is their mean probability, `estimate` their share of "human" with its bounds.
    """

    lowest: float
    highest: float
    probability: float
    n: int
    estimate: float
    low: float | None
    high: float | None
    uncertainty: Uncertainty


@dataclass(frozen=True)
class Calibration:
    """The Brier score with its parts, and the reliability curve, over `n` labels; `n_missing` labels were left out.

    `gain` is the Brier score of the constant share of all, minus that of the judge: below 0, the constant is better.
    `bias` is the mean probability minus the share of "human". `reliability_by_chance` is the expected reliability of a
    judge whose probabilities are right, for as many labels, conversations and annotators. Without labels, numbers are
    None and `reason` says why.
    """

    brier: ClusteredMean
    gain: ClusteredMean
    bias: ClusteredMean
    reliability: float | None
    reliability_by_chance: float | None
    resolution: float | None
    uncertainty: float | None
    within: float | None
    bins: tuple[ReliabilityBin, ...]
    n: int
    n_missing: int
    confidence_level: float
    method: str
    reason: str | None


def calibration(
    labels: ScoredLabels,
    *,
    bins: int = BINS,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> Calibration:
    """Return the calibration of a judge. Bins have about equally many labels; equal probabilities share a bin.

    Raises `SettingOutOfRange`.

    >>> four = np.arange(4)
    >>> said = ScoredLabels(four, four, four, np.array([0, 1, 0, 1]), np.array([0.2, 0.2, 0.8, 0.8]))
    >>> found = calibration(said, bins=2)  # (.04 + .64 + .64 + .04) / 4
    >>> round(found.brier.estimate, 2), round(found.reliability, 2), found.resolution, found.uncertainty
    (0.34, 0.09, 0.0, 0.25)
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    if not is_whole(bins, 1, MAX_BINS):
        raise SettingOutOfRange(setting="bins", allowed=f"a whole number from 1 to {MAX_BINS}", value=bins)
    kept = labels.select(labels.known)
    y, p = kept.human, kept.probability
    constant = float(y.mean()) if len(kept) else np.nan
    squares, together = (p - y) ** 2, np.zeros(len(kept), dtype=np.int64)
    brier, gain, bias = (
        clustered_means(kept.observations, together, each, 1, clusters=clusters, confidence_level=confidence_level)[0]
        for each in (squares, (constant - y) ** 2 - squares, p - y)
    )
    bin_of = _bins(p, bins)
    found = _curve(kept, bin_of, clusters, confidence_level)
    weight = np.array([each.n for each in found]) / max(len(kept), 1)
    apart = np.array([each.probability - each.estimate for each in found])
    share = np.array([each.estimate for each in found])
    chance = np.array([each.uncertainty.standard_error or 0.0 for each in found])
    reliability, resolution = float(weight @ apart**2), float(weight @ (share - constant) ** 2)
    spread = constant * (1 - constant)
    return Calibration(
        brier=brier,
        gain=gain,
        bias=bias,
        reliability=reliability if len(kept) else None,
        reliability_by_chance=float(weight @ chance**2) if len(kept) else None,
        resolution=resolution if len(kept) else None,
        uncertainty=defined(spread),
        within=None if brier.estimate is None else brier.estimate - reliability + resolution - spread,
        bins=found,
        n=len(kept),
        n_missing=len(labels) - len(kept),
        confidence_level=confidence_level,
        method=SHARE_METHOD,
        reason=None if len(kept) else NOTHING,
    )


def _bins(probability: FloatArray, bins: int) -> IntArray:
    """Return the bin of each label (n,). A probability is never split between two bins."""
    if not len(probability):
        return np.empty(0, dtype=np.int64)
    edges = np.quantile(probability, np.arange(1, bins) / bins, method="inverted_cdf")
    return np.unique(np.searchsorted(np.unique(edges), probability, side="left"), return_inverse=True)[1]


def _curve(labels: ScoredLabels, bin_of: IntArray, clusters: Clusters, level: float) -> tuple[ReliabilityBin, ...]:
    if not len(labels):
        return ()
    m = int(bin_of.max()) + 1
    share, n, influence = shares_of(bin_of, labels.human, m)
    variance = clustered_variance(labels.observations, influence, clusters)
    low, high = share_bounds(share, n, variance, level)
    of_bin = [labels.probability[bin_of == at] for at in range(m)]
    return tuple(
        ReliabilityBin(
            lowest=float(each.min()),
            highest=float(each.max()),
            probability=float(each.mean()),
            n=int(n[at]),
            estimate=float(share[at]),
            low=defined(low[at]),
            high=defined(high[at]),
            uncertainty=variance.uncertainty(at),
        )
        for at, each in enumerate(of_bin)
    )

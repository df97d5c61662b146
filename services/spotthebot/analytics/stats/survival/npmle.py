"""The nonparametric estimate of a distribution from interval-censored times, exact by its optimality conditions.

The method is a constrained Newton method (Wang 2007). Each step maximises the quadratic approximation at the current
estimate. It changes the masses of cells that have mass, and of cells that the gradient selects; masses are never
negative. The method ends when the Karush-Kuhn-Tucker conditions hold. The self-consistency algorithm (EM) would
approach them only slowly.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.errors import IntervalsMalformed
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes, coded_rows
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance
from spotthebot.statistics.columns import read_numbers
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

_ITERATIONS: Final = 200
_EXACT: Final = 1e-12
_NO_MASS: Final = 1e-14
_SUPPORT: Final = 1e-9
_TELLS: Final = 1e-6
_MAX_ROWS: Final = 2**53


@dataclass(frozen=True, eq=False)
class Npmle:
    """The masses (m,) of the cells (m, 2). The cells with mass are the support.

    `kkt` is the largest violation of the conditions for a maximum: a derivative of the log-likelihood in the direction
    of a cell, divided by the number of rows. It is 0 at the maximum. The data do not tell where the mass lies within a
    cell.
    """

    cells: FloatArray
    mass: FloatArray
    log_likelihood: float
    kkt: float
    iterations: int
    n: int
    method: str

    def survival(self, times: ArrayLike) -> FloatArray:
        """Return P(T > t) for times (k,). The mass of a cell counts at its right end."""
        at = np.searchsorted(self.cells[:, 1], read_numbers(times, "times"), side="right")
        left: FloatArray = 1 - np.concatenate([[0.0], np.cumsum(self.mass)])[at]
        return np.clip(left, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class SurvivalBand:
    """S(t) at `times` (k,), with bounds (k,) for each single point. Bounds are NaN if `uncertainty` has a reason.

    Between two inspections the data do not tell where S(t) falls: the estimate is NaN there. The lower bound is taken
    from the inspection after t, the upper bound from the inspection before t. `uncertainty` is taken from the
    inspection after t.
    """

    times: FloatArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    uncertainty: tuple[Uncertainty, ...]
    confidence_level: float
    n: int
    method: str


def npmle(times: CensoredTimes, *, weights: FloatArray | None = None) -> Npmle:
    """Estimate the masses of all cells. With `weights` (n,) a row counts more than once, or not at all.

    Raises `IntervalsMalformed` and `ColumnMalformed`.

    >>> from spotthebot.analytics.stats import censored_times
    >>> found = npmle(censored_times([0, 0, 2], [2, 2, float("inf")]))  # two of three by time 2
    >>> found.cells.tolist(), found.mass.round(6).tolist()
    ([[0.0, 2.0], [2.0, inf]], [0.666667, 0.333333])
    """
    counts = np.ones(len(times)) if weights is None else read_numbers(weights, "weights", finite=True)
    if counts.shape != (len(times),) or np.any((counts < 0) | (counts > _MAX_ROWS)) or counts.sum() > _MAX_ROWS:
        raise IntervalsMalformed(fault=f"weights must be {len(times)} numbers from 0, together {_MAX_ROWS:,} at most")
    first, last, counts = _distinct(times, counts)
    m, n = len(times.cells), float(counts.sum())
    if not n:
        return Npmle(times.cells, np.zeros(m), 0.0, 0.0, 0, 0, "no rows")
    mass = np.full(m, 1 / m)
    iterations = 0
    gradient = _gradient(first, last, counts, mass) / n - 1
    while _missed(mass, gradient) > _EXACT and iterations < _ITERATIONS:
        mass = _improved(first, last, counts, mass, gradient)
        gradient = _gradient(first, last, counts, mass) / n - 1
        iterations += 1
    return Npmle(
        cells=times.cells,
        mass=mass,
        log_likelihood=_log_likelihood(first, last, counts, mass),
        kkt=max(0.0, _missed(mass, gradient)),
        iterations=iterations,
        n=int(n) if n == int(n) else len(times),
        method="NPMLE by constrained Newton",
    )


def survival_band(
    times: CensoredTimes,
    at: ArrayLike,
    *,
    observations: Observations | None = None,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> SurvivalBand:
    """Estimate S(t) at the times `at` (k,), with bounds for rows (n,) whose `observations` share `clusters`.

    Without `observations`, rows count as independent. The variance treats the cells with mass as fixed. This is exact
    for inspections at a few times. For inspections at any time the estimate converges at a slower rate, and 95 % bounds
    cover 94 to 98 % in simulation (`benchmarks/analytics/coverage/bands.py`). Raises `SettingOutOfRange`,
    `IntervalsMalformed` and `ColumnMalformed`.

    >>> from spotthebot.analytics.stats import censored_times
    >>> band = survival_band(censored_times([0, 0, 2], [2, 2, float("inf")]), [2.0])  # one of three
    >>> band.estimate.round(6).tolist(), round(band.uncertainty[0].standard_error ** 2, 6)  # p (1 - p) / (n - 1)
    ([0.333333], 0.111111)
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    moments = read_numbers(at, "at")
    if moments.ndim != 1:
        raise SettingOutOfRange(setting="at", allowed="a column of times", value=f"of shape {moments.shape}")
    if np.any(np.isnan(moments)) or np.any(moments < 0):
        raise SettingOutOfRange(setting="at", allowed="0 or more", value="missing or below 0")
    n = len(times)
    if observations is None:
        observations, clusters = Observations(np.arange(n), np.arange(n)), Clusters.NONE
    observations = coded_rows(n, observations)
    inspected = np.append(_inspections(times), np.inf)
    after, before = np.searchsorted(inspected, moments), np.searchsorted(inspected, moments, side="right") - 1
    needed = np.union1d(after, before[before >= 0])
    found = _points(times, inspected[needed], observations, clusters, confidence_level)
    to_after, to_before = np.searchsorted(needed, after), np.searchsorted(needed, np.maximum(before, 0))
    low, high = found.low[to_after], found.high[np.minimum(to_before, len(needed) - 1)]
    # Before the first inspection S(t) may be 1.
    high = np.where(before < 0, np.where(np.isnan(low), np.nan, 1.0), high)
    return replace(
        found,
        times=moments,
        estimate=np.where(inspected[after] == moments, found.estimate[to_after], np.nan),
        low=low,
        high=high,
        uncertainty=tuple(found.uncertainty[point] for point in to_after.tolist()),
    )


def _points(
    times: CensoredTimes,
    moments: FloatArray,
    observations: Observations,
    clusters: Clusters,
    confidence_level: float,
) -> SurvivalBand:
    """Return S(t) with bounds at times of inspections (k,). After the last time, at infinity, S(t) is 0."""
    found, n, k = npmle(times), len(times), len(moments)
    estimate = found.survival(moments) if n else np.full(k, np.nan)
    value = _survival_influence(times, found, moments)
    # Rows without information about a moment do not count for its estimate; if S(t) is certain, all rows count.
    row, entry = np.nonzero(np.abs(value) >= _TELLS * np.abs(value).max(initial=0.0, axis=0))
    influence = Influence(
        n_statistics=k,
        statistic=entry,
        observation=row,
        ratio=entry,
        value=value[row, entry],
        weight=np.ones(len(row)),
    )
    variance = clustered_variance(observations, influence, clusters)
    low, high = share_bounds(estimate, np.bincount(entry, minlength=k), variance, confidence_level)
    return SurvivalBand(
        times=moments,
        estimate=estimate,
        low=low,
        high=high,
        uncertainty=tuple(variance.uncertainty(point) for point in range(k)),
        confidence_level=confidence_level,
        n=n,
        method=f"NPMLE by constrained Newton; {METHOD}",
    )


def _inspections(times: CensoredTimes) -> FloatArray:
    """Return the times of inspections, ascending: the ends of the intervals."""
    exact = np.nextafter(times.left, np.inf) >= times.right
    ends = np.concatenate([times.left[~exact], times.right])
    return np.unique(ends[np.isfinite(ends)])


def _survival_influence(times: CensoredTimes, found: Npmle, moments: FloatArray) -> FloatArray:
    """Return the influence (n, k) of each row on S(t) at each moment: the row's score times the inverse information."""
    if not len(times):
        return np.zeros((0, len(moments)))
    support = np.flatnonzero(found.mass > _SUPPORT)
    covered = (times.first[:, None] <= support) & (support <= times.last[:, None])
    rows = covered / (covered @ found.mass[support])[:, None]
    # Masses sum to 1, so their changes sum to 0.
    inside = np.linalg.svd(np.ones((1, len(support))))[2][1:].T
    scores = rows @ inside
    after = (found.cells[support, 1] > moments[:, None]) @ inside
    influence: FloatArray = scores @ np.linalg.pinv(scores.T @ scores, hermitian=True) @ after.T
    certain = np.minimum(found.survival(moments), 1 - found.survival(moments)) < _EXACT
    influence[:, certain] = 0.0
    return influence


def _distinct(times: CensoredTimes, counts: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    m = max(1, len(times.cells))
    runs, code = np.unique(times.first * m + times.last, return_inverse=True)
    weights = np.bincount(code, weights=counts, minlength=len(runs)).astype(np.float64)
    kept = weights > 0
    return runs[kept] // m, runs[kept] % m, weights[kept]


def _probabilities(first: IntArray, last: IntArray, mass: FloatArray) -> FloatArray:
    below = np.concatenate([[0.0], np.cumsum(mass)])
    probabilities: FloatArray = below[last + 1] - below[first]
    return probabilities


def _log_likelihood(first: IntArray, last: IntArray, counts: FloatArray, mass: FloatArray) -> float:
    with np.errstate(divide="ignore"):
        return float(counts @ np.log(np.maximum(_probabilities(first, last, mass), 0.0)))


def _gradient(first: IntArray, last: IntArray, counts: FloatArray, mass: FloatArray) -> FloatArray:
    pull = counts / _probabilities(first, last, mass)
    steps = np.zeros(len(mass) + 1)
    np.add.at(steps, first, pull)
    np.subtract.at(steps, last + 1, pull)
    gradient: FloatArray = np.cumsum(steps)[:-1]
    return gradient


def _missed(mass: FloatArray, gradient: FloatArray) -> float:
    """Return the amount by which the conditions for a maximum are violated.

    Mass that is added to any cell must not raise the likelihood, and the gradient must be 0 at a cell with mass.
    """
    return float(max(gradient.max(), np.abs(gradient * mass).max()))


def _improved(
    first: IntArray, last: IntArray, counts: FloatArray, mass: FloatArray, gradient: FloatArray
) -> FloatArray:
    # Cells with mass, and local peaks of a positive gradient: only these can gain mass.
    raised = np.concatenate([[-np.inf], gradient, [-np.inf]])
    peaks = (gradient > 0) & (gradient >= raised[:-2]) & (gradient >= raised[2:])
    cells = np.flatnonzero((mass > _NO_MASS) | peaks)
    covered = (first[:, None] <= cells) & (cells <= last[:, None])
    scaled = covered * (np.sqrt(counts) / _probabilities(first, last, mass))[:, None]
    curvature = scaled.T @ scaled
    curvature[np.diag_indices_from(curvature)] *= 1 + 1e-13
    n = counts.sum()
    target = 2 * (gradient[cells] + 1) * n - n
    moved = np.zeros(len(mass))
    moved[cells] = _non_negative_maximum(curvature, target)
    moved /= moved.sum()
    return _line_search(first, last, counts, mass, moved)


def _non_negative_maximum(curvature: FloatArray, target: FloatArray) -> FloatArray:
    """Maximise target'x - x'curvature x / 2 over x >= 0."""
    values, vectors = np.linalg.eigh(curvature)
    kept = values > values[-1] * 1e-13
    root = np.sqrt(values[kept])
    found: FloatArray = scipy.optimize.nnls((vectors[:, kept] * root).T, vectors[:, kept].T @ target / root)[0]
    return found


def _line_search(
    first: IntArray, last: IntArray, counts: FloatArray, mass: FloatArray, moved: FloatArray
) -> FloatArray:
    before = _log_likelihood(first, last, counts, mass)
    length = 1.0
    while length > 1e-12:
        candidate = mass + length * (moved - mass)
        candidate[candidate < _NO_MASS] = 0.0
        candidate /= candidate.sum()
        # At the maximum a step gains less than the likelihood's last digit.
        if _log_likelihood(first, last, counts, candidate) >= before - 1e-13 * abs(before):
            return candidate
        length /= 2
    return mass

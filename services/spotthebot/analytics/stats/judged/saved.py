"""The share of people's labels that a judge saves, with an interval."""

from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.judged.correction import Control
from spotthebot.statistics.uncertainty import ClusteredVariance

_GRID: Final = 50
_TOO_LARGE: Final = 1.25
"""People's variance is 1.1 to 1.3 times the true one in simulation, as a jackknife's is (Efron & Stein 1981)."""


def saved_shares(
    control: Control, people: ClusteredVariance, corrected: ClusteredVariance, confidence_level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the shares (m,) of people's labels that give people alone the error of the corrected estimate, and bounds.

    The share is 1 - (variance of the corrected estimate) / (people's variance). If people's variance falls as 1 /
    (number of labels), people alone need 1 / (1 - share) times their labels for the corrected estimate's error. Bounds
    combine the error of the slope with that of people's variance, which has few degrees of freedom: quantiles of (slope
    + its error z)² Var(D) / (variance * degrees / chi²) over a grid of z and chi². A slope beyond 0 counts as 0. The
    degrees are the estimate's own where design effects were pooled: estimates of a family save unequal shares. The
    upper bound is `_TOO_LARGE` times its quantile. The lower bound also subtracts the cost of a useless slope, its
    error² Var(D). All are NaN where the variance is unknown. `benchmarks/analytics/judges` measures what they hold.
    """
    variance, degrees = people.variance, people.degrees
    if people.pooled is not None:
        degrees = np.fmin(degrees, people.pooled.own_degrees)
    tail, at = (1 - confidence_level) / 2, (np.arange(_GRID) + 0.5) / _GRID
    known = variance > 0
    worth = np.divide(control.variance, variance, out=np.full(len(variance), np.nan), where=known)
    share = np.divide(corrected.variance, variance, out=np.full(len(variance), np.nan), where=known)
    slopes = np.abs(control.slope)[:, None] + control.slope_error[:, None] * scipy.special.ndtri(at)
    spread = scipy.special.chdtri(degrees[:, None], at) / degrees[:, None]
    shares = (worth[:, None] * np.maximum(slopes, 0.0) ** 2)[:, :, None] * spread[:, None, :]
    low, high = np.quantile(shares.reshape(len(variance), _GRID**2), [tail, 1 - tail], axis=1)
    low = low - control.slope_error**2 * worth
    useless = np.isnan(control.slope) & (worth == 0)
    low, high = np.where(useless, 0.0, low), np.where(useless, 0.0, high)
    return 1 - share, np.minimum(low, 1 - share), np.clip(_TOO_LARGE * high, 1 - share, 1.0)

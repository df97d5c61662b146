"""The share of people's labels that a judge saves, with an interval."""

from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.judged.correction import Control
from spotthebot.analytics.stats.uncertainty import ClusteredVariance

_GRID: Final = 80


def saved_shares(
    control: Control, people: ClusteredVariance, corrected: ClusteredVariance, confidence_level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the shares (m,) of people's labels that give people alone the error of the corrected estimate, and bounds.

    The share is 1 - (variance of the corrected estimate) / (people's variance). If people's variance falls as 1 /
    (number of labels), people alone need 1 / (1 - share) times their labels for the corrected estimate's error. Bounds
    combine the error of the slope with that of people's variance, which has few degrees of freedom: quantiles of (slope
    + its error z)² Var(D) / (variance * degrees / chi²) over a grid of z and chi². A slope beyond 0 counts as 0. The
    lower bound also subtracts the cost of a useless slope, its error² Var(D). All are NaN where the variance is
    unknown.
    """
    variance, degrees = people.variance, people.degrees
    m = len(variance)
    known = variance > 0
    at = (np.arange(_GRID) + 0.5) / _GRID
    normal = scipy.special.ndtri(at)
    estimate, low, high = (np.full(m, np.nan) for _ in range(3))
    tail = (1 - confidence_level) / 2
    of_judge = control.variance
    for s in np.flatnonzero(known).tolist():
        estimate[s] = 1 - corrected.variance[s] / variance[s]
        if np.isnan(control.slope[s]):
            low[s] = high[s] = 0.0 if of_judge[s] <= 0 else np.nan
            continue
        chi = scipy.special.chdtri(degrees[s], at) / degrees[s]
        slopes = np.maximum(abs(control.slope[s]) + control.slope_error[s] * normal, 0.0) ** 2
        shares = np.outer(slopes, chi) * (of_judge[s] / variance[s])
        low[s], high[s] = np.quantile(shares, [tail, 1 - tail])
        low[s] -= control.slope_error[s] ** 2 * of_judge[s] / variance[s]
    return estimate, np.minimum(low, estimate), np.clip(high, estimate, 1.0)

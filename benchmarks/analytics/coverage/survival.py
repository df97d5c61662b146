"""Survival curves, log-rank tests and Cox coefficients: what holds in a campaign whose truth is known."""

import numpy as np

from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.survival.cox import StandardErrors, cox_regressions
from spotthebot.analytics.stats.survival.curves import CurrentStatus, survival_curves
from spotthebot.analytics.stats.survival.log_rank import LogRankVariance, log_rank_tests
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.clustered_campaigns import Setting, draw_hazards, draw_status

COEFFICIENTS = np.array([-0.5, 0.0, 0.4])
_BASE = np.array([0.35, 0.45, 0.55])


def tally(setting: Setting, seed: int) -> Tallies:
    """Draw three campaigns, with different bots, with equal ones and with features that matter; count what holds."""
    truth, equal = chances_of(setting.k), np.tile(_BASE, (setting.k, 1))
    curves = draw_status(setting, truth, np.random.default_rng([1, seed]))
    alike = draw_status(setting, equal, np.random.default_rng([2, seed]))
    hazards = draw_hazards(setting, equal, COEFFICIENTS, np.random.default_rng([3, seed]))
    return {
        "survival curves": curves_held(curves, 1 - truth),
        "Cox coefficients": cox_held(hazards, COEFFICIENTS),
        "log-rank, any false difference": (int(false_difference(alike)), 1),
    }


def chances_of(k: int) -> FloatArray:
    """Return how likely each of k bots (k, times) is spotted; they differ by a factor of about three."""
    hazards = np.exp(np.linspace(-0.6, 0.6, k))[:, None] * -np.log1p(-_BASE)
    chances: FloatArray = -np.expm1(-hazards)
    return chances


def curves_held(status: CurrentStatus, survival: FloatArray, clusters: Clusters = Clusters.BOTH) -> tuple[int, int]:
    """Count the points of all curves whose interval holds the true `survival` (k, times), and all with an interval."""
    bounds = [
        (low, high, survival[code, np.searchsorted(status.times, time)])
        for code, curve in enumerate(survival_curves(status, clusters=clusters))
        for time, low, high in zip(curve.times, curve.low, curve.high, strict=True)
        if low is not None and high is not None
    ]
    return sum(low <= truth <= high for low, high, truth in bounds), len(bounds)


def false_difference(status: CurrentStatus, variance: LogRankVariance = LogRankVariance.CLUSTERED) -> bool:
    """Tell whether any pair of equal bots is significant at 5 % after Holm."""
    tests = log_rank_tests(status, variance=variance)
    return any(test.p_adjusted is not None and test.p_adjusted < 0.05 for test in tests)


def cox_held(
    status: CurrentStatus, coefficients: FloatArray, standard_errors: StandardErrors = StandardErrors.CLUSTERED
) -> tuple[int, int]:
    """Count the bots' coefficients whose interval holds the true one, and all with an interval."""
    bounds = [
        (found.low, found.high, truth)
        for fit in cox_regressions(status, standard_errors=standard_errors)
        for found, truth in zip(fit.coefficients, coefficients.tolist(), strict=True)
        if found.low is not None and found.high is not None
    ]
    return sum(low <= truth <= high for low, high, truth in bounds), len(bounds)

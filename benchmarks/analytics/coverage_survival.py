"""What the intervals and tests of survival hold where annotations share conversations and annotators who differ.

`python -m benchmarks.analytics.coverage_survival [--simulations N]`: campaigns are drawn whose truth is known. Of
survival curves and Cox coefficients the share of nominal 95 % intervals is counted that hold the truth; of log-rank
tests the share of campaigns with equal bots in which Holm's procedure leaves any pair significant at 5 %.
"""

import argparse

import numpy as np

from spotthebot.analytics.stats import (
    Clusters,
    CurrentStatus,
    FloatArray,
    LogRankVariance,
    StandardErrors,
    cox_regressions,
    log_rank_tests,
    survival_curves,
)
from tests.factories.clustered_campaigns import SETTINGS, Setting, draw_hazards, draw_status

COEFFICIENTS = np.array([-0.5, 0.0, 0.4])
_BASE = np.array([0.35, 0.45, 0.55])
_COLUMNS = ("Bots", "Conversations per pair", "Annotators", "ICC", "Taste", "S(k)", "Log-rank, false", "Cox")
_BEFORE = ("S(k), annotations independent", "Log-rank, score test", "Cox, standard errors of the model")


def main() -> None:
    """Print the table, with what the same data give if annotations are taken for independent."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage_survival")
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--bots", type=int, choices=sorted({each.k for each in SETTINGS}), help="only so many")
    arguments = parser.parse_args()
    columns = (*_COLUMNS, *_BEFORE)
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")  # noqa: T201 - the table is the output
    for setting in SETTINGS:
        if arguments.bots in {None, setting.k}:
            print(row(setting, arguments.simulations), flush=True)  # noqa: T201 - the table is the output


def row(setting: Setting, simulations: int) -> str:
    """Return one row: coverage of curves, share of campaigns with a false difference, coverage of coefficients."""
    truth, equal = chances_of(setting.k), np.tile(_BASE, (setting.k, 1))
    held, false, counted = np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2))
    for seed in range(simulations):
        curves = draw_status(setting, truth, np.random.default_rng([1, seed]))
        alike = draw_status(setting, equal, np.random.default_rng([2, seed]))
        hazards = draw_hazards(setting, equal, COEFFICIENTS, np.random.default_rng([3, seed]))
        for at, honest in enumerate((True, False)):
            for kind, found in enumerate(
                (
                    curves_held(curves, 1 - truth, Clusters.BOTH if honest else Clusters.NONE),
                    cox_held(hazards, COEFFICIENTS, StandardErrors.CLUSTERED if honest else StandardErrors.MODEL),
                )
            ):
                held[at, kind] += found[0]
                counted[at, kind] += found[1]
            false[at] += false_difference(alike, LogRankVariance.CLUSTERED if honest else LogRankVariance.SCORE)
    shares = held / np.maximum(counted, 1)
    cells = [
        setting.k,
        setting.per_pair,
        setting.annotators,
        f"{setting.correlation:g}",
        "yes" if setting.taste else "no",
    ]
    for at in range(2):
        cells += [f"{shares[at, 0]:.1%}", f"{false[at] / simulations:.1%}", f"{shares[at, 1]:.1%}"]
    return f"| {' | '.join(map(str, cells))} |"


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


if __name__ == "__main__":
    main()

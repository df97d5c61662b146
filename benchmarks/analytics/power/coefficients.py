"""How often the Cox test finds a feature that matters, beside an oracle, and how often one that does not.

`python -m benchmarks.analytics.power.coefficients [--simulations N] [--first-seed S]`. Each fit tests each feature
by itself, so the oracle does, too: it divides an estimate by its true standard deviation, and 1.96 is enough.
"""

import argparse
from collections.abc import Sequence
from dataclasses import astuple

import numpy as np

from benchmarks.analytics.power.cells import BALANCED
from benchmarks.analytics.power.oracle import LEVEL
from spotthebot.analytics.stats.survival.cox import cox_regressions
from spotthebot.statistics.distributions import student_quantiles
from tests.factories.clustered_campaigns import Setting, draw_hazards

_CHANCES = np.array([0.35, 0.45, 0.55])
COEFFICIENTS = np.array([0.0, 0.25, 0.25])
"""Log hazard ratios of the three features: the first has no part."""


def power_of(setting: Setting, simulations: int, first_seed: int = 0) -> dict[str, float]:
    """Return the shares of coefficients that the oracle and the test tell from 0, and of those that are 0."""
    cell = list(BALANCED).index(setting)
    chances = np.tile(_CHANCES, (setting.k, 1))
    estimates, p_values = np.full((2, simulations, setting.k, len(COEFFICIENTS)), np.nan)
    for at in range(simulations):
        status = draw_hazards(setting, chances, COEFFICIENTS, np.random.default_rng([36, cell, first_seed + at]))
        for bot, fit in enumerate(cox_regressions(status)):
            for feature, found in enumerate(fit.coefficients):
                if found.estimate is not None and found.p_value is not None:
                    estimates[at, bot, feature], p_values[at, bot, feature] = found.estimate, found.p_value
    beyond = np.abs(estimates) / np.nanstd(estimates, axis=0) > student_quantiles(1 - LEVEL / 2, np.inf)
    has_part = COEFFICIENTS != 0
    return {
        "oracle": float(np.mean(beyond[..., has_part])),
        "found": float(np.mean(p_values[..., has_part] < LEVEL)),
        "false": float(np.mean(p_values[..., ~has_part] < LEVEL)),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, each row when it is counted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.power.coefficients")
    parser.add_argument("--simulations", type=int, default=400, help="campaigns a cell")
    parser.add_argument("--first-seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    _say(["Bots, conversations a pair, annotators", "Oracle", "Found", "False"])
    _say(["---"] * 4)
    for setting in BALANCED:
        k, per_pair, annotators, *_ = astuple(setting)
        cell = power_of(setting, chosen.simulations, chosen.first_seed)
        shares = [f"{cell['oracle']:.3f}", f"{cell['found'] / cell['oracle']:.2f}", f"{cell['false']:.1%}"]
        _say([f"{k}, {per_pair}, {annotators}", *shares])


def _say(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()

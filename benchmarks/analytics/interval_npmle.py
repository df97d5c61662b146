"""The NPMLE of 1,000 general intervals against self-consistency (EM), both in numpy."""

import numpy as np

from benchmarks.analytics.measurement import Measurement, timed
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes, censored_times
from spotthebot.analytics.stats.survival.npmle import npmle

ROWS = 1000
_LARGEST_KKT = 1e-8
_MAX_ITERATIONS = 200_000
TOY = {"ROWS": 20}


def measure() -> list[Measurement]:
    """Estimate from times seen at four moments each; EM goes on until it misses the optimality conditions by 1e-8."""
    rng = np.random.default_rng(0)
    happened = rng.weibull(1.5, ROWS) * 10
    seen = np.sort(rng.uniform(0, 25, (ROWS, 4)), axis=1)
    left = np.where(seen < happened[:, None], seen, 0).max(axis=1)
    right = np.where(seen >= happened[:, None], seen, np.inf).min(axis=1)
    times = censored_times(left, right)
    found, seconds = timed(lambda: npmle(times), repeats=5)
    (mass, kkt, iterations), rival = timed(lambda: _em(times))
    below = np.concatenate([[0.0], np.cumsum(mass)])
    gained = found.log_likelihood - float(np.log(below[times.last + 1] - below[times.first]).sum())
    return [
        Measurement(
            work=f"NPMLE of {ROWS:,} general intervals, {len(times.cells)} cells",
            rival=f"EM to a KKT residual of {kkt:.0e} ({iterations:,} iterations)",
            seconds=seconds,
            rival_seconds=rival,
            scaled="",
            agreement=f"KKT residual {found.kkt:.0e}; log-likelihood {gained:+.1e} over EM's",
            goal=">= 20x, KKT-exact",
            reached=rival / seconds >= 20 and found.kkt < 1e-9,
        )
    ]


def _em(times: CensoredTimes) -> tuple[FloatArray, float, int]:
    m, n = len(times.cells), len(times)
    mass = np.full(m, 1 / m)
    for iteration in range(1, _MAX_ITERATIONS + 1):
        below = np.concatenate([[0.0], np.cumsum(mass)])
        pull = 1 / (below[times.last + 1] - below[times.first])
        steps = np.bincount(times.first, pull, m + 1) - np.bincount(times.last + 1, pull, m + 1)
        gradient = np.cumsum(steps)[:-1] / n
        missed = float(max(gradient.max() - 1, np.abs((gradient - 1) * mass).max()))
        if missed < _LARGEST_KKT:
            return mass, missed, iteration
        mass = mass * gradient
    return mass, missed, _MAX_ITERATIONS

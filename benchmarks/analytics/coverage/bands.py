"""Survival bands on inspection times, between them and beyond them: how often the bounds hold the true S(t).

`python -m benchmarks.analytics.coverage.bands [--simulations N]`. Each side of an annotation has a time at which it is
spotted. A design says at which times it is inspected, and so between which two its time is known to lie.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np

from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.survival.censored_times import censored_times
from spotthebot.analytics.stats.survival.npmle import SurvivalBand, survival_band
from spotthebot.statistics.clustered_variance import Observations
from tests.factories.clustered_campaigns import Seen, Setting, draw_seen

LENGTHS: Final[FloatArray] = np.array([2.0, 3.0, 5.0])
_LAST: Final = 12.0
SETTINGS: Final = tuple(
    Setting(4, 15, annotators, correlation, taste=correlation > 0)
    for annotators in (6, 12, 40)
    for correlation in (0.0, 0.18)
)
_Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
DESIGNS: Final[dict[str, tuple[_Draw, FloatArray]]] = {
    # By name: the inspections (..., m) of rows, and the times at which bounds are asked for.
    "one of three lengths": (
        lambda rng, shape: LENGTHS[rng.integers(3, size=(*shape, 1))],
        np.array([1.0, 2.0, 2.01, 2.5, 2.99, 3.0, 3.01, 4.0, 4.99, 5.0, 8.0]),
    ),
    "two of three lengths": (
        lambda rng, shape: LENGTHS[rng.permuted(np.broadcast_to(np.arange(3), (*shape, 3)), axis=-1)[..., :2]],
        np.array([1.0, 2.0, 2.01, 2.5, 2.99, 3.0, 3.01, 4.0, 4.99, 5.0, 8.0]),
    ),
    "one of twelve lengths": (
        lambda rng, shape: rng.integers(1, 13, size=(*shape, 1)).astype(np.float64),
        np.array([2.0, 2.5, 4.0, 4.5, 8.0, 8.5, 12.0]),
    ),
    "any one time": (lambda rng, shape: rng.uniform(0, _LAST, (*shape, 1)), np.array([2.0, 4.0, 8.0])),
    "any two times": (lambda rng, shape: rng.uniform(0, _LAST, (*shape, 2)), np.array([2.0, 4.0, 8.0])),
}


def survival(times: FloatArray) -> FloatArray:
    """Return the true S(t): Weibull, .84 by time 2, .62 by 4 and .26 by 8."""
    chances: FloatArray = np.exp(-((times / 6.5) ** 1.5))
    return chances


def band(seen: Seen, code: int, inspections: FloatArray, at: FloatArray) -> SurvivalBand:
    """Return the band of one bot, from inspections (n, 2, m) of both sides of each annotation."""
    row, side = np.nonzero(seen.entity == code)
    own = np.sort(inspections[row, side], axis=-1)
    spotted = seen.probability[row, side][:, None] <= 1 - survival(own)
    ends = np.column_stack([np.zeros(len(own)), own, np.full(len(own), np.inf)])
    first = np.where(spotted.any(axis=1), np.argmax(spotted, axis=1), own.shape[1])
    rows = np.arange(len(own))
    times = censored_times(ends[rows, first], ends[rows, first + 1])
    return survival_band(times, at, observations=Observations(seen.conversation[row], seen.annotator[row]))


def tally(setting: Setting, seed: int) -> Tallies:
    """Count the bounds of all bots that hold the true S(t), by design, on its inspection times and off them."""
    seen = draw_seen(setting, np.random.default_rng(seed))
    tallies: Tallies = {}
    for place, (name, (draw, at)) in enumerate(DESIGNS.items()):
        inspections = draw(np.random.default_rng([seed, place]), seen.entity.shape)
        truth = survival(at)
        counts = {"on": np.zeros(2, dtype=np.int64), "off": np.zeros(2, dtype=np.int64)}
        for code in range(setting.k):
            found = band(seen, code, inspections, at)
            held = (found.low <= truth) & (truth <= found.high)
            known, on = ~np.isnan(found.low), ~np.isnan(found.estimate)
            counts["on"] += [np.sum(held & on), np.sum(known & on)]
            counts["off"] += [np.sum(held & ~on), np.sum(known & ~on)]
        for where, (holds, of) in counts.items():
            if of:
                tallies[f"{name}, {where}"] = (int(holds), int(of))
    return tallies


def _lines(simulations: int) -> Iterator[str]:
    for setting in SETTINGS:
        held, counted = defaultdict[str, int](int), defaultdict[str, int](int)
        for seed in range(simulations):
            for kind, (holds, of) in tally(setting, seed).items():
                held[kind] += holds
                counted[kind] += of
        shown = ", ".join(f"{kind} {held[kind] / counted[kind]:.1%}" for kind in held)
        yield f"{setting.annotators} annotators, ICC {setting.correlation:g}: {shown}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage.bands")
    parser.add_argument("--simulations", type=int, default=100, help="campaigns a cell")
    for line in _lines(parser.parse_args().simulations):
        print(line, flush=True)  # noqa: T201 - the rows are the output

"""False alarms of the gate between two equal versions of a bot, and its power beside an oracle.

`python -m benchmarks.fed.coverage.gate [--simulations N] [--processes N]`. Two versions hold the same planned
conversations: each opening with each partner. A score has effects of the opening, of the version with the opening, and
of the dialogue; the versions share the first. "Skewed": of logarithms with a standard deviation of 0.7. "Half alike":
both versions give the same replies after half of the openings. An alarm is an upper bound below 0. The oracle knows the
standard deviation of the mean difference; Welch's one-sided test ignores the pairs and the openings. "At detectable":
the power if the loss is the median of the detectable losses that reports name.
"""

import argparse
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from benchmarks.tables import markdown_table
from spotthebot.fed.stats.paired_difference import PairedDifference, paired_difference
from spotthebot.statistics.arrays import FloatArray, IntArray

_LEVEL: Final = 0.05
_RESAMPLES: Final = 1000
_OPENING, _WITH_VERSION = 0.4, 0.1
"""The shares of the variance that are of openings, and of versions with openings."""
KINDS: Final = ("false alarms", "Welch, false", "power", "Welch", "oracle", "detectable", "at detectable")


@dataclass(frozen=True)
class Planned:
    """A plan: openings, partners, the shape of scores, and the loss of the new version in standard deviations."""

    openings: int
    partners: int
    shape: str
    loss: float

    @property
    def columns(self) -> tuple[str, ...]:
        return str(self.openings), str(self.partners), self.shape, f"{self.loss:.1f}"

    def draw(self, chance: np.random.Generator) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the scores of the new and of the old version, and the opening of each pair."""
        opening = np.repeat(np.arange(self.openings), self.partners)
        shared = np.sqrt(_OPENING) * chance.normal(size=self.openings)
        own = np.sqrt(_WITH_VERSION) * chance.normal(size=(2, self.openings))
        noise = np.sqrt(1 - _OPENING - _WITH_VERSION) * chance.normal(size=(2, len(opening)))
        scores = (shared + own)[:, opening] + noise
        if self.shape == "skewed":
            scores = np.exp(0.7 * scores)
        if self.shape == "half alike":
            scores[1] = np.where(chance.random(self.openings)[opening] < 0.5, scores[0], scores[1])
        return scores[0], scores[1], opening


def shares_of(task: tuple[Planned, int]) -> dict[str, float]:
    """Return the share of alarms between equal versions and after a loss, and the median detectable loss."""
    cell, simulations = task
    drawn = [cell.draw(np.random.default_rng([seed, 43])) for seed in range(2 * simulations)]
    found = [_found(*each, seed) for seed, each in enumerate(drawn)]
    equal, lost = found[:simulations], found[simulations:]
    welch = np.array([scipy.stats.ttest_ind(new, old, equal_var=False).statistic for new, old, _ in drawn])
    spread = np.array([scipy.stats.ttest_ind(new, old, equal_var=False).df for new, old, _ in drawn])
    errors = np.array([np.hypot(scipy.stats.sem(new), scipy.stats.sem(old)) for new, old, _ in drawn])
    critical = -scipy.stats.t.ppf(1 - _LEVEL, spread)
    detectable = float(np.median([each.detectable for each in equal if each.detectable is not None]))
    oracle = float(np.quantile([each.estimate for each in equal], _LEVEL))
    return {
        "false alarms": _alarms(equal, 0.0),
        "Welch, false": float(np.mean((welch < critical)[:simulations])),
        "power": _alarms(lost, cell.loss),
        "Welch": float(np.mean((welch - cell.loss / errors < critical)[simulations:])),
        "oracle": float(np.mean([each.estimate - cell.loss < oracle for each in lost])),
        "detectable": detectable,
        "at detectable": _alarms(lost, detectable),
    }


def _found(new: FloatArray, old: FloatArray, opening: IntArray, seed: int) -> PairedDifference:
    return paired_difference(new, old, np.arange(len(new)), opening, n_resamples=_RESAMPLES, seed=seed)


def _alarms(found: Sequence[PairedDifference], loss: float) -> float:
    """Return the share of upper bounds below 0 if each new score were lower by `loss`, which only moves the bounds."""
    return float(np.mean([each.high is not None and each.high - loss < 0 for each in found]))


CELLS: Final = tuple(
    Planned(openings, partners, shape, loss)
    for shape in ("normal", "skewed", "half alike")
    for openings, partners, loss in ((8, 1, 0.8), (10, 5, 0.4), (20, 1, 0.5), (20, 5, 0.3), (50, 4, 0.2), (200, 2, 0.1))
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fed.coverage.gate")
    parser.add_argument(
        "--simulations", type=int, default=1000, help="runs of equal versions, and after a loss, a cell"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="processes at once")
    chosen = parser.parse_args(arguments)
    with ProcessPoolExecutor(chosen.processes) as pool:
        found = pool.map(shares_of, [(cell, chosen.simulations) for cell in CELLS])
        rows = [
            [
                *cell.columns,
                *(f"{shares[kind]:.2f}" if kind == "detectable" else f"{shares[kind]:.1%}" for kind in KINDS),
            ]
            for cell, shares in zip(CELLS, found, strict=True)
        ]
    print(markdown_table(("Openings", "Partners", "Scores", "Loss", *KINDS), rows), flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()

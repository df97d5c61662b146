"""Errors and power of the test of unfair pools, and whether rates of stable orders hold for new dialogues.

`python -m benchmarks.fed.coverage.pools [--simulations N] [--processes N]`. All-play-all of six bots and two that
resemble the first, the unfavoured one. A dialogue's score is the bot's level, an effect of the dialogue that both bots
share, and noise. "As they are": the unfavoured bot's scores do not depend on the partner; any flip is chance. "Alike":
it loses half a standard deviation with similar bots. McNemar's exact one-sided test of the same table stands beside.
The oracle knows the standard deviation of the mean gain of the lead. The second table compares the rate of the
commonest order in samples of the collected dialogues with the share of new collections that have their commonest order.
"""

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import scipy

from benchmarks.tables import markdown_table
from spotthebot.fed.stats.order_stability import order_stability
from spotthebot.fed.stats.unfair_pools import unfair_pool
from spotthebot.statistics.arrays import FloatArray, IntArray

_BOTS: Final = ("u", "b", "c", "d", "e", "f", "s", "t")
_SIMILAR: Final = ("s", "t")
_LEVEL: Final = 0.05
_LOSS: Final = 0.5
_SHARED: Final = 0.2
_RESAMPLES: Final = 500
POOLS: Final = ("net flips", "McNemar", "any favoured bot (Holm)", "mean gain (oracle)")


@dataclass(frozen=True)
class Play:
    """Dialogues of each pair, the distance between the levels of neighbouring bots, and the loss with similar bots."""

    dialogues: int
    step: float
    loss: float

    @property
    def columns(self) -> tuple[str, ...]:
        return str(self.dialogues), f"{self.step:.2f}", f"{self.loss:.1f}"

    def draw(self, chance: np.random.Generator) -> tuple[FloatArray, list[str], list[str], IntArray]:
        """Return scores, bots, partners and dialogues; the unfavoured bot is in the middle of the others."""
        first, second = (np.repeat(each, self.dialogues) for each in np.triu_indices(len(_BOTS), 1))
        levels = self.step * np.array([0.0, -2.5, -1.5, -0.5, 0.5, 1.5, 0.0, 0.0])
        shared = np.sqrt(_SHARED) * chance.normal(size=len(first))
        bot, partner = np.concatenate([first, second]), np.concatenate([second, first])
        scores = levels[bot] + np.tile(shared, 2) + np.sqrt(1 - _SHARED) * chance.normal(size=len(bot))
        scores -= self.loss * ((bot == 0) & (partner >= len(_BOTS) - len(_SIMILAR)))
        names = np.array(_BOTS)
        return scores, names[bot].tolist(), names[partner].tolist(), np.tile(np.arange(len(first)), 2)


def claims_of(task: tuple[Play, int]) -> dict[str, float]:
    """Return how often each test claims that flips are more than chance, at 5 %."""
    cell, simulations = task
    claims: dict[str, list[bool]] = {name: [] for name in POOLS[:3]}
    gains: dict[float, list[float]] = {0.0: [], cell.loss: []}
    for loss, own in gains.items():
        for seed in range(simulations):
            drawn = Play(cell.dialogues, cell.step, loss).draw(np.random.default_rng([seed, 7, int(10 * loss)]))
            found = unfair_pool(*drawn, unfavoured="u", similar=_SIMILAR, n_resamples=_RESAMPLES, seed=seed)
            own.append(float(np.mean([each.unfair_lead - each.fair_lead for each in found.bots])))
            if loss == cell.loss:
                to, away = found.count(fair=False, unfair=True), found.count(fair=True, unfair=False)
                claims["net flips"].append(found.p_value < _LEVEL)
                mcnemar = scipy.stats.binomtest(to, to + away, alternative="greater").pvalue if to + away else 1.0
                claims["McNemar"].append(mcnemar < _LEVEL)
                claims["any favoured bot (Holm)"].append(min(each.p_adjusted for each in found.bots) < _LEVEL)
    critical = float(np.quantile(gains[0.0], 1 - _LEVEL))
    shares = {name: float(np.mean(each)) for name, each in claims.items()}
    return shares | {POOLS[3]: float(np.mean(np.array(gains[cell.loss]) > critical))}


@dataclass(frozen=True)
class Order:
    """Bots, collected dialogues of each pair, the size of samples, and the distance between neighbouring bots."""

    bots: int
    collected: int
    size: int
    step: float

    @property
    def columns(self) -> tuple[str, ...]:
        return str(self.bots), str(self.collected), str(self.size), f"{self.step:.2f}"

    def draw(self, dialogues: int, seed: list[int]) -> tuple[Any, ...]:
        """Return scores, bots, partners and dialogues without the similar bots; of three bots those from b to d."""
        chosen = _BOTS[:6] if self.bots == 6 else _BOTS[1:4]
        columns = [*map(np.array, Play(dialogues, self.step, 0.0).draw(np.random.default_rng(seed)))]
        kept = np.isin(columns[1], chosen) & np.isin(columns[2], chosen)
        return tuple(each[kept] for each in columns)


def rates_of(task: tuple[Order, int]) -> dict[str, float]:
    """Return the mean rate that collections report, and the share of new collections with their commonest order."""
    cell, simulations = task
    reported = []
    orders: Counter[tuple[int, ...]] = Counter()
    for seed in range(simulations):
        drawn = cell.draw(cell.collected, [seed, 11])
        reported.append(order_stability(*drawn, sizes=[cell.size], n_samples=200, seed=seed).points[0].estimate)
    for seed in range(20 * simulations):
        scores, bots, *_ = cell.draw(cell.size, [seed, 13])
        orders[tuple(np.argsort([scores[bots == bot].mean() for bot in np.unique(bots)]).tolist())] += 1
    return {"reported": float(np.mean(reported)), "true": max(orders.values()) / (20 * simulations)}


PLAYS: Final = tuple(Play(n, step, loss) for loss in (0.0, _LOSS) for step in (0.0, 0.1, 0.3) for n in (10, 40))
ORDERS: Final = tuple(
    Order(bots, collected, size, step)
    for bots in (6, 3)
    for step in (0.0, 0.1, 0.3, 0.6)
    for collected, size in ((10, 10), (40, 10), (40, 40))
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fed.coverage.pools")
    parser.add_argument("--simulations", type=int, default=1000, help="samples a cell of the first table")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="processes at once")
    chosen = parser.parse_args(arguments)
    with ProcessPoolExecutor(chosen.processes) as pool:
        claims = pool.map(claims_of, [(cell, chosen.simulations) for cell in PLAYS])
        rates = pool.map(rates_of, [(cell, max(1, chosen.simulations // 5)) for cell in ORDERS])
        _print(("Dialogues of a pair", "Step", "Loss", *POOLS), [each.columns for each in PLAYS], claims)
        _print(("Bots", "Collected", "Size", "Step", "reported", "true"), [each.columns for each in ORDERS], rates)


def _print(names: Sequence[str], cells: Sequence[tuple[str, ...]], found: Iterable[dict[str, float]]) -> None:
    rows = [
        [*columns, *(f"{share:.1%}" for share in shares.values())] for columns, shares in zip(cells, found, strict=True)
    ]
    print(markdown_table(names, rows), flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()

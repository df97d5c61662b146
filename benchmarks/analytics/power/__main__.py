"""How many pairs of bots are told apart, beside an oracle, and how often equal bots are.

`python -m benchmarks.analytics.power [--simulations N] [--first-seed S] [--only balanced|hard] [--json FILE]`.
"Alone" takes each pair as if there were no other, whose variance is then its own, and adjusts as the suite does.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.analytics.power.cells import BALANCED, HARD, balanced, equals, hard
from benchmarks.analytics.power.oracle import LEVEL, power_of_oracle
from spotthebot.analytics.stats import (
    Games,
    IntArray,
    PairComparison,
    PairTest,
    adjust,
    pair_tests,
    play_games,
    rank_bots,
)
from spotthebot.analytics.stats.wins import games_between
from tests.factories.clustered_campaigns import Setting

TESTS = ("pooled", "alone", "sign")


class Claims(NamedTuple):
    """What one campaign tells: the pairs (P,) that each test tells apart, estimates, and differences behind ranks."""

    pairs: dict[str, list[bool]]
    estimates: list[float]
    rates: list[float]
    by_ranks: int
    held: dict[str, int]
    widths: dict[str, float]


def tell(games: Games) -> Claims:
    """Make every test of one campaign; of equal bots, `held` counts the intervals of pairs that hold even odds."""
    ranking = rank_bots(games, n_resamples=1)
    alone = [_alone(games, pair) for pair in np.array(np.triu_indices(len(games.bots), 1)).T]
    found = {
        "pooled": [each.p_adjusted for each in pair_tests(games)],
        "alone": adjust(np.array([each.p_value for each, _, _ in alone], dtype=float)).tolist(),
        "sign": [each.p_adjusted for each in pair_tests(games, test=PairTest.SIGN)],
    }
    bounds = {
        "pooled": [(pair.low, pair.high) for pair in ranking.pairs],
        "alone": [(low, high) for _, low, high in alone],
    }
    known = {
        test: [(low, high) for low, high in each if low is not None and high is not None]
        for test, each in bounds.items()
    }
    rates = {bot.bot: bot.estimate for bot in ranking.bots}
    return Claims(
        pairs={test: [p is not None and p < LEVEL for p in each] for test, each in found.items()},
        estimates=[0.5 if pair.estimate is None else pair.estimate for pair in ranking.pairs],
        rates=[rates[name] or 0.5 for name in games.bots],
        by_ranks=sum((bot.rank_low or 1) - 1 for bot in ranking.bots),
        held={test: sum(low <= 0.5 <= high for low, high in each) for test, each in known.items()},
        widths={test: float(np.mean([high - low for low, high in each] or [np.nan])) for test, each in known.items()},
    )


def _alone(games: Games, pair: IntArray) -> tuple[PairComparison, float | None, float | None]:
    between = games_between(games, pair)
    (test,), (interval,) = pair_tests(between), rank_bots(between, n_resamples=1).pairs
    return test, interval.low, interval.high


def power_of(setting: Setting, simulations: int, first_seed: int = 0) -> dict[str, float]:
    """Return the shares of a balanced cell: what each test and the oracle tell, false claims, coverage and width."""
    claims = {
        equal: [
            tell(play_games(balanced(setting, BALANCED[setting], first_seed + at, equal=equal)))
            for at in range(simulations)
        ]
        for equal in (True, False)
    }
    first, second = np.triu_indices(setting.k, 1)
    pairs = {equal: np.array([each.estimates for each in found]) - 0.5 for equal, found in claims.items()}
    rates = {equal: np.array([each.rates for each in found]) for equal, found in claims.items()}
    gaps = {equal: found[:, first] - found[:, second] for equal, found in rates.items()}
    n = len(first)
    result = {
        "oracle: pairs": power_of_oracle(pairs[True], pairs[False]),
        "oracle: ranks": power_of_oracle(gaps[True], gaps[False]),
        "ranks": float(np.mean([each.by_ranks for each in claims[False]])) / n,
        "ranks: false": float(np.mean([each.by_ranks > 0 for each in claims[True]])),
    }
    for test in TESTS:
        result[test] = float(np.mean([each.pairs[test] for each in claims[False]]))
        result[f"{test}: false"] = float(np.mean([any(each.pairs[test]) for each in claims[True]]))
    for test in ("pooled", "alone"):
        result[f"{test}: coverage"] = float(np.mean([each.held[test] for each in claims[True]])) / n
        result[f"{test}: width"] = float(np.nanmean([each.widths[test] for each in claims[True]]))
    return result


def level_of(name: str, simulations: int, first_seed: int = 0) -> dict[str, float]:
    """Return in which shares of the campaigns of a hard cell each test tells equal bots apart."""
    alike = equals(HARD[name])
    found = [tell(play_games(hard(HARD[name], first_seed + at))).pairs for at in range(simulations)]
    return {test: float(np.mean([np.any(np.array(each[test])[alike]) for each in found])) for test in TESTS}


def _count(task: tuple[str, int, int, int]) -> dict[str, float]:
    kind, at, simulations, first_seed = task
    if kind == "hard":
        return level_of([*HARD][at], simulations, first_seed)
    return power_of([*BALANCED][at], simulations, first_seed)


def _lines(found: dict[str, list[dict[str, float]]]) -> Iterator[str]:
    if "balanced" in found:
        yield (
            "| Bots, conversations a pair, annotators | Oracle: pairs | Pooled | Alone | False, pooled | Alone"
            " | Oracle: ranks | Ranks | Coverage, pooled | Alone | Width, pooled / alone |"
        )
        yield "|---" * 11 + "|"
        for setting, cell in zip(BALANCED, found["balanced"], strict=True):
            k, per_pair, annotators, *_ = astuple(setting)
            oracle, ranks = cell["oracle: pairs"], cell["oracle: ranks"]
            shown = [
                f"{k}, {per_pair}, {annotators}",
                f"{oracle:.3f}",
                *(f"{cell[test] / oracle:.2f}" for test in ("pooled", "alone")),
                *(f"{cell[f'{test}: false']:.1%}" for test in ("pooled", "alone")),
                f"{ranks:.3f}",
                f"{cell['ranks'] / ranks:.2f}",
                *(f"{cell[f'{test}: coverage']:.1%}" for test in ("pooled", "alone")),
                f"{cell['pooled: width'] / cell['alone: width']:.2f}",
            ]
            yield f"| {' | '.join(shown)} |"
    if "hard" in found:
        yield f"\n| Equal bots: any false claim | {' | '.join(TESTS)} |\n{'|---' * (len(TESTS) + 1)}|"
        for name, cell in zip(HARD, found["hard"], strict=True):
            yield f"| {name} | {' | '.join(f'{cell[test]:.1%}' for test in TESTS)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.power")
    parser.add_argument("--simulations", type=int, default=400, help="campaigns a cell")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", choices=["balanced", "hard"])
    parser.add_argument("--json", type=Path, help="write the shares to this file")
    chosen = parser.parse_args(arguments)
    kinds = [chosen.only] if chosen.only else ["balanced", "hard"]
    cells = {"balanced": len(BALANCED), "hard": len(HARD)}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        running = {
            kind: [pool.submit(_count, (kind, at, chosen.simulations, chosen.first_seed)) for at in range(cells[kind])]
            for kind in kinds
        }
        found = {kind: [each.result() for each in tasks] for kind, tasks in running.items()}
    for line in _lines(found):
        print(line, flush=True)  # noqa: T201 - the table is the output
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

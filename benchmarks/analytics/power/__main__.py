"""How many pairs of bots are told apart, beside an oracle, and how often equal bots are.

`python -m benchmarks.analytics.power [--simulations N] [--first-seed S] [--only balanced|hard] [--json FILE]`.
"Pooled" are the tests of pairs; "alone" takes each pair as if there were no other, whose variance is then its own, and
adjusts as the suite does. "Ranks" test differences of mean win rates, "strengths" test differences of Bradley-Terry
strengths, "log-rank" tests survival.
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
from spotthebot.analytics.stats.annotations import AnnotationTable, IntArray
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.share_intervals import share_tests
from spotthebot.analytics.stats.significance import PairComparison, PairTest, pair_tests
from spotthebot.analytics.stats.strength_ranks import StrengthVariance
from spotthebot.analytics.stats.survival.curves import current_status
from spotthebot.analytics.stats.survival.log_rank import log_rank_tests
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import Games, games_between, play_games
from spotthebot.statistics.adjustment import adjust
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.clustered_campaigns import Setting

_DESIGN = "Bots, conversations a pair, annotators"
TESTS = ("pooled", "alone", "sign", "ranks", "strengths", "log-rank")
FAMILIES = {"pooled": "pairs", "ranks": "ranks", "strengths": "strengths", "log-rank": "log-rank"}
"""The estimates that each test is of; the oracle takes the same estimates."""


class Claims(NamedTuple):
    """What one campaign tells of all pairs (P,): which are told apart by each test, and the estimates of families.

    Of equal bots, `held` counts the intervals of pairs that hold even odds.
    """

    found: dict[str, list[bool]]
    estimates: dict[str, list[float]]
    held: dict[str, int]
    widths: dict[str, float]


def tell(table: AnnotationTable) -> Claims:
    """Make every test of one campaign."""
    games = play_games(table)
    ranking = rank_bots(games, n_resamples=1)
    pairs = np.array(np.triu_indices(len(games.bots), 1))
    alone = [_alone(games, pair) for pair in pairs.T]
    means = WinRateVariance(games).differences(*pairs)
    leads, of_strengths = StrengthVariance(games, Clusters.BOTH).differences(*pairs)
    survival = log_rank_tests(current_status(table))
    found = {
        "pooled": [each.p_adjusted for each in pair_tests(games)],
        "alone": adjust(np.array([each.p_value for each, _, _ in alone], dtype=float)).tolist(),
        "sign": [each.p_adjusted for each in pair_tests(games, test=PairTest.SIGN)],
        "ranks": adjust(share_tests(*means)[1]).tolist(),
        "strengths": adjust(
            2 * student_tails(np.abs(leads) / np.sqrt(of_strengths.variance), of_strengths.degrees)
        ).tolist(),
        "log-rank": [each.p_adjusted for each in survival],
    }
    bounds = {
        "pooled": [(pair.low, pair.high) for pair in ranking.pairs],
        "alone": [(low, high) for _, low, high in alone],
    }
    known = {
        test: [(low, high) for low, high in each if low is not None and high is not None]
        for test, each in bounds.items()
    }
    return Claims(
        found={test: [p is not None and p < LEVEL for p in each] for test, each in found.items()},
        estimates={
            "pairs": [0.0 if pair.estimate is None else pair.estimate - 0.5 for pair in ranking.pairs],
            "ranks": np.nan_to_num(means.share - 0.5).tolist(),
            "strengths": leads.tolist(),
            "log-rank": [each.estimate for each in survival],
        },
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
        equal: [tell(balanced(setting, BALANCED[setting], first_seed + at, equal=equal)) for at in range(simulations)]
        for equal in (True, False)
    }
    n = setting.k * (setting.k - 1) // 2
    result = {}
    for family in FAMILIES.values():
        alike, apart = (np.array([each.estimates[family] for each in claims[equal]]) for equal in (True, False))
        result[f"oracle: {family}"] = power_of_oracle(alike, apart)
    for test in TESTS:
        result[test] = float(np.mean([each.found[test] for each in claims[False]]))
        result[f"{test}: false"] = float(np.mean([any(each.found[test]) for each in claims[True]]))
    for test in ("pooled", "alone"):
        result[f"{test}: coverage"] = float(np.mean([each.held[test] for each in claims[True]])) / n
        result[f"{test}: width"] = float(np.nanmean([each.widths[test] for each in claims[True]]))
    return result


def level_of(name: str, simulations: int, first_seed: int = 0) -> dict[str, float]:
    """Return in which shares of the campaigns of a hard cell each test tells equal bots apart."""
    alike = equals(HARD[name])
    found = [tell(hard(HARD[name], first_seed + at)).found for at in range(simulations)]
    return {test: float(np.mean([np.any(np.array(each[test])[alike]) for each in found])) for test in TESTS}


def _count(task: tuple[str, int, int, int]) -> dict[str, float]:
    kind, at, simulations, first_seed = task
    if kind == "hard":
        return level_of([*HARD][at], simulations, first_seed)
    return power_of([*BALANCED][at], simulations, first_seed)


def _lines(found: dict[str, list[dict[str, float]]]) -> Iterator[str]:
    if "balanced" in found:
        cells = [(_name(setting), cell) for setting, cell in zip(BALANCED, found["balanced"], strict=True)]
        yield f"| {_DESIGN} | Oracle | Pooled | Alone | False, pooled | Alone | Coverage | Alone | Width / alone |"
        yield "|---" * 9 + "|"
        for name, cell in cells:
            shown = [
                name,
                f"{cell['oracle: pairs']:.3f}",
                *(f"{cell[test] / cell['oracle: pairs']:.2f}" for test in ("pooled", "alone")),
                *(f"{cell[f'{test}: false']:.1%}" for test in ("pooled", "alone")),
                *(f"{cell[f'{test}: coverage']:.1%}" for test in ("pooled", "alone")),
                f"{cell['pooled: width'] / cell['alone: width']:.2f}",
            ]
            yield f"| {' | '.join(shown)} |"
        others = [(test, family) for test, family in FAMILIES.items() if family != "pairs"]
        yield f"\n| {_DESIGN} | {' | '.join(f'Oracle: {family} | Found | False' for _, family in others)} |"
        yield "|---" * (1 + 3 * len(others)) + "|"
        for name, cell in cells:
            shown = [name]
            for test, family in others:
                oracle = cell[f"oracle: {family}"]
                shown += [f"{oracle:.3f}", f"{cell[test] / oracle:.2f}", f"{cell[f'{test}: false']:.1%}"]
            yield f"| {' | '.join(shown)} |"
    if "hard" in found:
        yield f"\n| Equal bots: any false claim | {' | '.join(TESTS)} |\n{'|---' * (len(TESTS) + 1)}|"
        for name, cell in zip(HARD, found["hard"], strict=True):
            yield f"| {name} | {' | '.join(f'{cell[test]:.1%}' for test in TESTS)} |"


def _name(setting: Setting) -> str:
    k, per_pair, annotators, *_ = astuple(setting)
    return f"{k}, {per_pair}, {annotators}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
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

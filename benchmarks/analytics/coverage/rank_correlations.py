"""Rank correlations of bots' ratings with their fooling rates: coverage of intervals, false claims and power.

`python -m benchmarks.analytics.coverage.rank_correlations [--simulations N]`: each bot has a quality and a humanness,
normal numbers with a correlation. People who chat rate quality from 1 to 5, others label sides; each has a leniency and
a taste for each bot, and sees some of the bots. The truth is the rank correlation over very many bots. Power is the
share of correlations above 0 that are claimed, next to an oracle's who knows how rho varies without a relation.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.statistics.rank_correlation import RankCorrelation, rank_correlation

LENIENCY: Final = 0.7
TASTE: Final = 0.4
_PER_BOT: Final = 40
_MANY: Final = 300
_CAMPAIGNS: Final = 60


@dataclass(frozen=True)
class Setting:
    """How many bots and annotators there are, and the correlation of the bots' quality with their humanness."""

    bots: int
    annotators: int
    relation: float


SETTINGS: Final = tuple(Setting(n, who, r) for n in (5, 8, 16) for who in (8, 40) for r in (0.0, 0.6, 0.9))


def draw(setting: Setting, chance: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the mean ratings and the fooling rates (bots,) of one campaign over rated chats."""
    own = chance.normal(size=(2, setting.bots))
    own[1] = setting.relation * own[0] + np.sqrt(1 - setting.relation**2) * own[1]
    points, labels = (_seen(setting, values, chance) for values in own)
    rated = np.clip(np.rint(3 + points), 1, 5)
    return rated.mean(axis=1), (labels > 0).mean(axis=1)


def _seen(setting: Setting, values: FloatArray, chance: np.random.Generator) -> FloatArray:
    """Return what people see (bots, answers): each answer is of one of the annotators, drawn with unequal shares."""
    share = chance.dirichlet(np.full(setting.annotators, 2.0))
    who = chance.choice(setting.annotators, size=(setting.bots, _PER_BOT), p=share)
    taste = chance.normal(0, TASTE, (setting.bots, setting.annotators))
    found: FloatArray = values[:, None] + chance.normal(0, LENIENCY, setting.annotators)[who]
    return found + np.take_along_axis(taste, who, axis=1) + chance.normal(size=who.shape)


@cache
def truth(setting: Setting) -> float:
    """Return the mean rank correlation of campaigns of very many bots, each with as many annotators."""
    large = replace(setting, bots=_MANY)
    found = [rank_correlation(*draw(large, np.random.default_rng([at, 17]))).estimate for at in range(_CAMPAIGNS)]
    return float(np.mean(np.array(found, dtype=np.float64)))


def found_in(setting: Setting, seed: int) -> RankCorrelation:
    """Return the correlation of one campaign."""
    return rank_correlation(*draw(setting, np.random.default_rng([seed, 18])))


def shares(setting: Setting, simulations: int) -> tuple[float, float, float, float]:
    """Return the coverage, the mean width, the share of p below 5 %, and the oracle's power."""
    found = [found_in(setting, seed) for seed in range(simulations)]
    bounds = [(each.low, each.high) for each in found if each.low is not None and each.high is not None]
    held = [low <= truth(setting) <= high for low, high in bounds]
    nothing = [
        found_in(replace(setting, relation=0.0), seed + simulations).estimate or 0.0 for seed in range(simulations)
    ]
    above = np.abs([each.estimate or 0.0 for each in found]) > np.quantile(np.abs(nothing), 0.95)
    width = np.mean([high - low for low, high in bounds])
    claims = np.mean([(1.0 if each.p_value is None else each.p_value) < 0.05 for each in found])
    return float(np.mean(held)), float(width), float(claims), float(above.mean())


def lines(simulations: int) -> Iterator[str]:
    """Yield the rows of a table, one for each setting."""
    for setting in SETTINGS:
        coverage, width, claims, oracle = shares(setting, simulations)
        yield (
            f"| {setting.bots} | {setting.annotators} | {truth(setting):.2f} | {coverage:.1%} | {width:.2f}"
            f" | {claims:.1%} | {oracle:.1%} |"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage.rank_correlations")
    parser.add_argument("--simulations", type=int, default=2000, help="campaigns a cell")
    for line in lines(parser.parse_args().simulations):
        print(line, flush=True)  # noqa: T201 - the rows are the output

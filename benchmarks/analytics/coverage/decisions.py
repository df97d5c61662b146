"""Games in which annotators open one exchange after the other: coverage of curves and hazard ratios, log-rank tests.

`python -m benchmarks.analytics.coverage.decisions [--simulations N]`: each annotator of a conversation calls a side a
bot at an exchange whose hazard depends on the bot, on the leads of three features, and on effects of the annotator, of
the annotator's taste and of the conversation's side. Without these effects the coefficients are those of the model;
with them the truth is what very large campaigns estimate. Power is the share of coefficients below the level that are
not 0, next to an oracle's who knows the spread of each estimate. Log-rank tests of pairs: any false claim in games of
three equal bots, also by lifelines' own p-values with Holm's method, and the pairs of different bots that are told
apart, next to an oracle's who knows the spread of each score and the critical value of the largest.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from lifelines.statistics import pairwise_logrank_test

from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.survival.cox import FEATURES, CoxCoefficient
from spotthebot.analytics.stats.survival.decision_times import Decisions, decision_curves, decision_hazards
from spotthebot.analytics.stats.survival.log_rank import log_rank_tests
from spotthebot.statistics.adjustment import adjust

LAST: Final = 5
COEFFICIENTS: Final = np.array([-0.5, -0.3, 0.0])
_HAZARDS: Final = np.array([0.1, 0.2, 0.35])
_NORMAL: Final = 1.96
_LARGE: Final = 3000
"""The conversations of a pair in the game whose estimates are the truth."""


@dataclass(frozen=True)
class Setting:
    """A game of three bots: `per_pair` conversations of each pair, two annotators each; `spread` of their leniency."""

    per_pair: int
    annotators: int
    spread: float


SETTINGS: Final = tuple(Setting(20, annotators, spread) for annotators in (8, 16, 40) for spread in (0.0, 0.5))


def draw(setting: Setting, rng: np.random.Generator, hazards: FloatArray = _HAZARDS) -> Decisions:
    """Draw a game whose leads multiply the hazards of the bots at each exchange."""
    pairs = np.array(np.triu_indices(len(_HAZARDS), 1)).T
    entity = np.repeat(pairs, setting.per_pair, axis=0)
    n = len(entity)
    who = (rng.integers(setting.annotators, size=n)[:, None] + np.array([0, 1])) % setting.annotators
    sides, annotator = np.repeat(entity, 2, axis=0), who.ravel()
    conversation = np.repeat(np.arange(n), 2)
    lead = rng.integers(-1, 2, (len(sides), 3))
    leads = np.stack([lead, -lead], axis=1)
    effect = rng.normal(0, setting.spread, setting.annotators)[annotator][:, None]
    effect = effect + rng.normal(0, setting.spread / 2, (setting.annotators, len(_HAZARDS)))[annotator[:, None], sides]
    effect = effect + rng.normal(0, setting.spread, (n, 2))[conversation]
    hazard = -np.log1p(-hazards)[sides] * np.exp(leads @ COEFFICIENTS + effect)
    exchange = np.ceil(rng.exponential(size=sides.shape) / hazard)
    return Decisions(
        names=tuple(f"bot {at}" for at in range(len(_HAZARDS))),
        entity=sides.ravel(),
        exchange=np.minimum(exchange, LAST).astype(np.int64).ravel(),
        spotted=(exchange <= LAST).ravel(),
        conversation=np.repeat(conversation, 2),
        annotator=np.repeat(annotator, 2),
        leads=dict(zip(FEATURES, leads.reshape(-1, 3).T, strict=True)),
        last=LAST,
    )


@cache
def truth(spread: float) -> tuple[FloatArray, FloatArray]:
    """Return the survival (bots, exchanges) and the coefficients (bots, features) of a very large game."""
    large = draw(Setting(_LARGE, _LARGE // 2, spread), np.random.default_rng(99))
    curves = np.array([curve.estimate for curve in decision_curves(large)])
    return curves, np.array([[each.estimate for each in found] for found in decision_hazards(large).values()])


def hazards(setting: Setting, seed: int) -> list[CoxCoefficient]:
    """Return the coefficients of all bots of a drawn game."""
    found = decision_hazards(draw(setting, np.random.default_rng([seed, 5])))
    return [each for coefficients in found.values() for each in coefficients]


def tally(setting: Setting, seed: int) -> Tallies:
    """Draw a game and count the intervals that hold the truth, and coefficients of 0 that are called another."""
    survival, coefficients = truth(setting.spread)
    game = draw(setting, np.random.default_rng([seed, 5]))
    held, of = 0, 0
    for curve, true in zip(decision_curves(game), survival.tolist(), strict=True):
        for low, high, value in zip(curve.low, curve.high, true, strict=True):
            of += low is not None
            held += (low or 0) <= value <= (high or 0)
    found = hazards(setting, seed)
    bounds = [(each, value) for each, value in zip(found, coefficients.ravel().tolist(), strict=True)]
    known = [(each, value) for each, value in bounds if each.low is not None]
    inside = sum((each.low or 0) <= value <= (each.high or 0) for each, value in known)
    nothing = [each for each in found if each.feature == FEATURES[2] and each.p_value is not None]
    return {
        "survival": (held, of),
        "coefficients": (inside, len(known)),
        "coefficients of 0 below 5 %": (sum((each.p_value or 1) < 0.05 for each in nothing), len(nothing)),
    }


def pairs(setting: Setting, seed: int, *, equal: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the scores of all pairs, the adjusted p-values, and lifelines'."""
    hazards = np.full(len(_HAZARDS), _HAZARDS.mean()) if equal else _HAZARDS
    game = draw(setting, np.random.default_rng([seed, 6]), hazards)
    tests = log_rank_tests(game.status(exact=True), exact=True)
    plain = pairwise_logrank_test(game.duration, game.entity, game.spotted)
    return (
        np.array([each.estimate for each in tests]),
        np.array([each.p_adjusted for each in tests], dtype=np.float64),
        adjust(plain.p_value),
    )


def log_rank(setting: Setting, simulations: int) -> tuple[float, float, float, float]:
    """Return the shares of games with a false claim, by the suite and by lifelines, and the oracle's and own power."""
    alike, different = (
        [
            np.array(each)
            for each in zip(*(pairs(setting, seed, equal=equal) for seed in range(simulations)), strict=True)
        ]
        for equal in (True, False)
    )
    critical = np.quantile(np.abs(alike[0] / alike[0].std(axis=0)).max(axis=1), 0.95)
    oracle = np.abs(different[0] / different[0].std(axis=0)) > critical
    false, plain = (float((p_values < 0.05).any(axis=1).mean()) for p_values in alike[1:])
    return false, plain, float(oracle.mean()), float((different[1] < 0.05).mean())


def power(setting: Setting, simulations: int) -> tuple[float, float]:
    """Return the shares of coefficients that are not 0 which an oracle finds, and which the tests do."""
    found = [hazards(setting, seed) for seed in range(simulations)]
    real = [at for at, each in enumerate(found[0]) if each.feature != FEATURES[2]]
    estimates = np.array([[each[at].estimate for at in real] for each in found], dtype=np.float64)
    p_values = np.array([[each[at].p_value for at in real] for each in found], dtype=np.float64)
    oracle = np.abs(estimates / np.nanstd(estimates, axis=0)) > _NORMAL
    return float(oracle.mean()), float((p_values < 0.05).mean())


def lines(simulations: int) -> Iterator[str]:
    """Yield the rows of a table, one for each setting."""
    for setting in SETTINGS:
        held, counted = Counter[str](), Counter[str]()
        for seed in range(simulations):
            for kind, (holds, of) in tally(setting, seed).items():
                held[kind] += holds
                counted[kind] += of
        shares = [f"{held[kind] / counted[kind]:.1%}" if counted[kind] else "none" for kind in counted]
        found = (f"{each:.2f}" for each in power(setting, simulations))
        false, plain, *tests = log_rank(setting, simulations)
        cells = [*shares, *found, f"{false:.1%}", f"{plain:.1%}", *(f"{each:.2f}" for each in tests)]
        yield f"| {setting.annotators}, {setting.spread:g} | {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage.decisions")
    parser.add_argument("--simulations", type=int, default=400, help="games a cell")
    for line in lines(parser.parse_args().simulations):
        print(line, flush=True)  # noqa: T201 - the rows are the output

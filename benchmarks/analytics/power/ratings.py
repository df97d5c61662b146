"""How many differences of mean ratings are found, beside an oracle, and how often equal bots are told apart.

`python -m benchmarks.analytics.power.ratings [--simulations N] [--first-seed S] [--only balanced|turns|hard|chats]`.

"Pooled" is the test behind the ranks of `stats.rank_ratings`, "own" takes each difference's own variance with
Satterthwaite's degrees of freedom, "few" the same with at most as many as it has clusters, less one.
"""

import argparse
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import Protocol

import numpy as np

from benchmarks.analytics.coverage import chats
from benchmarks.analytics.coverage.ratings import draw_ratings
from benchmarks.analytics.power.oracle import LEVEL, power_of_oracle
from benchmarks.analytics.power.rated_studies import BALANCED, HARD, TURNS, draw_study
from spotthebot.analytics.stats.annotations import BoolArray, FloatArray
from spotthebot.analytics.stats.fooling_rate import labels_as_ratings
from spotthebot.analytics.stats.rating_estimates import Ratings, differences_of_means
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.clustered_variance import Observations, clustered_parts, shares_of
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.clustered_campaigns import Setting

TESTS = ("pooled", "own", "few")


def claims_of(ratings: Ratings) -> tuple[FloatArray, dict[str, BoolArray]]:
    """Return all differences of means (d,), and which of them each test claims."""
    k = len(ratings.bots)
    first, second = np.triu_indices(k, 1)
    means, _, influence = shares_of(ratings.bot, ratings.value / 8, k)
    parts = clustered_parts(Observations(ratings.item, ratings.annotator), influence, Clusters.BOTH)
    own = parts.differences(first, second)
    variances = {
        "pooled": differences_of_means(ratings, influence, parts, first, second),
        "own": own,
        "few": replace(own, degrees=np.minimum(own.degrees, np.maximum(own.n_clusters - 1, 1))),
    }
    gaps = means[first] - means[second]
    claims = {}
    for test, found in variances.items():
        p_values = 2 * student_tails(np.abs(gaps) / np.sqrt(found.variance), found.degrees)
        claims[test] = adjust(p_values, Adjustment.HOLM) < LEVEL
    return gaps, claims


class Draw(Protocol):
    """Draws a study of bots that are equal, or that differ."""

    def __call__(self, rng: np.random.Generator, *, equal: bool) -> Ratings: ...


def power_of(draw: Draw, simulations: int, seed: int = 0) -> dict[str, float]:
    """Return which shares of differences the oracle and each test tell, and in which shares of studies falsely."""
    found = {
        equal: [
            claims_of(draw(np.random.default_rng([34, seed + at, equal]), equal=equal)) for at in range(simulations)
        ]
        for equal in (True, False)
    }
    alike, apart = (np.array([gaps for gaps, _ in found[equal]]) for equal in (True, False))
    result = {"oracle": power_of_oracle(alike, apart)}
    for test in TESTS:
        result[test] = float(np.mean([claims[test] for _, claims in found[False]]))
        result[f"{test}: false"] = float(np.mean([claims[test].any() for _, claims in found[True]]))
    return result


def balanced(setting: Setting, rng: np.random.Generator, *, equal: bool) -> Ratings:
    """Draw a study of dialogues, as the coverage of ratings does."""
    best = 0.0 if equal else BALANCED[setting]
    return draw_ratings(setting, np.linspace(best, -best, setting.k), rng)


def of_chats(setting: Setting, rng: np.random.Generator, *, equal: bool) -> Ratings:
    """Draw the labels of bots in chats with people, in which no two bots met."""
    return labels_as_ratings(chats.draw(setting, rng, equal=equal))


def of_turns(name: str, rng: np.random.Generator, *, equal: bool) -> Ratings:
    """Draw a study of turns."""
    study = TURNS[name]
    return draw_study(replace(study, strengths=None) if equal else study, rng)


def level_of(name: str, simulations: int, first_seed: int = 0) -> dict[str, float]:
    """Return in which shares of the studies of a hard cell each test tells equal bots apart."""
    alike = HARD[name].equals()
    found = [
        claims_of(draw_study(HARD[name], np.random.default_rng([35, first_seed + at])))[1] for at in range(simulations)
    ]
    return {test: float(np.mean([claims[test][alike].any() for claims in found])) for test in TESTS}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, each row when it is counted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.power.ratings")
    parser.add_argument("--simulations", type=int, default=2000, help="studies a cell")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", choices=["balanced", "turns", "hard", "chats"])
    chosen = parser.parse_args(arguments)
    if chosen.only in {None, "balanced"}:
        _say_power_of("Bots, dialogues a bot, annotators, ICC, taste")
        for setting in BALANCED:
            k, per_pair, annotators, correlation, taste = astuple(setting)
            head = f"{k}, {per_pair * (k - 1)}, {annotators}, {correlation:g}, {'yes' if taste else 'no'}"
            _say_power(head, power_of(partial(balanced, setting), chosen.simulations, chosen.first_seed))
    if chosen.only in {None, "chats"}:
        _say_power_of("Bots, chats a bot, annotators, ICC")
        for setting in chats.SETTINGS:
            head = f"{setting.k}, {setting.per_pair * (setting.k - 1)}, {setting.annotators}, {setting.correlation:g}"
            _say_power(head, power_of(partial(of_chats, setting), chosen.simulations, chosen.first_seed))
    if chosen.only in {None, "turns"}:
        _say_power_of("Values of turns")
        for name in TURNS:
            _say_power(name, power_of(partial(of_turns, name), chosen.simulations, chosen.first_seed))
    if chosen.only in {None, "hard"}:
        _say(["Equal bots: any false claim", *TESTS])
        _say(["---"] * (1 + len(TESTS)))
        for name in HARD:
            cell = level_of(name, chosen.simulations, chosen.first_seed)
            _say([name, *(f"{cell[test]:.1%}" for test in TESTS)])


def _say_power_of(cells: str) -> None:
    _say([cells, "Oracle", *TESTS, *(f"False, {each}" for each in TESTS)])
    _say(["---"] * (2 + 2 * len(TESTS)))


def _say_power(head: str, cell: dict[str, float]) -> None:
    shares = [f"{cell[test] / cell['oracle']:.2f}" for test in TESTS]
    _say([head, f"{cell['oracle']:.2f}", *shares, *(f"{cell[f'{test}: false']:.1%}" for test in TESTS)])


def _say(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()

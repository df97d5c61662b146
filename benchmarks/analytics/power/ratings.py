"""How many differences of mean ratings are found, beside an oracle, and how often equal bots are told apart.

`python -m benchmarks.analytics.power.ratings [--simulations N] [--first-seed S] [--only balanced|hard]`. "Pooled" is
the test behind the ranks of `stats.rank_ratings`, "own" takes each difference's own variance with Satterthwaite's
degrees of freedom, "few" the same with at most as many as it has clusters, less one.
"""

import argparse
from collections.abc import Sequence
from dataclasses import astuple, replace

import numpy as np

from benchmarks.analytics.coverage.ratings import draw_ratings
from benchmarks.analytics.power.oracle import LEVEL, power_of_oracle
from benchmarks.analytics.power.rated_studies import BALANCED, HARD, draw_study
from spotthebot.analytics import stats
from spotthebot.analytics.stats.annotations import BoolArray, FloatArray
from spotthebot.analytics.stats.clustered_variance import Observations, clustered_parts, shares_of
from spotthebot.analytics.stats.distributions import student_tails
from spotthebot.analytics.stats.pooled_differences import variance_of_differences
from tests.factories.clustered_campaigns import Setting

TESTS = ("pooled", "own", "few")


def claims_of(ratings: stats.Ratings) -> tuple[FloatArray, dict[str, BoolArray]]:
    """Return all differences of means (d,), and which of them each test claims."""
    k = len(ratings.bots)
    first, second = np.triu_indices(k, 1)
    means, _, influence = shares_of(ratings.bot, ratings.value / 8, k)
    observations = Observations(ratings.item, ratings.annotator)
    parts = clustered_parts(observations, influence, stats.Clusters.BOTH)
    own = parts.differences(first, second)
    variances = {
        "pooled": variance_of_differences(observations, influence, parts, first, second),
        "own": own,
        "few": replace(own, degrees=np.minimum(own.degrees, np.maximum(own.n_clusters - 1, 1))),
    }
    gaps = means[first] - means[second]
    claims = {}
    for test, found in variances.items():
        p_values = 2 * student_tails(np.abs(gaps) / np.sqrt(found.variance), found.degrees)
        claims[test] = stats.adjust(p_values, stats.Adjustment.HOLM) < LEVEL
    return gaps, claims


def power_of(setting: Setting, simulations: int, first_seed: int = 0) -> dict[str, float]:
    """Return which shares of differences the oracle and each test tell, and in which shares of studies falsely."""
    best = BALANCED[setting]
    found = {
        equal: [
            claims_of(draw_ratings(setting, strengths, np.random.default_rng([34, first_seed + at, equal])))
            for at in range(simulations)
        ]
        for equal, strengths in ((1, np.zeros(setting.k)), (0, np.linspace(best, -best, setting.k)))
    }
    alike, apart = (np.array([gaps for gaps, _ in found[equal]]) for equal in (1, 0))
    result = {"oracle": power_of_oracle(alike, apart)}
    for test in TESTS:
        result[test] = float(np.mean([claims[test] for _, claims in found[0]]))
        result[f"{test}: false"] = float(np.mean([claims[test].any() for _, claims in found[1]]))
    return result


def level_of(name: str, simulations: int, first_seed: int = 0) -> dict[str, float]:
    """Return in which shares of the studies of a hard cell each test tells equal bots apart."""
    alike = HARD[name].equals()
    found = [
        claims_of(draw_study(HARD[name], np.random.default_rng([35, first_seed + at])))[1] for at in range(simulations)
    ]
    return {test: float(np.mean([claims[test][alike].any() for claims in found])) for test in TESTS}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables, each row when it is counted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.power.ratings")
    parser.add_argument("--simulations", type=int, default=2000, help="studies a cell")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", choices=["balanced", "hard"])
    chosen = parser.parse_args(arguments)
    if chosen.only != "hard":
        _say(["Bots, dialogues a bot, annotators, ICC, taste", "Oracle", *TESTS, *(f"False, {each}" for each in TESTS)])
        _say(["---"] * (2 + 2 * len(TESTS)))
        for setting in BALANCED:
            cell = power_of(setting, chosen.simulations, chosen.first_seed)
            k, per_pair, annotators, correlation, taste = astuple(setting)
            head = f"{k}, {per_pair * (k - 1)}, {annotators}, {correlation:g}, {'yes' if taste else 'no'}"
            shares = [f"{cell[test] / cell['oracle']:.2f}" for test in TESTS]
            _say([head, f"{cell['oracle']:.2f}", *shares, *(f"{cell[f'{test}: false']:.1%}" for test in TESTS)])
    if chosen.only != "balanced":
        _say(["Equal bots: any false claim", *TESTS])
        _say(["---"] * (1 + len(TESTS)))
        for name in HARD:
            cell = level_of(name, chosen.simulations, chosen.first_seed)
            _say([name, *(f"{cell[test]:.1%}" for test in TESTS)])


def _say(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()

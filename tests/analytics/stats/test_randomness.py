import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spotthebot.analytics.stats.alpha_bootstrap import bootstrap_alpha
from spotthebot.analytics.stats.rank_ranges import published_rank_ranges
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.sides import sides_alike
from spotthebot.analytics.stats.skill import rate_skills
from spotthebot.analytics.stats.stability import stability_at
from spotthebot.analytics.stats.survival.censored_times import censored_times
from spotthebot.analytics.stats.survival.interval_log_rank import ScoreVariance, interval_log_rank
from spotthebot.analytics.stats.wins import play_games
from spotthebot.fed.stats.bot_scores import score_bots
from spotthebot.fed.stats.split_half import split_half
from spotthebot.statistics.errors import SeedMalformed
from spotthebot.statistics.randomness import generator_of, seed_of
from tests.analytics.stats.annotation_tables import simulated_table

ESTIMATORS: dict[str, Callable[..., object]] = {
    "rank_bots": lambda table, **more: rank_bots(play_games(table), **more),
    "rate_skills": lambda table, **more: rate_skills(play_games(table), n_shuffles=3, **more),
    "sides_alike": sides_alike,
}


class TestSeeds:
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_a_generator_gives_what_its_seed_gives(self, name):
        table = simulated_table(1)
        few = {} if name == "rate_skills" else {"n_resamples": 20}
        by_seed = ESTIMATORS[name](table, seed=5, **few)
        by_generator = ESTIMATORS[name](table, seed=np.random.default_rng(5), **few)
        assert by_seed == by_generator
        assert by_seed != ESTIMATORS[name](table, seed=6, **few)

    def test_a_generator_goes_on_from_where_it_stands(self):
        generator = np.random.default_rng(1)
        assert generator_of(generator) is generator
        assert generator_of(1).integers(1000) == generator.integers(1000)

    def test_what_is_remembered_starts_the_same_numbers_again(self):
        unseeded = np.random.default_rng()
        again = np.random.default_rng(seed_of(unseeded))
        assert unseeded.integers(10**9) == again.integers(10**9)
        assert seed_of(7) == 7


TABLE = simulated_table(1, per_pair=4)
GAMES = play_games(TABLE)
TIMES = censored_times([0, 0, 2, 2], [2, 2, math.inf, math.inf])
SEEDED: dict[str, Callable[[Any], object]] = {
    "bootstrap_alpha": lambda seed: bootstrap_alpha([0, 0, 1, 1], [1, 1, 2, 1], n_resamples=5, seed=seed),
    "interval_log_rank": lambda seed: [
        interval_log_rank(TIMES, [0, 1, 0, 1], ["a", "b"], variance=variance, n_resamples=5, seed=seed)
        for variance in (ScoreVariance.MONTE_CARLO, ScoreVariance.ADDED)
    ],
    "published_rank_ranges": lambda seed: published_rank_ranges(GAMES, n_resamples=5, seed=seed),
    "rank_bots": lambda seed: rank_bots(GAMES, n_resamples=5, seed=seed),
    "rate_skills": lambda seed: rate_skills(GAMES, n_shuffles=2, seed=seed),
    "score_bots": lambda seed: score_bots([1, 2], ["a", "b"], [0, 1], n_resamples=5, seed=seed),
    "sides_alike": lambda seed: sides_alike(TABLE, n_resamples=5, seed=seed),
    "split_half": lambda seed: split_half([[1, 2], [2, 1], [3, 3]], n_splits=5, seed=seed),
    "stability_at": lambda seed: stability_at(GAMES, 1, n_subsets=5, n_resamples=5, seed=seed),
}


class TestSeedsThatAreNone:
    @pytest.mark.parametrize("seed", [-1, 1.5, math.nan, "7", None])
    @pytest.mark.parametrize("name", SEEDED)
    def test_are_refused_by_all_that_draws(self, name: str, seed: object):
        with pytest.raises(SeedMalformed, match="A seed is a whole number from 0"):
            SEEDED[name](seed)

    @pytest.mark.parametrize("seed", [0, 2**200, np.int64(3)])
    @pytest.mark.parametrize("name", SEEDED)
    def test_are_no_large_ones_and_none_of_numpy_s(self, name: str, seed: int):
        SEEDED[name](seed)

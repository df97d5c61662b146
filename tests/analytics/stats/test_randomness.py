from collections.abc import Callable

import numpy as np
import pytest

from spotthebot.analytics.stats import (
    play_games,
    rank_bots,
    rate_skills,
    sides_alike,
)
from spotthebot.analytics.stats.randomness import generator_of, seed_of
from tests.factories.annotation_tables import simulated_table

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

"""Means of bots, their intervals and ranges of ranks."""

import numpy as np
import pytest
import scipy

from spotthebot.fed.stats.bot_scores import _tail, score_bots
from spotthebot.statistics.errors import ColumnsDiffer, LevelOutOfRange


class TestScoreBots:
    def test_means_and_bounds_are_those_of_a_plain_bootstrap(self):
        """Hesterberg 2015: percentiles at the normal probability of t times sqrt(n / (n - 1)), of 8 dialogues here."""
        chance = np.random.default_rng(6)
        scores, dialogue = chance.exponential(size=24), np.arange(24) // 3
        (bot,) = score_bots(scores, ["a"] * 24, dialogue, n_resamples=20_000).bots
        by_dialogue = scores.reshape(8, 3).mean(axis=1)
        means = by_dialogue[chance.integers(8, size=(20_000, 8))].mean(axis=1)
        tail = scipy.stats.norm.cdf(scipy.stats.t.ppf(0.025, 7) * np.sqrt(8 / 7))
        assert bot.estimate == pytest.approx(scores.mean())
        assert (bot.low, bot.high) == pytest.approx(tuple(np.quantile(means, [tail, 1 - tail])), abs=0.05)
        assert (bot.n, bot.n_dialogues, bot.rank_low, bot.rank_high) == (24, 8, 1, 1)

    @pytest.mark.parametrize("n", [2, 5, 30])
    def test_cuts_off_less_with_few_dialogues(self, n):
        """Hesterberg 2015: the normal probability of -t sqrt(n / (n - 1)), t of n - 1 degrees of freedom."""
        expected = scipy.stats.norm.cdf(-scipy.stats.t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1)))
        assert _tail(n, 0.95) == pytest.approx(expected)

    def test_ranks_are_certain_where_bots_are_far_apart_and_open_where_they_are_not(self):
        chance = np.random.default_rng(7)
        scores = np.concatenate([chance.normal(mean, 1, 40) for mean in (0, 10, 10.01)])
        found = score_bots(scores, np.repeat(["far", "near", "nearer"], 40).tolist(), np.arange(120))
        ranks = {bot.bot: (bot.rank_low, bot.rank_high) for bot in found.bots}
        assert ranks == {"near": (1, 2), "nearer": (1, 2), "far": (3, 3)}
        assert [bot.estimate for bot in found.bots] == sorted((bot.estimate for bot in found.bots), reverse=True)

    def test_weighs_dialogues_by_their_contexts(self):
        (bot,) = score_bots([1, 1, 1, 5], ["a"] * 4, ["x", "x", "x", "y"]).bots
        assert (bot.estimate, bot.n_dialogues) == (2, 2)

    def test_one_dialogue_has_no_bounds_and_any_rank(self):
        found = score_bots([1, 2, 9, 8], ["a", "a", "b", "b"], [0, 0, 1, 2]).bots
        assert [(bot.bot, bot.low is None, bot.rank_low, bot.rank_high) for bot in found] == [
            ("b", False, 1, 1),
            ("a", True, 1, 2),
        ]

    def test_same_seed_gives_the_same_bounds(self):
        scores, bots, dialogue = [1.0, 2.0, 4.0, 3.0, 3.5, 1.5], list("aaabbb"), range(6)
        assert score_bots(scores, bots, dialogue) == score_bots(scores, bots, dialogue)
        assert score_bots([], [], []).bots == ()

    def test_refuses_columns_that_do_not_fit_and_levels_that_are_none(self):
        with pytest.raises(ColumnsDiffer):
            score_bots([1, 2], ["a", "b"], [0])
        with pytest.raises(ColumnsDiffer):
            score_bots([1, 2], ["a"], [0, 1])
        with pytest.raises(LevelOutOfRange):
            score_bots([1, 2], ["a", "a"], [0, 1], confidence_level=1)

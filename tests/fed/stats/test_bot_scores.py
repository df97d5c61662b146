"""Means of bots, their intervals and ranges of ranks."""

import numpy as np
import pytest
import scipy

from spotthebot.fed.stats.bot_scores import _tail, score_bots
from spotthebot.statistics.errors import ColumnMalformed, ColumnsDiffer, LevelOutOfRange


class TestScoreBots:
    @pytest.mark.parametrize(("sizes", "skew"), [((3,) * 8, 1), ((1, 4, 2, 2, 3, 1, 2, 3), -1)])
    def test_bounds_are_the_wider_ones_of_student_s_t_and_of_a_studentised_bootstrap(self, sizes, skew):
        """Written out: ratios of sums in resamples of dialogues, with Cochran's error of a ratio in each."""
        chance = np.random.default_rng(6)
        dialogue = np.repeat(np.arange(8), sizes)
        scores = skew * chance.exponential(size=len(dialogue)) ** 2
        (bot,) = score_bots(scores, ["a"] * len(scores), dialogue, n_resamples=20_000).bots

        def means_and_errors(drawn):
            totals, counts = np.bincount(dialogue, weights=scores)[drawn], np.bincount(dialogue)[drawn]
            means = totals.sum(axis=1, keepdims=True) / counts.sum(axis=1, keepdims=True)
            apart = np.sum((totals - means * counts) ** 2, axis=1)
            return means[:, 0], np.sqrt(8 / 7 * apart) / counts.sum(axis=1)

        (mean,), (error,) = means_and_errors(np.arange(8)[None])
        means, errors = means_and_errors(chance.integers(8, size=(20_000, 8)))
        studentised = (means - mean) / errors
        low, high = np.quantile(studentised, [0.025, 0.975])
        student = scipy.stats.t.ppf(0.975, 7)
        shorter, longer = (high, -low)[::skew]
        assert shorter < student < longer  # on the side of the long tail the interval reaches further than Student's
        assert bot.estimate == pytest.approx(scores.mean()) == pytest.approx(mean)
        below, above = (student, longer)[::skew]
        assert (bot.low, bot.high) == pytest.approx((mean - below * error, mean + above * error), rel=0.03)
        assert bot.n == len(scores)
        assert bot.n_dialogues == 8
        assert bot.rank_low == 1
        assert bot.rank_high == 1

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

    def test_few_dialogues_have_no_bounds_and_any_rank(self):
        scores, bots = [5, 6, 5, 7, 1, 2, 3, 2, 1], list("aaaabbbbb")
        few, enough = score_bots(scores, bots, range(9)).bots
        assert few.bot == "a"
        assert few.low is None
        assert few.high is None
        assert few.rank_low == 1
        assert few.rank_high == 2
        assert few.reason == "fewer than 5 different dialogues: no interval"
        assert enough.bot == "b"
        assert enough.low is not None
        assert enough.reason is None
        assert enough.rank_low == 2

    @pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e-5, 1e12, 1e300])
    def test_the_unit_of_scores_changes_no_rank_and_no_bound_but_by_the_unit(self, factor):
        scores = np.random.default_rng(7).normal([[0.0], [1.5]], size=(2, 12)).ravel()
        bots, dialogues = ["a"] * 12 + ["b"] * 12, [*range(12)] * 2
        found, moved = (score_bots(scores * each, bots, dialogues, n_resamples=300) for each in (1, factor))
        for one, same in zip(found.bots, moved.bots, strict=True):
            assert (same.bot, same.rank_low, same.rank_high) == (one.bot, one.rank_low, one.rank_high)
            for figure in ("estimate", "low", "high"):
                assert getattr(same, figure) / factor == pytest.approx(getattr(one, figure), rel=1e-6)

    def test_dialogues_of_one_mean_have_no_bounds(self):
        (bot,) = score_bots([0.1, 0.3, 0.2, 0.2, 0.2, 0.2], ["a"] * 6, [0, 0, 1, 2, 3, 4]).bots
        assert (bot.low, bot.high, bot.reason) == (None, None, "all dialogues have one mean: no interval")

    @pytest.mark.parametrize("missing", [None, float("nan")])
    def test_no_bot_is_no_bot_of_its_own(self, missing):
        with pytest.raises(ColumnMalformed, match="Column bots, row 2"):
            score_bots([1, 2, 3], ["a", "b", missing], [0, 1, 2])

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

"""Means of bots, their intervals and ranges of ranks."""

import numpy as np
import pytest
import scipy

from spotthebot.fed.stats.bot_scores import BotScore, score_bots
from spotthebot.statistics.errors import ColumnMalformed, ColumnsDiffer, LevelOutOfRange


class TestScoreBots:
    @pytest.mark.parametrize(("sizes", "skew"), [((3,) * 8, 1), ((1, 4, 2, 2, 3, 1, 2, 3), -1)])
    def test_bounds_are_the_wider_ones_of_student_s_t_and_of_a_studentised_bootstrap(self, sizes, skew):
        """Written out: the jackknife's error with its degrees, and ratios with Cochran's errors in resamples."""
        chance = np.random.default_rng(6)
        dialogue = np.repeat(np.arange(8), sizes)
        scores = skew * chance.exponential(size=len(dialogue)) ** 2
        (bot,) = score_bots(scores, ["a"] * len(scores), dialogue, n_resamples=20_000).bots

        def means_and_errors(drawn):
            totals, counts = np.bincount(dialogue, weights=scores)[drawn], np.bincount(dialogue)[drawn]
            means = totals.sum(axis=1, keepdims=True) / counts.sum(axis=1, keepdims=True)
            apart = np.sum((totals - means * counts) ** 2, axis=1)
            return means[:, 0], np.sqrt(8 / 7 * apart) / counts.sum(axis=1)

        (mean,), (of_ratio,) = means_and_errors(np.arange(8)[None])
        means, errors = means_and_errors(chance.integers(8, size=(20_000, 8)))
        low, high = np.quantile((means - mean) / errors, [0.025, 0.975])
        without = np.array([scores[dialogue != each].mean() for each in range(8)])
        error = np.sqrt(7 / 8 * np.sum((without - mean) ** 2))
        assert error == pytest.approx(of_ratio) or len({*sizes}) > 1
        counts = np.array(sizes)
        student = scipy.stats.t.ppf(0.975, counts.sum() ** 2 / np.sum(counts**2) - 1)
        shorter, longer = (high, -low)[::skew]
        assert shorter < student < longer  # on the side of the long tail the interval reaches further than Student's
        assert bot.estimate == pytest.approx(scores.mean()) == pytest.approx(mean)
        below, above = (student, longer)[::skew]
        assert (bot.low, bot.high) == pytest.approx((mean - below * error, mean + above * error), rel=0.03)
        assert bot.n == len(scores)
        assert bot.n_dialogues == 8
        assert bot.rank_low == 1
        assert bot.rank_high == 1

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
        assert (enough.rank_low, enough.rank_high) == (1, 2)  # no test of a bot with few dialogues

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


def width(bot: BotScore) -> float:
    assert bot.low is not None
    assert bot.high is not None
    return bot.high - bot.low


class TestRanks:
    """Written out with scipy's tests of two means: the bots of these samples are told apart by them, or are not."""

    @staticmethod
    def ranks(scores, bots, dialogue, opening=None, **settings):
        found = score_bots(scores, bots, dialogue, opening, n_resamples=100, **settings).bots
        return {each.bot: (each.rank_low, each.rank_high) for each in found}

    @pytest.mark.parametrize("margin", [-1e-6, 1e-6])
    def test_with_dialogues_of_their_own_follow_the_t_test_of_two_samples(self, margin):
        one, other = np.random.default_rng(2).normal([[0.0], [1.2]], size=(2, 9))
        p_value = scipy.stats.ttest_ind(one, other).pvalue
        columns = np.concatenate([one, other]), ["one"] * 9 + ["other"] * 9, range(18)
        assert p_value < 0.1
        ranks = self.ranks(*columns, confidence_level=1 - p_value + margin)
        assert ranks == ({"one": (2, 2), "other": (1, 1)} if margin < 0 else {"one": (1, 2), "other": (1, 2)})

    @pytest.mark.parametrize("margin", [-1e-6, 1e-6])
    def test_in_the_same_dialogues_follow_the_paired_t_test(self, margin):
        chance = np.random.default_rng(3)
        topic = chance.normal(size=9)
        one, other = topic + 0.3 * chance.normal(size=9), topic + 0.3 + 0.3 * chance.normal(size=9)
        p_value = scipy.stats.ttest_rel(one, other).pvalue
        columns = np.concatenate([one, other]), ["one"] * 9 + ["other"] * 9, [*range(9)] * 2
        assert p_value < 0.1 < scipy.stats.ttest_ind(one, other).pvalue
        ranks = self.ranks(*columns, confidence_level=1 - p_value + margin)
        assert ranks == ({"one": (2, 2), "other": (1, 1)} if margin < 0 else {"one": (1, 2), "other": (1, 2)})
        alike = self.ranks(*columns[:2], range(18), [*range(9)] * 2, confidence_level=1 - p_value + margin)
        assert alike == ranks  # dialogues of their own that begin alike

    def test_adjust_the_p_values_of_all_pairs_by_holm(self):
        """Of three p-values the smallest counts three times, the next one twice."""
        samples = np.random.default_rng(11).normal([[0.0], [0.1], [1.1]], size=(3, 12))
        pairs = ((0, 1), (0, 2), (1, 2))
        p_values = sorted(float(scipy.stats.ttest_ind(samples[a], samples[b]).pvalue) for a, b in pairs)
        columns = samples.ravel(), np.repeat(list("abc"), 12).tolist(), range(36)
        assert 3 * p_values[0] < 2 * p_values[1] < p_values[2]
        for level, excluded in ((1 - 3 * p_values[0] + 1e-6, 0), (1 - 3 * p_values[0] - 1e-6, 2)):
            ranges = self.ranks(*columns, confidence_level=level).values()
            assert sum(3 - (high - low + 1) for low, high in ranges) == excluded
        ranges = self.ranks(*columns, confidence_level=1 - 2 * p_values[1] - 1e-6)
        assert sum(3 - (high - low + 1) for low, high in ranges.values()) == 4

    def test_equal_bots_may_have_all_ranks(self):
        scores = np.random.default_rng(4).normal(size=(4, 20))
        ranks = self.ranks(scores.ravel(), np.repeat(list("abcd"), 20).tolist(), range(80))
        assert set(ranks.values()) == {(1, 4)}


class TestOpenings:
    SCORES = np.random.default_rng(5).normal(size=8)[:, None] + 0.2 * np.random.default_rng(6).normal(size=(8, 3))
    """Eight openings with three dialogues each, which are alike."""

    def test_dialogues_that_begin_alike_count_once(self):
        """The mean of equally many dialogues of eight openings is the mean of eight means, with seven degrees."""
        opening = np.repeat(np.arange(8), 3)
        found = score_bots(self.SCORES.ravel(), ["a"] * 24, range(24), opening, n_resamples=500)
        alone = score_bots(self.SCORES.mean(axis=1), ["a"] * 8, range(8), n_resamples=500)
        assert found.method.startswith(
            "the wider bounds of Student's t and of a studentised bootstrap, clustered by op"
        )
        (bot,), (mean,) = found.bots, alone.bots
        assert bot.n_dialogues == 24
        assert (bot.low, bot.high) == pytest.approx((mean.low, mean.high))
        (bold,) = score_bots(self.SCORES.ravel(), ["a"] * 24, range(24), n_resamples=500).bots
        assert width(bold) < 0.7 * width(bot)

    def test_a_dialogue_without_an_opening_is_a_cluster_of_its_own(self):
        opening = [None if number < 4 else f"o{number // 2}" for number in range(16)]
        scores, clusters = self.SCORES[:, 0].repeat(2), [*range(10, 14), *np.repeat(range(6), 2)]
        found = score_bots(scores, ["a"] * 16, range(16), np.array(opening, dtype=object), n_resamples=300)
        known = score_bots(scores, ["a"] * 16, clusters, n_resamples=300)
        assert [(each.low, each.high) for each in found.bots] == [(each.low, each.high) for each in known.bots]

    def test_few_openings_are_taken_as_given(self):
        opening = np.arange(24) % 4
        found = score_bots(self.SCORES.ravel(), ["a"] * 24, range(24), opening, n_resamples=300)
        alone = score_bots(self.SCORES.ravel(), ["a"] * 24, range(24), n_resamples=300)
        assert found.bots == alone.bots
        assert "clustered by dialogue, for these openings" in found.method
        assert "for these openings" not in alone.method

    def test_a_bot_with_few_openings_among_many_has_no_interval(self):
        opening = [*range(10), *[number % 4 for number in range(10)]]
        found = score_bots(np.random.default_rng(1).normal(size=20), list("a" * 10 + "b" * 10), range(20), opening)
        reasons = {each.bot: each.reason for each in found.bots}
        assert reasons == {"a": None, "b": "fewer than 5 different openings: no interval"}

    def test_refuses_openings_of_another_number(self):
        with pytest.raises(ColumnsDiffer):
            score_bots([1, 2], ["a", "a"], [0, 1], [0])

"""Bots by their mean rating: bounds as the jackknife of items and annotators gives them, and ranks by t tests."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.ratings import RatedBot, RatingRanking, rank_ratings
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters


def _study(seed: int = 3, bots: int = 3) -> Ratings:
    """Every third rating of 12 items by 8 annotators, some of them lenient, of bots that differ by one point."""
    draw = np.random.default_rng(seed)
    bot, item, annotator = (each.ravel() for each in np.meshgrid(range(bots), range(12), range(8), indexing="ij"))
    value = 2 + bot + draw.normal(0, 0.5, 8)[annotator] + draw.normal(0, 0.5, 12)[item] + draw.normal(0, 1, len(bot))
    kept = draw.random(len(bot)) < 1 / 3
    names = tuple("abc"[:bots])
    return Ratings(names, bot[kept], item[kept], annotator[kept], value[kept].round(2))


def _jackknife(value, cluster):
    """The delete-one-cluster jackknife of a mean, written out: (G - 1) / G times the sum of squared changes."""
    codes = np.unique(cluster, axis=0)
    same = [(cluster == code).reshape(len(value), -1).all(axis=1) for code in codes]
    changes = [value[~each].mean() - value.mean() for each in same]
    return (len(codes) - 1) / len(codes) * np.square(changes).sum()


def _near_the_lowest() -> Ratings:
    """One or two of twelve ratings of each bot are 2, by 3 annotators, the others 1."""
    bot = np.repeat([0, 1], 12)
    value = np.ones(24)
    value[[0, 13, 17]] = 2
    return Ratings(("a", "b"), bot, np.arange(24), np.arange(24) % 3, value)


def _on(ratings: Ratings, low: float, high: float) -> RatingRanking:
    return rank_ratings(replace(ratings, scale=(low, high)))


def _bounds(bot: RatedBot) -> tuple[float, float]:
    assert bot.low is not None
    assert bot.high is not None
    return bot.low, bot.high


class TestRankRatings:
    def test_standard_errors_are_those_of_the_jackknife_written_out(self):
        ratings = _study()
        for bot in rank_ratings(ratings).bots:
            mine = ratings.bot == ratings.bots.index(bot.bot)
            value, item, annotator = ratings.value[mine], ratings.item[mine], ratings.annotator[mine]
            both = np.column_stack([item, annotator])
            variance = _jackknife(value, item) + _jackknife(value, annotator) - _jackknife(value, both)
            independent = _jackknife(value, np.arange(len(value)))
            error = np.sqrt(max(variance, independent))
            assert bot.n == mine.sum()
            assert bot.estimate == pytest.approx(value.mean())
            assert bot.uncertainty.standard_error == pytest.approx(error)
            reach = scipy.stats.t.ppf(0.975, bot.uncertainty.degrees_of_freedom or np.nan) * error
            assert bot.low == pytest.approx(value.mean() - reach)
            assert bot.high == pytest.approx(value.mean() + reach)

    def test_bots_are_ranked_where_a_t_test_of_their_difference_says_so(self):
        # b is .9 ahead with a standard error of .082: t = 11; a and c differ by .05: t = .6.
        values = np.array([1.0, 1.1, 1.2, 1.9, 2.0, 2.1, 1.25, 1.15, 1.05])
        bot = np.repeat([0, 1, 2], 3)
        ratings = Ratings(("a", "b", "c"), bot, np.arange(9), np.zeros(9, dtype=np.int64), values)
        found = rank_ratings(ratings, clusters=Clusters.FIXED_PANEL, adjustment=Adjustment.NONE)
        assert [(each.bot, each.rank_low, each.rank_high, each.cluster) for each in found.bots] == [
            ("b", 1, 1, 1),
            ("c", 2, 3, 2),
            ("a", 2, 3, 2),
        ]
        # The variance of a mean of three with deviations of .1: .1² * 2 / (3 * 2).
        assert found.bots[0].uncertainty.standard_error == pytest.approx(np.sqrt(0.01 * 2 / 6))
        assert found.bots[0].low == pytest.approx(2 - 4.302653 * np.sqrt(0.01 / 3), abs=1e-6)  # t(2)

    def test_tests_of_differences_have_two_sides(self):
        # t(2) is 4.303 at 2.5 % and 2.920 at 5 % a side; b is ahead by 3.5 standard errors of the difference.
        first = np.array([0.9, 1.0, 1.1])
        error = np.sqrt(2 * 0.01 / 3)
        for errors_ahead, claimed in ((3.5, False), (5.0, True)):
            values = np.concatenate([first, first + errors_ahead * error])
            ratings = Ratings(("a", "b"), np.repeat([0, 1], 3), np.arange(6), np.zeros(6, dtype=np.int64), values)
            found = rank_ratings(ratings, clusters=Clusters.FIXED_PANEL)
            assert (found.bots[0].bot, found.bots[0].rank_high == 1) == ("b", claimed)

    def test_correction_of_the_family_claims_no_more_than_single_tests(self):
        ratings = _study(seed=9)
        alone, together = (rank_ratings(ratings, adjustment=each) for each in (Adjustment.NONE, Adjustment.BONFERRONI))
        widths = [sum(bot.rank_high - bot.rank_low for bot in found.bots) for found in (alone, together)]
        assert widths[0] <= widths[1]

    def test_annotators_make_intervals_wider_and_one_alone_gives_none(self):
        ratings = _study()
        errors = [
            rank_ratings(ratings, clusters=each).bots[0].uncertainty.standard_error or 0.0
            for each in (Clusters.FIXED_PANEL, Clusters.BOTH)
        ]
        assert 0 < errors[0] < errors[1]
        one = rank_ratings(Ratings(ratings.bots, ratings.bot, ratings.item, ratings.annotator * 0, ratings.value))
        assert [(bot.low, bot.rank_low, bot.rank_high) for bot in one.bots] == [(None, 1, 3)] * 3
        assert "all observations are of one annotator" in str(one.bots[0].reason)

    @pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e-5, 1e12, 1e300])
    def test_the_unit_of_ratings_changes_no_rank_and_no_interval_but_by_the_unit(self, factor):
        ratings = _study()
        moved = rank_ratings(replace(ratings, value=ratings.value * factor))
        for one, same in zip(rank_ratings(ratings).bots, moved.bots, strict=True):
            assert (same.bot, same.rank_low, same.rank_high) == (one.bot, one.rank_low, one.rank_high)
            for figure in ("estimate", "low", "high"):
                assert getattr(same, figure) / factor == pytest.approx(getattr(one, figure), rel=1e-6)

    def test_ratings_that_are_all_alike_have_no_interval_and_no_claim(self):
        bot = np.repeat([0, 1], 6)
        ratings = Ratings(("a", "b"), bot, np.arange(12) % 6, np.arange(12) % 3, np.where(bot == 0, 5.0, 1.0))
        found = rank_ratings(ratings)
        assert [(each.estimate, each.low, each.rank_low, each.rank_high) for each in found.bots] == [
            (5.0, None, 1, 2),
            (1.0, None, 1, 2),
        ]
        assert "all alike" in str(found.bots[0].reason)

    def test_interval_on_a_scale_holds_the_means_that_a_score_test_does_not_reject(self):
        """Wilson (1927): the variance of a mean mu is as (mu - 1) (5 - mu), and the bounds are t of it away."""
        ratings = _near_the_lowest()
        for unbounded, bot in zip(rank_ratings(ratings).bots, _on(ratings, 1, 5).bots, strict=True):
            mean, error = bot.estimate, bot.uncertainty.standard_error or np.nan
            quantile = scipy.stats.t.ppf(0.975, bot.uncertainty.degrees_of_freedom or np.nan)
            low, high = _bounds(bot)
            for bound in (low, high):
                ratio = (bound - 1) * (5 - bound) / ((mean - 1) * (5 - mean))
                assert abs(mean - bound) == pytest.approx(quantile * error * np.sqrt(ratio))
            assert 1 < low < mean < high < 5
            assert _bounds(unbounded)[0] < 1
            assert bot.rank_low == unbounded.rank_low
            assert bot.rank_high == unbounded.rank_high
            assert bot.uncertainty == unbounded.uncertainty

    def test_a_scale_that_is_turned_round_turns_intervals_round(self):
        ratings = _near_the_lowest()
        turned = {each.bot: each for each in _on(replace(ratings, value=6 - ratings.value), 1, 5).bots}
        for bot in _on(ratings, 1, 5).bots:
            low, high = _bounds(bot)
            assert _bounds(turned[bot.bot]) == pytest.approx((6 - high, 6 - low))

    @pytest.mark.parametrize("factor", [1e-300, 1e-5, 1e300])
    def test_the_unit_of_a_scale_changes_no_interval_but_by_the_unit(self, factor):
        ratings = _near_the_lowest()
        moved = _on(replace(ratings, value=ratings.value * factor), factor, 5 * factor)
        for one, same in zip(_on(ratings, 1, 5).bots, moved.bots, strict=True):
            low, high = _bounds(same)
            assert (low / factor, high / factor) == pytest.approx(_bounds(one), rel=1e-6)

    def test_ratings_that_are_all_alike_have_an_interval_at_an_end_of_the_scale_alone(self):
        """Clopper & Pearson (1934), of 3 annotators who all gave the highest: the share is .025 ** (1 / 3) at least."""
        bot = np.repeat([0, 1, 2], 6)
        value = np.repeat([5.0, 3.0, 1.0], 6)
        ratings = Ratings(("a", "b", "c"), bot, np.arange(18) % 6, np.arange(18) % 3, value, (1, 5))
        highest, middle, lowest = rank_ratings(ratings).bots
        least = 0.025 ** (1 / 3)
        assert _bounds(highest) == pytest.approx((1 + 4 * least, 5))
        assert _bounds(lowest) == pytest.approx((1, 5 - 4 * least))
        assert (highest.reason, lowest.reason) == (None, None)
        assert (middle.low, middle.high) == (None, None)
        assert "all alike" in str(middle.reason)

    @pytest.mark.parametrize("scale", [(5, 1), (1, 1), (1, np.inf), (np.nan, 5), (-1e308, 1e308), (2, 5), (1, 1.5)])
    def test_a_scale_without_two_ends_or_with_ratings_beyond_it_is_refused(self, scale):
        with pytest.raises(SettingOutOfRange, match=r"scale|ratings from"):
            _on(_near_the_lowest(), *scale)

    def test_level_outside_its_range_is_refused(self):
        with pytest.raises(SettingOutOfRange, match="confidence_level"):
            rank_ratings(_study(), confidence_level=1.0)
        with pytest.raises(SettingOutOfRange, match="significance_level"):
            rank_ratings(_study(), significance_level=0.0)

    def test_one_bot_is_first(self):
        (bot,) = rank_ratings(_study(bots=1)).bots
        assert (bot.rank_low, bot.rank_high, bot.cluster) == (1, 1, 1)

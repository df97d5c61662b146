"""Student's interval of a mean against scipy, and means of the means of dialogues worked by hand."""

import numpy as np
import pytest

from spotthebot.analytics.stats.means import means_of_means, student_interval
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.ratings import rank_ratings
from spotthebot.statistics.errors import ColumnMalformed
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.lazy_imports import lazily

ttest_1samp = lazily("scipy.stats:ttest_1samp")
VALUES = [5, 4, 4, 2, 1, 3, 5]


class TestStudentInterval:
    @pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
    def test_is_scipy_s(self, level):
        found = student_interval(VALUES, confidence_level=level)
        expected = ttest_1samp(VALUES, 0).confidence_interval(level)
        assert (found.estimate, found.low, found.high) == pytest.approx((24 / 7, expected.low, expected.high))
        assert found.n == 7

    def test_is_that_of_ratings_without_clusters_or_scale(self):
        """Two implementations: the variance of clusters of one rating each, and the formula for independent values."""
        at = np.arange(len(VALUES))
        ratings = Ratings(("a",), np.zeros(len(VALUES), dtype=np.int64), at, at, np.array(VALUES, dtype=np.float64))
        (bot,) = rank_ratings(ratings, clusters=Clusters.NONE).bots
        found = student_interval(VALUES)
        assert (found.low, found.high) == pytest.approx((bot.low, bot.high))

    def test_does_not_depend_on_the_unit_of_the_values(self):
        small, large = student_interval(VALUES), student_interval([each * 1e300 for each in VALUES])
        assert large.low == pytest.approx((small.low or 0) * 1e300)
        assert large.high == pytest.approx((small.high or 0) * 1e300)

    @pytest.mark.parametrize(
        ("values", "reason"),
        [
            ([3], "there is one value alone"),
            ([3, 3, 3], "all values are alike, so nothing tells how others would differ"),
            ([0.3, 0.3, 0.3], "all values are alike, so nothing tells how others would differ"),
        ],
    )
    def test_has_no_bounds_where_nothing_varies(self, values: list[float], reason: str):
        found = student_interval(values)
        assert found.estimate == pytest.approx(values[0])
        assert (found.low, found.high) == (None, None)
        assert found.reason == reason

    def test_has_no_mean_where_there_are_no_values(self):
        found = student_interval([])
        assert (found.estimate, found.low, found.high, found.n) == (None, None, None, 0)
        assert found.reason == "there are no values"

    @pytest.mark.parametrize("values", [[[1, 2], [3, 4]], [1, float("nan")], [1, None]])
    def test_refuses_what_is_no_column_of_finite_numbers(self, values):
        with pytest.raises(ColumnMalformed):
            student_interval(values)


class TestMeansOfMeans:
    def test_give_each_dialogue_of_a_bot_the_same_weight(self):
        """The first bot: (1 + 2 + 3) / 3 = 2 and 5; the second: 4 in one dialogue of the first's; the third nothing."""
        bot, dialogue = np.array([0, 0, 0, 0, 1]), np.array([7, 7, 7, 2, 7])
        found = means_of_means(bot, dialogue, np.array([1.0, 2, 3, 5, 4]), 3)
        assert found[:2].tolist() == [3.5, 4]
        assert np.isnan(found[2])

    def test_are_undefined_where_there_are_no_values(self):
        nothing = np.array([], dtype=np.int64)
        assert np.isnan(means_of_means(nothing, nothing, nothing.astype(np.float64), 2)).all()

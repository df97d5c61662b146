"""The agreement of raters' halves, against all halves of a small table and the known reliability of a large one."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy

from spotthebot.fed.stats.split_half import split_half
from tests.factories.known import known

NAN = float("nan")


class TestSplitHalf:
    def test_is_the_mean_over_all_halves(self):
        """Four raters of four items: each item's six ways to halve, all 1,296 together; splits draw from these."""
        table = np.array([[1, 2, 2, 4], [3, 1, 4, 4], [5, 6, 3, 5], [2, 6, 7, 6]], dtype=float)
        halves = [set(each) for each in combinations(range(4), 2)]
        every = [
            scipy.stats.spearmanr(
                [np.mean([row[at] for at in half]) for row, half in zip(table, chosen, strict=True)],
                [np.mean([row[at] for at in {0, 1, 2, 3} - half]) for row, half in zip(table, chosen, strict=True)],
            ).statistic
            for chosen in product(halves, repeat=4)
        ]
        found = split_half(table, n_splits=400, seed=1)
        assert found.estimate == pytest.approx(np.mean(every), abs=4 * np.std(every) / np.sqrt(400))
        assert found.all_raters == pytest.approx(2 * known(found.estimate) / (1 + known(found.estimate)))
        assert (found.n, found.n_splits, found.seed) == (4, 400, 1)

    def test_has_the_reliability_of_a_known_model(self):
        """A true value of variance 1 and noise of variance 2 in six raters: halves of three correlate 1 / (1 + 2 / 3).

        That is Pearson's r; of normal values, Spearman's is 6 / pi asin(r / 2).
        """
        chance = np.random.default_rng(4)
        table = chance.normal(size=(4000, 1)) + chance.normal(0, np.sqrt(2), size=(4000, 6))
        assert split_half(table, n_splits=20).estimate == pytest.approx(6 / np.pi * np.arcsin(0.3), abs=0.03)

    def test_leaves_out_items_with_fewer_than_two_ratings(self):
        table: list[list[float]] = [[1, 1, NAN], [2, NAN, 2], [NAN, 4, NAN], [NAN, NAN, NAN], [5, 5, 5]]
        found = split_half(table, n_splits=5)
        assert (found.estimate, found.n) == (1, 3)

    def test_leaves_out_splits_of_which_a_half_does_not_vary(self):
        """Of the eight ways to halve three items, the two that part all twos from the rest leave one half of twos."""
        found = split_half([[2, 1], [2, 3], [2, 5]], n_splits=400)
        assert found.n_splits == pytest.approx(300, abs=40)
        assert found.estimate is not None

    @pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e-6, 1e12, 1e300])
    def test_does_not_depend_on_the_unit_of_the_ratings(self, factor):
        table = np.random.default_rng(6).integers(1, 6, (30, 4)) / 1.0
        found, same = split_half(table, n_splits=20), split_half(table * factor, n_splits=20)
        assert same.estimate == pytest.approx(found.estimate)
        assert same.all_raters == pytest.approx(found.all_raters)

    @pytest.mark.parametrize(
        "table", [[[1, 4], [2, 3], [3, 2], [4, 1]], [[1, 5, 5], [2, 4, 4], [3, 3, 3], [4, 2, 2], [5, 1, 1]]]
    )
    def test_raters_who_contradict_each_other_have_no_reliability(self, table):
        """Spearman & Brown's 2 r / (1 + r) has no meaning below 0: for r = -.51 it is -2.08."""
        found = split_half(table, n_splits=200)
        assert found.estimate is not None
        assert -1 <= found.estimate < 0
        assert (found.all_raters, found.reason) == (None, "the halves of the ratings contradict each other")

    def test_same_seed_gives_the_same_halves(self):
        table = np.random.default_rng(5).integers(0, 3, (30, 5))
        assert split_half(table, n_splits=9, seed=2) == split_half(table, n_splits=9, seed=2)
        assert split_half(table, n_splits=9, seed=2).estimate != split_half(table, n_splits=9, seed=3).estimate

    @pytest.mark.parametrize(
        ("table", "reason"),
        [
            ([[1, 2], [2, 3]], "fewer than three items with two ratings"),
            ([[1], [2], [3], [4]], "fewer than three items with two ratings"),
            ([[1, 1], [1, 1], [1, 1]], "a half of the ratings does not vary"),
        ],
    )
    def test_says_why_there_is_none(self, table, reason):
        found = split_half(table, n_splits=3)
        assert (found.estimate, found.all_raters, found.reason) == (None, None, reason)

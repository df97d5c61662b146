"""Spearman's rho against all orders of a few pairs, printed tables, R's worked example and scipy."""

import doctest
import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
import scipy

from spotthebot.statistics import rank_correlation as module
from spotthebot.statistics.errors import ColumnsDiffer
from spotthebot.statistics.rank_correlation import kendall_p_value, rank_correlation
from tests.factories.published_dump import reference


def share_of_orders(x: list[int], y: list[int]) -> Fraction:
    """Count all orders whose rho is as far from 0, by exact fractions."""
    first, second = (
        [Fraction(2 * sum(b < a for b in side) + sum(b == a for b in side) + 1, 2) for a in side] for side in (x, y)
    )
    mean = Fraction(len(x) + 1, 2)
    sums: list[Fraction] = [
        abs(sum(((a - mean) * (b - mean) for a, b in zip(first, order, strict=True)), Fraction()))
        for order in permutations(second)
    ]
    return Fraction(sum(each >= sums[0] for each in sums), len(sums))


class TestRankCorrelation:
    def test_is_the_worked_example(self):
        expected = reference("statistics/worked_examples.json")["proportions"]["spearman [1..6] vs [2,1,3,4,6,5]"]
        found = rank_correlation(range(1, 7), [2, 1, 3, 4, 6, 5])
        assert (found.estimate, found.p_value) == pytest.approx((expected["rho"], expected["p_exact"]))

    @pytest.mark.parametrize(
        ("x", "y"),
        [
            ([1, 2, 3], [1, 3, 2]),
            ([1, 1, 2, 3], [5, 4, 4, 4]),
            ([3, 1, 4, 1, 5], [2, 7, 1, 8, 2]),
            ([3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8, 2, 8, 1]),
            ([1, 2, 2, 2, 2, 2, 3], [1, 1, 1, 2, 2, 2, 9]),
        ],
    )
    def test_counts_all_orders_with_ties(self, x, y):
        found = rank_correlation(x, y)
        assert found.p_value == pytest.approx(float(share_of_orders(x, y)), abs=1e-15)
        assert found.estimate == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
        assert found.method == "Spearman, exact"

    @pytest.mark.parametrize(("n", "critical"), [(10, 0.648), (11, 0.618), (12, 0.587)])
    def test_meets_the_table_of_critical_values(self, n, critical):
        """Zar 1972, JASA 67: two-sided 5 % points; the next smaller rho, of a sum 2 larger, is beyond."""
        at = round((1 - critical) * n * (n * n - 1) / 6)
        at -= at % 2  # sums of squared differences are even
        least, next_least = (rank_correlation(range(n), _order_with(n, squares)).p_value for squares in (at, at + 2))
        assert least is not None
        assert next_least is not None
        assert least <= 0.05 < next_least

    def test_twelve_pairs_are_the_last_with_all_their_orders(self):
        # Of 12! orders two are as far from 0 as the same order: itself, and its reverse.
        twelve = rank_correlation(range(12), range(12))
        assert twelve.p_value == pytest.approx(2 / math.factorial(12))
        assert twelve.method == "Spearman, exact"
        assert rank_correlation(range(13), range(13)).method == "Spearman, Student's t"

    def test_many_pairs_are_scipy_s(self):
        x, y = np.random.default_rng(1).normal(size=(2, 30))
        expected = scipy.stats.spearmanr(x, y)
        found = rank_correlation(x, y)
        assert (found.estimate, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))

    def test_has_the_bounds_of_fisher_s_z(self):
        """The rho of four of ten swapped pairs; r = 0.9515, variance (1 + r² / 2) / 8, Student's t of 8 degrees."""
        x, y = range(10), [1, 0, 3, 2, 5, 4, 7, 6, 8, 9]
        found = rank_correlation(x, y, confidence_level=0.9)
        r = 1 - 6 * 8 / 990
        reach = 1.859548 * math.sqrt((1 + r**2 / 2) / 8)  # the .95 quantile of t with 8 degrees
        z = 0.5 * math.log((1 + r) / (1 - r))
        assert (found.low, found.high) == pytest.approx((math.tanh(z - reach), math.tanh(z + reach)))
        assert found.reason is None

    def test_has_bounds_for_equal_orders_and_none_for_few_pairs(self):
        same, opposite = rank_correlation(range(8), range(8)), rank_correlation(range(8), range(8, 0, -1))
        assert same.high == 1
        assert same.low == pytest.approx(-(opposite.high or 0))
        assert 0 < (same.low or 0) < 1
        few = rank_correlation(range(4), [0, 2, 1, 3])
        assert (few.low, few.high, few.reason) == (None, None, "an interval needs 5 pairs")
        assert few.estimate == pytest.approx(0.8)

    @pytest.mark.parametrize(
        ("x", "y", "reason"),
        [([1, 2], [1, 2], "fewer than three pairs"), ([1, 1, 1], [1, 2, 3], "one side does not vary")],
    )
    def test_says_why_there_is_none(self, x, y, reason):
        assert rank_correlation(x, y).reason == reason

    @pytest.mark.parametrize("missing", [math.nan, None, Decimal("NaN")])
    def test_leaves_out_pairs_of_which_a_side_is_missing(self, missing):
        found = rank_correlation([1, missing, 2, 9, 3, 4, 5, 6], [2, 9, 1, missing, 3, 4, 6, 5])
        assert found == rank_correlation([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5])
        few = rank_correlation([1, 2, missing, 4], [1, 2, 3, missing])
        assert few.estimate is None
        assert few.p_value is None
        assert few.n == 2
        assert few.reason == "fewer than three pairs"
        assert rank_correlation([1, 2, 2, missing, 2], [missing, 1, 2, 3, 3]).reason == "one side does not vary"

    @pytest.mark.parametrize(
        ("column", "ranks"),
        [
            ([math.inf, 2, 3, -math.inf, 1], [5, 3, 4, 1, 2]),
            ([9e307, 3, 4, -9e307, 0.0], [5, 3, 4, 1, 2]),
            ([5e-324, 1e-323, 1.5e-323, 0.0, -0.0], [3, 4, 5, 1.5, 1.5]),
        ],
    )
    def test_has_the_ranks_of_infinite_huge_and_tiny_numbers(self, column, ranks):
        assert rank_correlation(column, range(5)) == rank_correlation(ranks, range(5))

    @pytest.mark.parametrize(("x", "y"), [([1, 2, 3], [1, 2, 3, 4]), ([[1, 2, 3]], [[1, 2, 3]])])
    def test_refuses_columns_that_do_not_fit(self, x, y):
        with pytest.raises(ColumnsDiffer):
            rank_correlation(x, y)

    def test_shows_an_example_that_holds(self):
        results = doctest.testmod(module)
        assert results.attempted > 0
        assert results.failed == 0


def _order_with(n: int, squares: int) -> list[int]:
    """Return an order of range(n) whose squared differences from it sum to an even number: by swaps of neighbours."""
    chance = np.random.default_rng(n)
    order = list(range(n))
    total = 0
    while total != squares:
        a, b = chance.integers(n, size=2)
        swapped = order.copy()
        swapped[a], swapped[b] = swapped[b], swapped[a]
        found = sum((at - value) ** 2 for at, value in enumerate(swapped))
        if abs(found - squares) <= abs(total - squares) + chance.integers(4):
            order, total = swapped, found
    return order


class TestKendallP:
    @pytest.mark.parametrize(
        ("x", "y"),
        [
            ([1, 2, 3], [1, 3, 2]),
            ([1, 1, 2, 3], [5, 4, 4, 4]),
            ([3, 1, 4, 1, 5], [2, 7, 1, 8, 2]),
            ([3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8, 2, 8, 1]),
            ([1, 2, 2, 2, 2, 2, 3], [1, 1, 1, 2, 2, 2, 9]),
        ],
    )
    def test_counts_all_orders_with_ties(self, x, y):
        """Concordant less discordant pairs, of every order of one side."""

        def surplus(order):
            pairs = combinations(zip(x, order, strict=True), 2)
            return abs(sum(int(np.sign(a - c) * np.sign(b - d)) for (a, b), (c, d) in pairs))

        sums = [surplus(order) for order in permutations(y)]
        share = sum(each >= surplus(y) for each in sums) / len(sums)
        assert kendall_p_value(np.array(x, float), np.array(y, float)) == pytest.approx(share, abs=1e-15)

    @pytest.mark.parametrize("n", [9, 12, 13])
    def test_without_ties_is_scipy_s(self, n):
        x, y = np.random.default_rng(n).normal(size=(2, n))
        assert kendall_p_value(x, y) == pytest.approx(scipy.stats.kendalltau(x, y).pvalue)

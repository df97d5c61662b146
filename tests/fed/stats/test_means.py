"""Means of dialogues and systems."""

import numpy as np
import pytest

from spotthebot.fed.stats.means import group_means
from spotthebot.statistics.errors import ColumnMalformed, ColumnsDiffer

NAN = float("nan")


class TestGroupMeans:
    def test_are_in_the_order_of_first_items(self):
        names, means = group_means([4, 1, 2, 3], ["z", "a", "z", "a"])
        assert (names, means.tolist()) == (["z", "a"], [3, 2])

    def test_leave_out_what_is_missing(self):
        names, means = group_means([NAN, 2, NAN, 4], [1, 1, 2, 1])
        assert names == [1, 2]
        assert np.array_equal(means, [3, NAN], equal_nan=True)
        assert group_means([], [])[0] == []

    @pytest.mark.parametrize("unit", [5e-324, 1e-300, 2.0**1022])
    def test_tiny_and_huge_values_have_a_mean(self, unit):
        # Twice 2**1023 is more than a number can be.
        assert group_means([2 * unit, 2 * unit, NAN, unit], [1, 1, 1, 2])[1].tolist() == [2 * unit, unit]

    @pytest.mark.parametrize("missing", [None, NAN])
    def test_no_group_is_no_group_of_its_own(self, missing):
        with pytest.raises(ColumnMalformed, match=r"Column groups, row 1 \(the first is 0\): is missing"):
            group_means([1, 2, 3], ["a", missing, "a"])
        assert group_means([1, 2], [("a", 1), ("a", 2)])[0] == [("a", 1), ("a", 2)]

    @pytest.mark.parametrize("values", [[1], [[1, 2]]])
    def test_need_a_group_for_each_value(self, values):
        with pytest.raises(ColumnsDiffer):
            group_means(values, ["a", "b"])

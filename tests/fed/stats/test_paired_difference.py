"""The difference of two versions in pairs, against scipy and written out."""

import numpy as np
import pytest
import scipy

from spotthebot.fed.stats.paired_difference import POWER, paired_difference
from spotthebot.statistics.errors import ColumnsDiffer, LevelOutOfRange


def drawn(n=40):
    chance = np.random.default_rng(3)
    opening = chance.normal(size=n)
    return opening + chance.normal(size=n), opening + chance.normal(size=n)


class TestPairedDifference:
    def test_bounds_are_those_of_a_paired_t_test_or_wider(self):
        new, old = drawn()
        found = paired_difference(new, old, range(40), confidence_level=0.95, n_resamples=20_000)
        oracle = scipy.stats.ttest_rel(new, old).confidence_interval(0.9)  # 5 % on each side
        assert found.estimate == pytest.approx(np.mean(new - old))
        assert found.low <= oracle.low + 1e-9
        assert found.high >= oracle.high - 1e-9
        assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=0.05)

    def test_pairs_with_one_opening_or_one_text_count_once(self):
        new, old = drawn()
        once = paired_difference(new, old, range(40))
        twice = [np.repeat(each, 2) for each in (new, old, np.arange(40))]
        for columns in (twice, [*twice[:2], np.arange(80), twice[2]]):
            found = paired_difference(*columns)
            assert found.high == pytest.approx(once.high, abs=0.02)
        assert "clustered by opening" in found.method

    def test_the_detectable_loss_is_found_as_often_as_it_says(self):
        """Normal scores: the power of a one-sided t test at this loss, by the noncentral t."""
        new, old = drawn(200)
        found = paired_difference(new, old, range(200), n_resamples=20_000)
        lead = found.detectable / scipy.stats.sem(new - old)
        power = scipy.stats.nct.sf(scipy.stats.t.ppf(0.95, 199), 199, lead)
        assert power == pytest.approx(POWER, abs=0.03)

    def test_few_or_equal_pairs_have_no_bounds(self):
        for new, old, said in (([1, 2], [2, 4], "fewer than 5"), ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], "one mean")):
            found = paired_difference(new, old, range(len(new)))
            assert (found.low, found.high, found.detectable) == (None, None, None)
            assert said in (found.reason or "")

    def test_refuses_columns_that_are_no_pairs_and_levels_below_a_half(self):
        for new, old in (([1, 2], [1]), ([], [])):
            with pytest.raises(ColumnsDiffer):
                paired_difference(new, old, range(len(new)))
        with pytest.raises(LevelOutOfRange):
            paired_difference([1, 2], [2, 1], range(2), confidence_level=0.5)

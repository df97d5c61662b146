import numpy as np
import pytest

from spotthebot.analytics.stats import SettingOutOfRange, bootstrap
from spotthebot.analytics.stats.bootstrap import (
    cluster_counts,
    percentile_interval,
    resampled_counts,
    resampled_totals,
)


class TestClusterCounts:
    def test_counts_cells_in_the_order_of_the_cluster_codes(self):
        counts = cluster_counts(np.array([9, 4, 9, 9]), np.array([0, 2, 1, 0]), 3)
        assert counts.tolist() == [[0, 0, 1], [2, 1, 0]]


class TestResampledTotals:
    def test_are_sums_over_clusters_drawn_with_replacement(self):
        totals = np.arange(12.0).reshape(4, 3)
        drawn = np.random.default_rng(11).integers(4, size=(6, 4))
        np.testing.assert_array_equal(resampled_totals(totals, 6, seed=11), totals[drawn].sum(axis=1))

    def test_size_of_the_portions_does_not_show(self, monkeypatch):
        totals = np.random.default_rng(0).uniform(size=(7, 2))
        at_once = resampled_totals(totals, 25, seed=1)
        monkeypatch.setattr(bootstrap, "_DRAWS_AT_ONCE", 20)
        np.testing.assert_array_equal(resampled_totals(totals, 25, seed=1), at_once)

    def test_nothing_to_draw_gives_zeros(self):
        assert resampled_totals(np.zeros((0, 2)), 3, seed=0).tolist() == [[0, 0]] * 3
        assert resampled_counts(np.array([0, 0]), 3, seed=0).tolist() == [[0, 0]] * 3


class TestResampledCounts:
    def test_have_the_mean_and_spread_of_a_multinomial(self):
        drawn = resampled_counts(np.array([30, 70]), 4000, seed=0)
        assert set(drawn.sum(axis=1)) == {100}
        assert drawn[:, 0].mean() == pytest.approx(30, abs=0.3)
        assert drawn[:, 0].var() == pytest.approx(100 * 0.3 * 0.7, rel=0.1)


class TestPercentileInterval:
    def test_leaves_out_undefined_replicates(self):
        replicates = np.column_stack([np.arange(101.0), np.full(101, np.nan), np.arange(101.0)])
        replicates[:50, 2] = np.nan
        low, high = percentile_interval(replicates, 0.9)
        np.testing.assert_allclose(low, [5, np.nan, 52.5])
        np.testing.assert_allclose(high, [95, np.nan, 97.5])

    @pytest.mark.parametrize("confidence_level", [0, 1, -0.5, 95, float("nan")])
    def test_refuses_a_level_that_is_no_share(self, confidence_level):
        with pytest.raises(SettingOutOfRange, match="confidence_level must be between 0 and 1"):
            percentile_interval(np.zeros((2, 2)), confidence_level)

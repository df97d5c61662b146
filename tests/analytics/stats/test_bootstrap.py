import numpy as np
import pytest

from spotthebot.analytics.stats import bootstrap
from spotthebot.analytics.stats.bca import ClusterBootstrap, bootstrap_clusters
from spotthebot.analytics.stats.bootstrap import require_confidence_level, resampled_totals
from spotthebot.statistics.errors import SettingOutOfRange


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


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ([[1.0, 2.0]], ClusterBootstrap(0.5, None, None, 1, 0, "one cluster does not show how clusters differ")),
        ([[1.0, 0.0], [2.0, 0.0]], ClusterBootstrap(None, None, None, 2, 0, "the estimate is not defined")),
    ],
)
def test_one_cluster_and_an_undefined_estimate_have_no_bounds(totals, expected):
    def ratio(sums):
        return np.divide(sums[:, 0], sums[:, 1], out=np.full(len(sums), np.nan), where=sums[:, 1] > 0)

    found = bootstrap_clusters(np.array(totals), ratio, confidence_level=0.95, n_resamples=10, seed=0)
    assert found == expected


@pytest.mark.parametrize("confidence_level", [0, 1, -0.5, 95, float("nan"), 1e-16, 1 - 1e-16])
def test_a_confidence_level_that_is_no_share_is_refused(confidence_level):
    with pytest.raises(SettingOutOfRange, match=r"confidence_level must be from 0\.000001 to 0\.999999"):
        require_confidence_level(confidence_level)

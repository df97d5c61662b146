"""Variances of statistics without each cluster: for means they are those of influences."""

import numpy as np
import pytest

from spotthebot.statistics.clustered_variance import Observations, clustered_variance, shares_of
from spotthebot.statistics.left_out import LeftOut, left_out_variance
from spotthebot.statistics.uncertainty import Clusters

VALUES = np.random.default_rng(7).normal(size=40)
DIALOGUE, ANNOTATOR = np.repeat(np.arange(10), 4), np.random.default_rng(8).integers(5, size=40)


def without(cluster):
    codes = np.unique(cluster)
    means = np.array([[VALUES[cluster != each].mean() for each in codes]])
    return LeftOut(means, np.array([np.sum(cluster == each) for each in codes]))


def jackknife(left_out):
    (values,) = left_out.values
    return (len(values) - 1) / len(values) * np.sum((values - values.mean()) ** 2)


class TestLeftOutVariance:
    def test_is_that_of_influences_for_a_mean_over_equal_clusters(self):
        _, _, influence = shares_of(np.zeros(40, dtype=int), VALUES, 1)
        expected = clustered_variance(Observations(DIALOGUE, ANNOTATOR), influence, Clusters.CONVERSATION)
        found = left_out_variance(without(DIALOGUE))
        assert found.variance == pytest.approx(expected.variance)
        assert found.degrees == pytest.approx(expected.degrees)
        assert (found.n_conversations.tolist(), found.clusters) == ([10], Clusters.CONVERSATION)

    def test_is_the_sum_of_two_kinds_less_that_of_what_they_share(self):
        """Cameron, Gelbach & Miller 2011, Eq. 2.11, with Satterthwaite's degrees of freedom, written out."""
        one, other, both = without(DIALOGUE), without(ANNOTATOR), without(DIALOGUE * 5 + ANNOTATOR)
        parts = [jackknife(each) for each in (one, other, both)]
        found = left_out_variance(one, other, both)
        variance = max(parts[0] + parts[1] - parts[2], *parts[:2])
        assert found.variance == pytest.approx([variance])
        effective = 40**2 / np.sum(np.bincount(ANNOTATOR) ** 2)
        degrees = variance**2 / (parts[0] ** 2 / 9 + parts[1] ** 2 / (effective - 1))
        assert found.degrees == pytest.approx([degrees])
        assert (found.n_annotators.tolist(), found.clusters) == ([5], Clusters.BOTH)

    def test_is_at_least_that_of_each_kind(self):
        one, other = (LeftOut(np.array([values]), np.ones(3, dtype=int)) for values in ([0.0, 1, 2], [0.0, 2, 4]))
        assert left_out_variance(one, other, other).variance.tolist() == [pytest.approx(jackknife(other))]

    def test_is_unknown_without_a_value_or_a_second_cluster(self):
        values = np.array([[1.0, 2.0, np.nan], [1.0, 2.0, 4.0]])
        found = left_out_variance(LeftOut(values, np.ones(3, dtype=int)))
        assert np.isnan(found.variance).tolist() == [True, False]
        assert np.isnan(left_out_variance(LeftOut(values[:, :1], np.ones(1, dtype=int))).variance).all()
        assert np.isnan(left_out_variance(LeftOut(np.empty((2, 0)), np.empty(0, dtype=int))).variance).all()

    def test_clusters_of_different_size_have_fewer_degrees_of_freedom(self):
        """10 clusters, one with 31 of 40 observations, are worth (40² / (31² + 9)) of equal size (Kish 1965)."""
        found = left_out_variance(LeftOut(np.arange(10.0)[None], np.array([31, *[1] * 9])))
        assert found.degrees.tolist() == [pytest.approx(1600 / 970 - 1)]

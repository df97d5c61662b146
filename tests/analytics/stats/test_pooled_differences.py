"""Variances of differences of means: the pooled ones against the definition written out, and who keeps their own."""

import numpy as np
import pytest

from spotthebot.analytics.stats.rating_estimates import Ratings, differences_of_means
from spotthebot.statistics.clustered_variance import Observations, clustered_parts, shares_of
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters


def _study(seed: int, *, bots: int = 4, items: int = 10, annotators: int = 5, taste: float = 0.1):
    """Two ratings of each of ten items of each bot; items of different bots are different."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(bots * items), 2)
    annotator = rng.random((bots * items, annotators)).argsort(axis=1)[:, :2].ravel()
    bot = item // items
    tastes = rng.normal(0, taste, (annotators, bots))
    return bot, item, annotator, 0.5 + tastes[annotator, bot] + rng.normal(0, 0.1, len(bot))


def _of_turns(study, turns, seed: int):
    """Return a study in which each annotation has this many values, which differ."""
    bot, item, annotator, value = (np.repeat(column, turns) for column in study)
    return bot, item, annotator, value + np.random.default_rng([seed, 1]).normal(0, 0.1, len(bot)) * (turns.max() > 1)


def _variances(study, clusters: Clusters = Clusters.BOTH) -> tuple[ClusteredVariance, ClusteredVariance]:
    """Return the variances of all differences, and each difference's own."""
    bot, item, annotator, value = study
    ratings = Ratings(tuple(f"bot {at}" for at in range(bot.max() + 1)), bot, item, annotator, value)
    _, _, influence = shares_of(bot, value, len(ratings.bots))
    parts = clustered_parts(Observations(item, annotator), influence, clusters)
    first, second = np.triu_indices(len(ratings.bots), 1)
    return differences_of_means(ratings, influence, parts, first, second), parts.differences(first, second)


def _jackknife(bot, value, cluster):
    """The delete-one-cluster jackknife of means, written out: how every cluster changes every mean, (bots, bots)."""
    changes = np.zeros((cluster.max() + 1, bot.max() + 1))
    for b in range(bot.max() + 1):
        mine = bot == b
        codes = np.unique(cluster[mine])
        for code in codes:
            changes[code, b] = value[mine & (cluster != code)].mean() - value[mine].mean()
        changes[:, b] *= np.sqrt((len(codes) - 1) / len(codes))
    return changes.T @ changes


def _of_difference(gram, first, second):
    return gram[first, first] + gram[second, second] - 2 * gram[first, second]


class TestVarianceOfDifferences:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("max_turns", [1, 6])
    def test_is_the_mean_of_own_and_expected_effects_written_out(self, seed: int, max_turns: int):
        fewer = _study(seed)[1] < 37  # ten items of three bots, seven of the last
        rated = tuple(column[fewer] for column in _study(seed))
        turns = np.random.default_rng(seed).integers(1, max_turns + 1, len(rated[0]))
        annotation = np.repeat(np.arange(len(turns)), turns)
        bot, item, annotator, value = study = _of_turns(rated, turns, seed)
        found, own = _variances(study)
        pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        clusters = {"item": item, "annotator": annotator, "annotation": annotation}
        grams = {name: _jackknife(bot, value, cluster) for name, cluster in clusters.items()}
        work = np.array([[np.sum((rated[2] == a) & (rated[0] == b)) for b in range(4)] for a in range(5)])
        independent = np.array([_of_difference(grams["annotation"], *pair) for pair in pairs])
        # An annotator rates an item once, so what both clusters share is the annotation.
        whole = np.array(
            [_of_difference(grams["item"] + grams["annotator"] - grams["annotation"], *pair) for pair in pairs]
        )
        n = work.sum(axis=0)
        others = (work**2).sum(axis=0) / n - 1 + 1
        excess = np.array([(others[i] / n[i] + others[j] / n[j]) / (1 / n[i] + 1 / n[j]) for i, j in pairs])
        effective = work.sum(axis=0) ** 2 / (work**2).sum(axis=0) - 1
        weight = np.array([min(effective[i], effective[j]) for i, j in pairs])
        effect = whole / independent
        rho = max(0, np.sum(weight * (effect - 1)) / np.sum(weight * excess))
        own_degrees = np.minimum(own.degrees, 4)  # five annotators
        of_effect = 3 * weight  # three independent differences of four bots
        expected = 1 + rho * excess
        mean = (own_degrees * effect + of_effect * expected) / (own_degrees + of_effect)
        np.testing.assert_allclose(found.variance, np.maximum(1, np.maximum(mean, effect)) * independent)
        np.testing.assert_allclose(found.degrees, 1 / (1 / of_effect + 1 / np.array([18, 18, 15, 18, 15, 15])))
        assert np.all(found.variance >= own.variance * (1 - 1e-12))

    def test_is_that_of_annotations_means_if_all_have_as_many_turns(self):
        """The mean of a bot's turns is the mean of its annotations' means, so both say the same of the bots."""
        bot, item, annotator, value = turns = _of_turns(_study(5), np.full(80, 3), 5)
        found, _ = _variances(turns)
        means, _ = _variances((bot[::3], item[::3], annotator[::3], value.reshape(-1, 3).mean(axis=1)))
        np.testing.assert_allclose(found.variance, means.variance)
        np.testing.assert_allclose(found.degrees, means.degrees)

    def test_is_never_below_that_of_independent_values(self):
        """Turns of one annotation differ as much as turns can, so that annotations are all alike."""
        bot, item, annotator, _ = _of_turns(_study(6), np.full(80, 2), 6)
        found, own = _variances((bot, item, annotator, np.arange(160) % 2.0))
        np.testing.assert_allclose(own.variance, (1 / 39 + 1 / 39) / 4)  # the jackknife of 40 values of 0 and 1
        np.testing.assert_array_equal(found.variance, own.variance)

    def test_a_bot_with_a_panel_of_its_own_keeps_its_own_variance(self):
        bot, item, annotator, value = _study(1)
        moved = np.where(bot == 3, annotator + 5, annotator)
        found, own = _variances((bot, item, moved, value))
        alone = np.triu_indices(4, 1)[1] == 3
        np.testing.assert_array_equal(found.variance[alone], own.variance[alone])
        np.testing.assert_array_equal(found.degrees[alone], np.minimum(own.degrees[alone], 4))
        rest, _ = _variances(tuple(column[bot < 3] for column in (bot, item, annotator, value)))
        np.testing.assert_allclose(found.variance[~alone], rest.variance)
        np.testing.assert_allclose(found.degrees[~alone], rest.degrees)

    @pytest.mark.parametrize("clusters", [Clusters.CONVERSATION, Clusters.FIXED_PANEL, Clusters.NONE])
    def test_nothing_is_pooled_for_these_annotators_alone(self, clusters: Clusters):
        found, own = _variances(_study(2), clusters)
        np.testing.assert_array_equal(found.variance, own.variance)

    def test_two_bots_have_nothing_to_pool_and_few_degrees_of_freedom(self):
        found, own = _variances(_study(2, bots=2, taste=0))
        np.testing.assert_array_equal(found.variance, own.variance)
        assert own.degrees[0] > 4
        assert found.degrees[0] == 4  # five annotators

    def test_a_bot_with_two_ratings_by_one_annotator_changes_no_other_difference(self):
        bot, item, annotator, value = _study(1)
        kept = (bot < 3) | (np.arange(len(bot)) % 20 < 2)
        bot, item, annotator, value = (column[kept] for column in (bot, item, annotator, value))
        others = np.triu_indices(4, 1)[1] < 3
        found, _ = _variances((bot, np.where(bot == 3, 100 + np.arange(len(bot)), item), annotator * (bot < 3), value))
        alone, _ = _variances(tuple(column[bot < 3] for column in (bot, item, annotator, value)))
        assert np.isnan(found.variance[~others]).all()
        np.testing.assert_allclose(found.variance[others], alone.variance)
        np.testing.assert_allclose(found.degrees[others], alone.degrees)

    def test_what_rounding_leaves_of_constant_ratings_changes_no_difference(self):
        bot, item, annotator, value = _study(1)
        rounded, exact = (
            _variances((bot, item, annotator, np.where(bot >= 2, each, value)))[0].variance for each in (0.1, 0.0)
        )
        assert rounded[-1] < 1e-26
        np.testing.assert_allclose(rounded[:-1], exact[:-1])

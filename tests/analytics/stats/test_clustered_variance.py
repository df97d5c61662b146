"""Variances under shared conversations and annotators, against definitions that are written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.share_intervals import share_bounds, share_tests
from spotthebot.statistics.annotator_sets import SharedMembers
from spotthebot.statistics.clustered_variance import (
    Influence,
    Observations,
    clustered_parts,
    clustered_variance,
    shares_of,
)
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters


def drawn(seed: int, n: int = 60) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """Draw a group, a hit, a conversation and an annotator for each of n observations."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    return group, rng.integers(2, size=n).astype(np.float64), rng.integers(15, size=n), rng.integers(6, size=n)


def jackknife(group: IntArray, hits: FloatArray, cluster: IntArray, which: int) -> float:
    """Leave each cluster out in turn: (G - 1) / G times the sum of squared changes of the share."""
    mine = group == which
    clusters = np.unique(cluster[mine])
    changes = [hits[mine & (cluster != each)].mean() - hits[mine].mean() for each in clusters]
    return (len(clusters) - 1) / len(clusters) * float(np.sum(np.square(changes)))


@pytest.mark.parametrize("seed", range(5))
class TestShares:
    def test_one_kind_of_clusters_gives_the_jackknife(self, seed: int):
        group, hits, conversation, annotator = drawn(seed)
        _, _, influence = shares_of(group, hits, 2)
        for clusters, cluster in ((Clusters.CONVERSATION, conversation), (Clusters.ANNOTATOR, annotator)):
            found = clustered_variance(Observations(conversation, annotator), influence, clusters)
            for which in (0, 1):
                single = jackknife(group, hits, np.arange(len(group)), which)
                expected = max(single, jackknife(group, hits, cluster, which))
                assert found.variance[which] == pytest.approx(expected, rel=1e-12)

    def test_both_kinds_add_up_less_what_they_share(self, seed: int):
        group, hits, conversation, annotator = drawn(seed)
        _, _, influence = shares_of(group, hits, 2)
        found = clustered_variance(Observations(conversation, annotator), influence)
        pair = conversation * 6 + annotator
        for which in (0, 1):
            first, second, both, single = (
                jackknife(group, hits, cluster, which)
                for cluster in (conversation, annotator, pair, np.arange(len(group)))
            )
            expected = max(single, first + second - both)
            assert found.variance[which] == pytest.approx(expected, rel=1e-12)
            mine = group == which
            worth = []
            for cluster in (conversation, annotator):
                sizes = np.unique(cluster[mine], return_counts=True)[1]
                worth.append(sizes.sum() ** 2 / np.sum(sizes**2) - 1)
            degrees = expected**2 / (first**2 / worth[0] + second**2 / worth[1])
            assert found.degrees[which] == pytest.approx(degrees, rel=1e-12)

    def test_a_difference_has_the_variance_of_its_own_influence(self, seed: int):
        group, _, conversation, annotator = drawn(seed)
        # Annotators lean one way in one group and the other way in the other: far above independent observations.
        hits = ((annotator < 3) == (group == 0)).astype(np.float64)
        _, _, influence = shares_of(group, hits, 2)
        who = Observations(conversation, annotator)
        contrast = Influence(
            n_statistics=1,
            statistic=np.zeros_like(group),
            observation=influence.observation,
            ratio=influence.ratio,
            value=np.where(group == 0, influence.value, -influence.value),
            weight=influence.weight,
        )
        # All clusters have a part in both shares, so that the number of clusters is the same.
        parts = clustered_parts(who, influence, Clusters.ANNOTATOR)
        whole = clustered_variance(who, contrast, Clusters.ANNOTATOR)
        assert parts.differences(np.array([0]), np.array([1])).variance == pytest.approx(whole.variance, rel=1e-9)


@pytest.mark.parametrize(("conversations", "annotators"), [(2, 3), (3, 2)])
def test_clusters_are_counted_of_their_kind_and_of_the_rarer_kind_where_there_are_two(
    conversations: int, annotators: int
):
    conversation, annotator = np.divmod(np.arange(6), annotators)
    _, _, influence = shares_of(np.zeros(6, dtype=int), np.array([1.0, 0, 0, 1, 1, 0]), 1)
    expected = {
        Clusters.BOTH: 2,
        Clusters.CONVERSATION: conversations,
        Clusters.FIXED_PANEL: conversations,
        Clusters.ANNOTATOR: annotators,
        Clusters.NONE: conversations,
    }
    who = Observations(conversation, annotator)
    found = {clusters: clustered_variance(who, influence, clusters).n_clusters.tolist() for clusters in Clusters}
    assert found == {clusters: [count] for clusters, count in expected.items()}


class TestFloor:
    """Clusters within which observations compensate for each other never make an estimate better known."""

    # Two conversations, two annotators; each has one hit and one miss, so that the share stays 1/2 without any of them.
    WHO = Observations(conversation=np.array([0, 0, 1, 1]), annotator=np.array([0, 1, 0, 1]))
    HITS = np.array([1.0, 0.0, 0.0, 1.0])
    # Without an observation the share is 1/3 or 2/3: 3 / 4 * 4 * (1 / 6)².
    SINGLE = 1 / 12

    @pytest.mark.parametrize("clusters", list(Clusters))
    def test_the_variance_is_that_of_independent_observations(self, clusters: Clusters):
        _, _, influence = shares_of(np.zeros(4, dtype=int), self.HITS, 1)
        found = clustered_variance(self.WHO, influence, clusters)
        assert found.variance == pytest.approx(self.SINGLE, rel=1e-12)

    @pytest.mark.parametrize("clusters", list(Clusters))
    def test_the_variance_of_a_difference_is_that_of_independent_observations(self, clusters: Clusters):
        who = Observations(np.tile(self.WHO.conversation, 2), np.tile(self.WHO.annotator, 2) + np.repeat([0, 2], 4))
        _, _, influence = shares_of(np.repeat([0, 1], 4), np.tile(self.HITS, 2), 2)
        found = clustered_parts(who, influence, clusters).differences(np.array([0]), np.array([1]))
        assert found.variance == pytest.approx(2 * self.SINGLE, rel=1e-12)


class TestCovariance:
    @pytest.mark.parametrize("cells", [0, 1_000_000])
    def test_is_that_of_the_sums_of_clusters_written_out(self, cells: int, monkeypatch: pytest.MonkeyPatch):
        """Dense and sparse: each cluster's sums, enlarged by 1 / (1 - leverage), times (n - 1) / n."""
        monkeypatch.setattr("spotthebot.statistics.clustered_variance._DENSE_CELLS", cells)
        group, hits, conversation, annotator = drawn(3)
        share, n, influence = shares_of(group, hits, 2)
        expected = np.zeros((2, 2))
        for cluster in np.unique(conversation):
            inside = [(conversation == cluster) & (group == each) for each in (0, 1)]
            sums = [np.sum(hits[rows] - share[at]) / n[at] / (1 - rows.sum() / n[at]) for at, rows in enumerate(inside)]
            expected += np.outer(sums, sums)
        clusters = np.array([len(np.unique(conversation[group == each])) for each in (0, 1)])
        root = np.sqrt((clusters - 1) / clusters)
        parts = clustered_parts(Observations(conversation, annotator), influence, Clusters.CONVERSATION)
        assert parts.covariance() == pytest.approx(expected * np.outer(root, root), rel=1e-9)
        assert parts.unfloored() == pytest.approx(np.diag(expected) * root**2, rel=1e-9)


class TestSetsOfAnnotators:
    def test_with_one_annotator_each_change_nothing(self):
        group, hits, conversation, annotator = drawn(3)
        _, _, influence = shares_of(group, hits, 2)
        alone = clustered_variance(Observations(conversation, annotator), influence)
        members = sparse.csr_array(np.eye(6))
        sets = clustered_variance(Observations(conversation, annotator, members), influence)
        assert sets.variance == pytest.approx(alone.variance, rel=1e-12)
        assert sets.degrees == pytest.approx(alone.degrees, rel=1e-12)
        assert sets.n_annotators.tolist() == alone.n_annotators.tolist()

    @pytest.mark.parametrize("seed", range(5))
    def test_add_up_every_pair_of_observations_that_shares_an_annotator_or_the_conversation(self, seed: int):
        rng = np.random.default_rng(seed)
        crews = np.array([[0, 1], [2, 3], [0, 2], [4, 5], [1, 4], [3, 5]])
        crew, conversation = rng.integers(6, size=400), rng.integers(80, size=400)
        hits = rng.random(400)
        members = sparse.csr_array((np.ones(12), (np.repeat(np.arange(6), 2), crews.ravel())))
        # Influence of no leverage: each observation is a ratio's small part.
        influence = Influence(
            n_statistics=1,
            statistic=np.zeros(400, dtype=np.int64),
            observation=np.arange(400),
            ratio=np.zeros(400, dtype=np.int64),
            value=hits - hits.mean(),
            weight=np.ones(400),
        )
        found = clustered_parts(Observations(conversation, crew, members), influence, Clusters.BOTH)
        share_annotator = np.array([[bool(set(a) & set(b)) for b in crews] for a in crews])[crew][:, crew]
        share_conversation = conversation[:, None] == conversation
        products = np.outer(influence.value, influence.value)

        def enlarged(cluster_weight: FloatArray) -> FloatArray:
            return 1 / (1 - cluster_weight / 400)

        by_annotator = np.bincount(crews[crew].ravel(), minlength=6).astype(np.float64)
        annotator = enlarged(by_annotator[crews[crew]].mean(axis=1))
        in_conversation = enlarged(np.bincount(conversation).astype(np.float64)[conversation])
        pair = np.unique(conversation * 6 + crew, return_inverse=True)[1]
        in_both = enlarged(np.bincount(pair).astype(np.float64)[pair])
        n_conversations, n_pairs = len(np.unique(conversation)), int(pair.max()) + 1
        expected = (
            np.sum(products * share_conversation * np.outer(in_conversation, in_conversation))
            * (1 - 1 / n_conversations)
            + np.sum(products * share_annotator * np.outer(annotator, annotator)) * (1 - 1 / 6)
            - np.sum(products * (share_annotator & share_conversation) * np.outer(in_both, in_both)) * (1 - 1 / n_pairs)
        )
        single = np.sum(influence.value**2) / (1 - 1 / 400) ** 2 * (1 - 1 / 400)
        assert found.variances().variance[0] == pytest.approx(max(single, expected), rel=1e-9)
        assert found.variances().n_annotators.tolist() == [6]


class TestSharedMembers:
    @settings(max_examples=30)
    @given(sets=st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=5), min_size=1, max_size=12))
    def test_add_up_the_sets_that_have_an_annotator_in_common(self, sets: list[set[int]]):
        members = sparse.csr_array(np.array([[float(who in each) for who in range(7)] for each in sets]))
        expected = [[float(bool(one & other)) for other in sets] for one in sets]
        everything = sparse.csr_array(np.eye(len(sets)))
        assert (SharedMembers(members) @ everything).toarray().tolist() == expected

    def test_sets_too_large_for_their_subsets_are_compared_pair_by_pair(self):
        members = sparse.csr_array(np.array([[1.0] * 30 + [0] * 30, [0] * 30 + [1.0] * 30, [1.0] * 60]))
        found = SharedMembers(members) @ sparse.csr_array(np.eye(3))
        assert found.toarray().tolist() == [[1, 0, 1], [0, 1, 1], [1, 1, 1]]


class TestShareBounds:
    @settings(max_examples=200)
    @given(
        hits=st.integers(0, 40),
        variance=st.floats(1e-4, 0.05),
        degrees=st.floats(1, 200),
        clusters=st.integers(2, 40),
        level=st.floats(0.5, 0.999),
    )
    def test_leave_even_odds_out_exactly_where_the_p_value_is_below_the_level(
        self, hits: int, variance: float, degrees: float, clusters: int, level: float
    ):
        share, n = np.array([hits / 40]), np.array([40])
        agreed = hits in {0, 40}
        known = ClusteredVariance(
            np.array([0.0 if agreed else variance]), np.array([degrees]), np.array([clusters]), n, Clusters.BOTH
        )
        (low,), (high,) = share_bounds(share, n, known, level)
        _, (p_value,) = share_tests(share, n, known)
        if abs(p_value - (1 - level)) > 1e-9:
            assert (p_value < 1 - level) == (not low <= 0.5 <= high)

    def test_never_know_a_share_better_than_single_observations_would(self):
        share, n = np.array([0.3]), np.array([50])
        small = ClusteredVariance(np.array([1e-9]), np.array([1e9]), n, n, Clusters.BOTH)
        low, high = share_bounds(share, n, small, 0.95)
        assert low.round(4).tolist() == [0.191]  # Wilson's of 15 out of 50
        assert high.round(4).tolist() == [0.4375]

    def test_tests_know_a_share_no_better_either(self):
        share, n = np.array([0.3]), np.array([50])
        small = ClusteredVariance(np.array([1e-9]), np.array([1e9]), n, n, Clusters.BOTH)
        (statistic,), _ = share_tests(share, n, small)
        assert statistic == pytest.approx((0.3 - 0.5) / np.sqrt(0.25 / 50))  # the score test of 15 out of 50

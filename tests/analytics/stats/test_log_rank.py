"""Log-rank tests against R, against all relabellings, and against clusters that are left out one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.analytics.coverage.survival import false_difference
from spotthebot.analytics.stats.survival.curves import CurrentStatus, current_status
from spotthebot.analytics.stats.survival.log_rank import LogRankVariance, log_rank_tests
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table, status_of, table_of
from tests.factories.clustered_campaigns import Setting, draw_status
from tests.factories.known import known
from tests.factories.published_dump import reference


class TestLogRankTests:
    def test_matches_sun_zhao_and_zhao_in_r(self):
        worked = reference("statistics/worked_examples.json")["current_status_two_bots"]
        n = worked["n_per_cell"]
        status = status_of([[n] * 3] * 2, worked["spotted"], worked["k"])
        (test,) = log_rank_tests(status, variance=LogRankVariance.SCORE)
        assert test.p_value == pytest.approx(worked["tests"]["glrt2"], rel=1e-6)
        # A, the first, was spotted more often at each time.
        assert test.estimate > 0

    @given(seed=st.integers(0, 10_000))
    def test_permutation_variance_is_that_of_all_relabellings(self, seed):
        # The definition: the variance of the first group's score sum when the groups are drawn at random.
        rng = np.random.default_rng(seed)
        inspected = rng.integers(1, 5, size=(2, 3))
        spotted = rng.integers(0, inspected + 1)
        status = status_of(inspected.tolist(), spotted.tolist(), [2, 3, 5])
        (test,) = log_rank_tests(status, variance=LogRankVariance.PERMUTATION)
        scores = _row_scores(status)
        n, first = len(scores), int(inspected[0].sum())
        variance = first * (n - first) / n * scores.var(ddof=1)
        if variance < 1e-12:
            assert test.p_value is None
        else:
            assert test.estimate == pytest.approx(scores[status.entity == 0].sum(), abs=1e-9)
            assert test.statistic == pytest.approx(test.estimate**2 / variance, rel=1e-6)

    def test_times_that_are_pooled_act_as_one(self):
        apart = status_of([[10, 20, 30], [20, 10, 30]], [[2, 9, 8], [5, 5, 12]], [2, 3, 5])
        # 7/30, 14/30, 20/60: the last two are pooled to 34/90.
        joined = status_of([[10, 50], [20, 40]], [[2, 17], [5, 17]], [2, 5])
        (test,), (same,) = log_rank_tests(apart), log_rank_tests(joined)
        assert test.estimate == pytest.approx(same.estimate, rel=1e-9)
        assert test.statistic == pytest.approx(same.statistic, rel=1e-9)

    @pytest.mark.parametrize("variance", [LogRankVariance.ANNOTATOR, LogRankVariance.CONVERSATION])
    def test_one_cluster_cannot_be_compared_with_itself(self, variance):
        inspections = status_of([[20, 20], [20, 20]], [[5, 9], [10, 14]], [2, 3])
        status = CurrentStatus(
            **{**inspections.__dict__, "annotator": 0 * inspections.entity, "conversation": 0 * inspections.entity}
        )
        for tests in (log_rank_tests(status, variance=variance), log_rank_tests(status)):
            assert (tests[0].statistic, tests[0].p_value, tests[0].p_adjusted) == (None, None, None)
            assert tests[0].uncertainty.standard_error is None
            assert "one c" in known(tests[0].reason)  # conversation, or cluster

    @pytest.mark.parametrize(
        ("seed", "annotators"), [(seed, annotators) for seed in range(3) for annotators in (4, 11)]
    )
    def test_default_variance_is_that_of_leaving_out_annotators_and_conversations(self, seed: int, annotators: int):
        status = current_status(simulated_table(seed, names=("A", "B"), per_pair=12, annotators=annotators))
        (test,) = log_rank_tests(status)
        scores, blocks = _row_scores(status), _pools(status)
        cell = status.conversation * 1000 + status.annotator

        def difference(rows):
            # Pools as they are: the score is a sum over pools of n1 n2 / n times the difference of mean scores.
            total = 0.0
            for pool in set(blocks.tolist()):
                groups = [(blocks == pool) & (status.entity == code) for code in (0, 1)]
                sizes = [mine.sum() for mine in groups]
                means = [scores[mine & rows].mean() for mine in groups]
                total += sizes[0] * sizes[1] / sum(sizes) * (means[0] - means[1])
            return total

        whole = difference(np.ones(len(scores), dtype=bool))
        assert test.estimate == pytest.approx(whole, rel=1e-9)

        def left_out(cluster):
            values = np.unique(cluster)
            changes = [difference(cluster != each) - whole for each in values]
            return (len(values) - 1) / len(values) * sum(change**2 for change in changes)

        def worth(cluster):
            sizes = np.unique(cluster, return_counts=True)[1]
            return sizes.sum() ** 2 / np.sum(sizes**2) - 1

        conversation, annotator = left_out(status.conversation), left_out(status.annotator)
        clustered = max(left_out(np.arange(len(scores))), conversation + annotator - left_out(cell))
        share = [np.mean(status.entity[blocks == pool] == 0) for pool in blocks]
        independent = sum(s**2 * p * (1 - p) for s, p in zip(scores, share, strict=True))
        # Under the pools the squared scores of a pool add up to n (1 - F) (log S)² / F, the score test's weight.
        variance = max(clustered, independent)
        satterthwaite = clustered**2 / (
            conversation**2 / worth(status.conversation) + annotator**2 / worth(status.annotator)
        )
        degrees = min(satterthwaite, annotators - 1)
        assert test.statistic == pytest.approx(whole**2 / variance, rel=1e-9)
        assert test.uncertainty.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)
        assert test.uncertainty.degrees_of_freedom == pytest.approx(degrees, rel=1e-9)
        t = abs(whole) / np.sqrt(variance)
        assert test.p_value == pytest.approx(2 * stats.t.sf(t, degrees), rel=1e-9)

    @pytest.mark.parametrize("annotators", [3, 5])
    def test_where_each_bot_always_ends_alike_p_is_that_of_all_sign_flips(self, annotators: int):
        rows = [(i, "A", "B", 2, (0, 2), i % annotators) for i in range(60)]
        (test,) = log_rank_tests(current_status(table_of(rows, ("A", "B"))))
        # Each annotator's lead of 1, or -1 where it is flipped: two of all flips are as far from 0 as what was seen.
        flips = [abs(sum(signs)) >= annotators for signs in product((1, -1), repeat=annotators)]
        assert test.statistic is None
        assert test.p_value == pytest.approx(np.mean(flips))

    @pytest.mark.parametrize(
        ("clusters", "n"),
        [(Clusters.CONVERSATION, 4), (Clusters.ANNOTATOR, 8), (Clusters.BOTH, 4), (Clusters.NONE, 16)],
    )
    def test_sign_flips_are_of_the_clusters_that_are_asked_for(self, clusters: Clusters, n: int):
        """Four conversations of four annotations each, by eight annotators: two of 2 to the n flips are as far."""
        rows = [(at // 4, "A", "B", 2, (0, 2), at % 8) for at in range(16)]
        (test,) = log_rank_tests(current_status(table_of(rows, ("A", "B"))), clusters=clusters)
        assert test.p_value == pytest.approx(2 * 0.5**n)

    def test_bots_and_people_are_families_of_their_own(self):
        status = current_status(simulated_table(2, names=("A", "B", "HU", "C"), per_pair=20))
        tests = log_rank_tests(status, adjustment=Adjustment.BONFERRONI)
        assert len(tests) == 6
        for test in tests:
            people = "HU" in {test.bot, test.other}
            assert test.family == ("bots against people" if people else "bots against bots")
            assert test.family_size == 3
            assert test.p_adjusted == pytest.approx(min(1, 3 * known(test.p_value)))

    @pytest.mark.parametrize("clusters", Clusters)
    def test_says_what_varies_together(self, clusters: Clusters):
        status = current_status(simulated_table(3, names=("A", "B")))
        (test,) = log_rank_tests(status, clusters=clusters)
        assert test.uncertainty.clusters is clusters
        assert (test.uncertainty.conversations, test.uncertainty.annotators) == (4, 5)

    @pytest.mark.parametrize("k", [2, 4])
    def test_equal_bots_seldom_differ_where_annotators_do(self, k: int):
        setting = Setting(k, 15, 6, 0.18, taste=True)
        equal = np.tile([0.35, 0.45, 0.55], (k, 1))
        false, naive = 0, 0
        for seed in range(80):
            status = draw_status(setting, equal, np.random.default_rng([seed, k]))
            false += false_difference(status)
            naive += false_difference(status, LogRankVariance.SCORE)
        # At most 4 of 80 are expected, with a binomial standard deviation of 2.
        assert false <= 10
        assert naive > false

    @pytest.mark.parametrize("variance", [LogRankVariance.ANNOTATOR, LogRankVariance.CONVERSATION])
    def test_clustered_variance_sums_scores_within_clusters_first(self, variance):
        status = current_status(simulated_table(5, names=("A", "B"), per_pair=8, times=(2,)))
        (test,) = log_rank_tests(status, variance=variance)
        cluster = status.annotator if variance is LogRankVariance.ANNOTATOR else status.conversation
        # One time, both bots in every annotation: each half of the rows, centred by a share of one half.
        contributions = ((status.entity == 0) - 0.5) * _row_scores(status)
        variance_of_sums = sum(contributions[cluster == code].sum() ** 2 for code in set(cluster.tolist()))
        assert test.statistic == pytest.approx(test.estimate**2 / variance_of_sums, rel=1e-9)

    def test_annotators_habits_inflate_the_plain_test_and_not_the_clustered_one(self):
        plain, clustered, default = 0, 0, 0
        for seed in range(200):
            status = _same_bots_under_strict_and_lenient_annotators(seed)
            plain += known(log_rank_tests(status, variance=LogRankVariance.SCORE)[0].p_value) < 0.05
            clustered += known(log_rank_tests(status, variance=LogRankVariance.ANNOTATOR)[0].p_value) < 0.05
            default += known(log_rank_tests(status)[0].p_value) < 0.05
        # Nominally 10 of 200; 10 % is 3.2 binomial standard errors above that.
        assert plain > 20
        assert clustered <= 20
        assert default <= 20

    def test_adjusts_over_all_pairs_that_could_be_tested(self):
        status = status_of([[50, 50], [50, 50], [50, 50], [0, 0]], [[10, 20], [20, 30], [30, 40], [0, 0]], [2, 3])
        tests = log_rank_tests(status, adjustment=Adjustment.BONFERRONI)
        made = [test for test in tests if test.reason is None]
        assert [(test.bot, test.other) for test in made] == [("A", "B"), ("A", "C"), ("B", "C")]
        for test in made:
            assert test.p_adjusted == pytest.approx(min(1, 3 * known(test.p_value)))

    @pytest.mark.parametrize(
        ("inspected", "spotted", "reason"),
        [
            ([[3, 3], [0, 0]], [[1, 2], [0, 0]], "one of the two was never inspected"),
            ([[3, 3], [3, 3]], [[0, 0], [0, 0]], "neither was ever spotted"),
            ([[3, 3], [3, 3]], [[3, 3], [3, 3]], "both were spotted at every inspection"),
            ([[4, 0], [0, 4]], [[1, 0], [0, 3]], "the two share no inspection times"),
        ],
    )
    def test_says_why_a_pair_cannot_be_compared(self, inspected, spotted, reason):
        (test,) = log_rank_tests(status_of(inspected, spotted, [2, 3]))
        assert (test.statistic, test.p_value, test.p_adjusted) == (None, None, None)
        assert test.uncertainty.standard_error is None
        assert known(test.reason).startswith(reason)

    def test_one_entity_leaves_nothing_to_compare(self):
        assert log_rank_tests(status_of([[3]], [[1]], [2])) == ()

    @settings(max_examples=20)
    @given(seed=st.integers(0, 10_000), variance=st.sampled_from(LogRankVariance))
    def test_order_of_rows_and_names_changes_nothing(self, seed, variance):
        table = simulated_table(seed, names=("A", "HU", "B"))
        tests, rows, names = (
            {
                frozenset((test.bot, test.other)): test.p_adjusted
                for test in log_rank_tests(current_status(t), variance=variance)
            }
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        assert rows == pytest.approx(tests)
        assert names == pytest.approx(tests)


def _row_scores(status):
    """Write out (S(L) log S(L) - S(R) log S(R)) / (S(L) - S(R)) per row, under pooled shares by plain pooling."""
    survival = {t: 1 - events / trials for events, trials, times in _pooled(status) for t in times}
    scores = []
    for time, spotted in zip(status.time, status.spotted, strict=True):
        left, right = (1.0, survival[time]) if spotted else (survival[time], 0.0)
        terms = [s * np.log(s) if s > 0 else 0.0 for s in (left, right)]
        scores.append((terms[0] - terms[1]) / (left - right))
    return np.array(scores)


def _pools(status):
    pools = {t: at for at, (_, _, times) in enumerate(_pooled(status)) for t in times}
    return np.array([pools[time] for time in status.time.tolist()])


def _pooled(status):
    blocks = [
        [np.sum(status.spotted[status.time == t]), np.sum(status.time == t), [t]] for t in range(len(status.times))
    ]
    at = 0
    while at + 1 < len(blocks):
        if blocks[at][0] * blocks[at + 1][1] >= blocks[at + 1][0] * blocks[at][1]:
            later = blocks.pop(at + 1)
            blocks[at] = [blocks[at][0] + later[0], blocks[at][1] + later[1], blocks[at][2] + later[2]]
            at = max(0, at - 1)
        else:
            at += 1
    return blocks


def _same_bots_under_strict_and_lenient_annotators(seed):
    rng = np.random.default_rng(seed)
    annotator = np.repeat(np.arange(20), 20)
    # Packages differ in how many of their conversations are with which bot.
    entity = (rng.uniform(size=400) < np.repeat(rng.uniform(0, 1, 20), 20)).astype(np.int64)
    time = rng.integers(2, size=400)
    chance = np.clip(0.4 + 0.2 * time + np.repeat(rng.uniform(-0.3, 0.3, 20), 20), 0.02, 0.98)
    return CurrentStatus(
        names=("A", "B"),
        times=np.array([2, 3]),
        entity=entity,
        time=time,
        spotted=rng.uniform(size=400) < chance,
        conversation=np.arange(400),
        annotator=annotator,
        leads={},
    )

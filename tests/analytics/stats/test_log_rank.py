import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats import (
    Adjustment,
    CurrentStatus,
    LogRankVariance,
    current_status,
    log_rank_tests,
)
from tests.factories.annotation_tables import renamed, shuffled, simulated_table, status_of
from tests.factories.known import known
from tests.factories.published_dump import reference


class TestLogRankTests:
    def test_matches_sun_zhao_and_zhao_in_r(self):
        worked = reference("statistics/worked_examples.json")["current_status_two_bots"]
        n = worked["n_per_cell"]
        (test,) = log_rank_tests(status_of([[n] * 3] * 2, worked["spotted"], worked["k"]))
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
    def test_clustered_variance_sums_scores_within_clusters_first(self, variance):
        status = current_status(simulated_table(5, names=("A", "B"), per_pair=8, times=(2,)))
        (test,) = log_rank_tests(status, variance=variance)
        cluster = status.annotator if variance is LogRankVariance.ANNOTATOR else status.conversation
        # One time, both bots in every annotation: each half of the rows, centred by a share of one half.
        contributions = ((status.entity == 0) - 0.5) * _row_scores(status)
        variance_of_sums = sum(contributions[cluster == code].sum() ** 2 for code in set(cluster.tolist()))
        assert test.statistic == pytest.approx(test.estimate**2 / variance_of_sums, rel=1e-9)

    def test_annotators_habits_inflate_the_plain_test_and_not_the_clustered_one(self):
        plain, clustered = 0, 0
        for seed in range(200):
            status = _same_bots_under_strict_and_lenient_annotators(seed)
            plain += known(log_rank_tests(status)[0].p_value) < 0.05
            clustered += known(log_rank_tests(status, variance=LogRankVariance.ANNOTATOR)[0].p_value) < 0.05
        # Nominally 10 of 200; 10 % is 3.2 binomial standard errors above that.
        assert plain > 20
        assert clustered <= 20

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
        assert known(test.reason).startswith(reason)

    def test_one_entity_leaves_nothing_to_compare(self):
        assert log_rank_tests(status_of([[3]], [[1]], [2])) == ()

    @settings(max_examples=20, deadline=None)
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
    survival = {t: 1 - events / trials for events, trials, times in blocks for t in times}
    scores = []
    for time, spotted in zip(status.time, status.spotted, strict=True):
        left, right = (1.0, survival[time]) if spotted else (survival[time], 0.0)
        terms = [s * np.log(s) if s > 0 else 0.0 for s in (left, right)]
        scores.append((terms[0] - terms[1]) / (left - right))
    return np.array(scores)


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

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from spotthebot.analytics.stats import (
    Adjustment,
    PairCounts,
    PairTest,
    adjust,
    pair_tests,
    play_games,
    sign_tests,
)
from tests.factories.annotation_tables import table_of
from tests.factories.published_dump import reference


def _counts(wins):
    wins = np.array(wins)
    return PairCounts(bots=tuple("ABCDE"[: len(wins)]), wins=wins, ties=np.zeros_like(wins))


class TestSignTests:
    def test_matches_the_worked_example(self):
        worked = reference("statistics/worked_examples.json")["proportions"]["sign test 34 vs 41"]
        (test,) = sign_tests(_counts([[0, 34], [41, 0]]))
        assert test.p_value == pytest.approx(worked, rel=1e-12)
        assert test.n == 75

    @given(wins=st.integers(0, 200), losses=st.integers(0, 200))
    def test_matches_scipy_s_binomial_test(self, wins, losses):
        (test,) = sign_tests(_counts([[0, wins], [losses, 0]]))
        expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert test.p_value == pytest.approx(expected, rel=1e-9)

    def test_tests_every_pair_once_and_adjusts_for_their_number(self):
        tests = sign_tests(_counts([[0, 9, 0], [1, 0, 0], [0, 0, 0]]))
        assert [(test.bot, test.other) for test in tests] == [("A", "B"), ("A", "C"), ("B", "C")]
        # Two-sided tail of 9 or more of 10 heads: 2 * (10 + 1) / 1024.
        assert tests[0].p_value == pytest.approx(22 / 1024)
        assert tests[0].p_adjusted == pytest.approx(3 * 22 / 1024)
        assert tests[1].p_value == tests[1].p_adjusted == 1
        assert tests[1].estimate is None

    @pytest.mark.parametrize("bots", [0, 1])
    def test_fewer_than_two_bots_leave_nothing_to_test(self, bots):
        assert sign_tests(_counts(np.zeros((bots, bots), dtype=np.int64))) == ()


class TestAdjust:
    def test_holm_matches_the_worked_example(self):
        worked = reference("statistics/worked_examples.json")["proportions"]["holm [.01,.04,.03,.005]"]
        np.testing.assert_allclose(adjust(np.array([0.01, 0.04, 0.03, 0.005])), worked)

    def test_bonferroni_multiplies_by_the_number_of_tests(self):
        adjusted = adjust(np.array([0.01, 0.4, 0.03]), Adjustment.BONFERRONI)
        np.testing.assert_allclose(adjusted, [0.03, 1.0, 0.09])

    def test_a_test_that_was_not_made_does_not_count(self):
        np.testing.assert_allclose(adjust(np.array([0.01, np.nan, 0.03])), [0.02, np.nan, 0.03])

    @given(p=st.lists(st.floats(0, 1), max_size=8))
    def test_holm_never_loses_to_bonferroni_and_keeps_the_order(self, p):
        values = np.array(p)
        holm, bonferroni = adjust(values), adjust(values, Adjustment.BONFERRONI)
        assert np.all(holm <= bonferroni)
        assert np.all(holm >= values)
        assert np.all(np.diff(holm[np.argsort(values, kind="stable")]) >= 0)
        assert adjust(values, Adjustment.NONE).tolist() == p


def _games(outcomes, conversations, annotators):
    rows = [
        (conversation, "A", "B", 2, {1: (2, 0), 0: (1, 1), -1: (0, 2)}[outcome], annotator)
        for outcome, conversation, annotator in zip(outcomes, conversations, annotators, strict=True)
    ]
    return play_games(table_of(rows, ("A", "B")))


class TestPairTests:
    def test_chi_square_is_scipy_s_of_the_two_by_two_table(self):
        # 12 wins, 3 losses and 5 ties of 20: [[12, 8], [3, 17]] with Yates' correction.
        games = _games([1] * 12 + [-1] * 3 + [0] * 5, range(20), range(20))
        (test,) = pair_tests(games, test=PairTest.CHI_SQUARE)
        target = stats.chi2_contingency([[12, 8], [3, 17]])
        assert test.statistic == pytest.approx(target.statistic)
        assert test.p_value == pytest.approx(target.pvalue)

    def test_clustered_test_of_single_games_is_the_t_test_of_their_mean(self):
        outcomes = [1] * 12 + [-1] * 3 + [0] * 5
        (test,) = pair_tests(_games(outcomes, range(20), range(20)))
        target = stats.ttest_1samp(outcomes, 0)
        assert test.statistic == pytest.approx(target.statistic)
        assert test.p_value == pytest.approx(target.pvalue)

    def test_clustered_test_of_equal_conversations_is_the_t_test_of_their_sums(self):
        # Each of eight conversations has three games by three annotators of their own, so only conversations cluster.
        sums = [3, 3, 1, -1, 3, 2, 0, 3]
        outcomes = [
            o for s in sums for o in {3: (1, 1, 1), 2: (1, 1, 0), 1: (1, 0, 0), 0: (0, 0, 0), -1: (-1, 0, 0)}[s]
        ]
        (test,) = pair_tests(_games(outcomes, np.repeat(range(8), 3), range(24)))
        assert test.statistic == pytest.approx(stats.ttest_1samp(sums, 0).statistic)
        assert test.p_value == pytest.approx(stats.ttest_1samp(sums, 0).pvalue)

    def test_habits_of_annotators_make_it_careful(self):
        # Two of four annotators prefer A whatever they see: 80 independent games would be clear, four people are not.
        outcomes = [1, 1, 0, -1] * 20
        (test,) = pair_tests(_games(outcomes, range(80), [0, 1, 2, 3] * 20))
        assert stats.ttest_1samp(outcomes, 0).pvalue < 0.01
        assert test.p_value == pytest.approx(stats.ttest_1samp([1, 1, 0, -1], 0).pvalue)

    @pytest.mark.parametrize("kind", PairTest)
    def test_says_why_there_is_no_result(self, kind):
        (test,) = pair_tests(_games([0, 0], [0, 1], [0, 1]), test=kind)
        assert (test.n, test.p_value, test.p_adjusted, test.reason) == (0, None, None, "no game of the two was decided")

    def test_one_conversation_tells_nothing(self):
        (test,) = pair_tests(_games([1, 1, -1], [0, 0, 0], [0, 1, 2]))
        assert (test.p_value, test.reason) == (None, "all games are of one conversation or one annotator")

    def test_unanimous_conversations_are_tested_about_even_odds(self):
        # Six conversations of one win each, by six annotators: variance about zero 6, t = 6 / sqrt(6 * 6 / 5).
        (test,) = pair_tests(_games([1] * 6, range(6), range(6)))
        assert test.statistic == pytest.approx(6 / (6 * 6 / 5) ** 0.5)

    def test_annotators_can_be_left_out(self):
        outcomes = [1, 1, 0, -1] * 20
        (test,) = pair_tests(_games(outcomes, range(80), [0, 1, 2, 3] * 20), test=PairTest.CLUSTERED_BY_CONVERSATION)
        assert test.p_value == pytest.approx(stats.ttest_1samp(outcomes, 0).pvalue)

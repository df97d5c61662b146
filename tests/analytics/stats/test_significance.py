import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.significance import PairTest, pair_tests
from spotthebot.analytics.stats.wins import play_games
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import simulated_table, table_of
from tests.factories.known import known
from tests.factories.published_dump import reference


def _games(outcomes, conversations, annotators):
    rows = [
        (conversation, "A", "B", 2, {1: (2, 0), 0: (1, 1), -1: (0, 2)}[outcome], annotator)
        for outcome, conversation, annotator in zip(outcomes, conversations, annotators, strict=True)
    ]
    return play_games(table_of(rows, ("A", "B")))


class TestSignTest:
    def test_matches_the_worked_example(self):
        worked = reference("statistics/worked_examples.json")["proportions"]["sign test 34 vs 41"]
        (test,) = pair_tests(_games([1] * 34 + [-1] * 41, range(75), range(75)), test=PairTest.SIGN)
        assert test.p_value == pytest.approx(worked, rel=1e-12)
        assert test.n == 75

    @settings(max_examples=30)
    @given(wins=st.integers(0, 60), losses=st.integers(0, 60))
    def test_matches_scipy_s_binomial_test(self, wins, losses):
        outcomes = [1] * wins + [-1] * losses + [0]
        (test,) = pair_tests(_games(outcomes, range(len(outcomes)), range(len(outcomes))), test=PairTest.SIGN)
        if wins + losses:
            assert test.p_value == pytest.approx(binomtest(wins, wins + losses).pvalue, rel=1e-9)
        else:
            assert (test.p_value, test.reason) == (None, "no game of the two was decided")

    def test_tests_every_pair_once_and_adjusts_for_the_tests_that_were_made(self):
        rows = [(i, "A", "B", 2, (2, 0) if i < 9 else (0, 2), i) for i in range(10)]
        rows += [(10 + i, "A", "C", 2, (2, 0), i) for i in range(2)]
        tests = pair_tests(play_games(table_of(rows, ("A", "B", "C"))), test=PairTest.SIGN)
        assert [(test.bot, test.other) for test in tests] == [("A", "B"), ("A", "C"), ("B", "C")]
        # Two-sided tail of 9 or more of 10 heads: 2 * (10 + 1) / 1024; two tests could be made.
        assert tests[0].p_value == pytest.approx(22 / 1024)
        assert tests[0].p_adjusted == pytest.approx(2 * 22 / 1024)
        assert [test.family for test in tests] == [2, 2, 2]
        assert tests[1].p_value == 0.5  # two of two
        assert tests[2].p_value is None

    @pytest.mark.parametrize("names", [(), ("A",)])
    @pytest.mark.parametrize("kind", PairTest)
    def test_fewer_than_two_bots_leave_nothing_to_test(self, names, kind):
        assert pair_tests(play_games(table_of([], names)), test=kind) == ()


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


class TestPairTests:
    def test_chi_square_is_scipy_s_of_the_two_by_two_table(self):
        # 12 wins, 3 losses and 5 ties of 20: [[12, 8], [3, 17]] with Yates' correction.
        games = _games([1] * 12 + [-1] * 3 + [0] * 5, range(20), range(20))
        (test,) = pair_tests(games, test=PairTest.CHI_SQUARE)
        target = stats.chi2_contingency([[12, 8], [3, 17]])
        assert test.statistic == pytest.approx(target.statistic)
        assert test.p_value == pytest.approx(target.pvalue)

    def test_single_games_are_as_many_clusters(self):
        # 12 wins, 3 losses, 5 ties, each of its own conversation and annotator: the jackknife's variance is p q / 14,
        # the score test's t is 2 (p - 1/2) sqrt(14), and Satterthwaite joins 14 and 14 degrees of freedom to 7.
        (test,) = pair_tests(_games([1] * 12 + [-1] * 3 + [0] * 5, range(20), range(20)))
        statistic = 2 * (12 / 15 - 0.5) * math.sqrt(14)
        assert test.statistic == pytest.approx(statistic)
        assert test.p_value == pytest.approx(2 * stats.t.sf(statistic, 7))

    def test_equal_conversations_give_the_score_test_of_their_shares(self):
        # Each of eight conversations has four games by annotators of their own, so only conversations cluster.
        shares = np.array([1, 1, 0.75, 0.5, 1, 0.75, 0.5, 1])
        outcomes = [1 if at < 4 * share else -1 for share in shares for at in range(4)]
        games = _games(outcomes, np.repeat(range(8), 4), range(32))
        (test,) = pair_tests(games, clusters=Clusters.CONVERSATION)
        p = shares.mean()
        # Leaving one of eight equal clusters out moves the mean by its distance over 7: sum of squares * 7 / 8 / 49.
        variance = np.sum((shares - p) ** 2) / 56
        single = np.sum((np.array(outcomes) / 2 + 0.5 - p) ** 2) / 31 / 32
        statistic = 2 * (p - 0.5) * math.sqrt(p * (1 - p) / max(variance, single))
        assert test.statistic == pytest.approx(statistic)
        assert test.p_value == pytest.approx(2 * stats.t.sf(statistic, 7))

    def test_habits_of_annotators_make_it_careful(self):
        # Three of four annotators prefer A whatever they see: 80 independent games would be clear, four people are not.
        outcomes = [1, 1, 1, -1] * 20
        games = _games(outcomes, range(80), [0, 1, 2, 3] * 20)
        (sign,) = pair_tests(games, test=PairTest.SIGN)
        (test,) = pair_tests(games)
        (panel,) = pair_tests(games, clusters=Clusters.FIXED_PANEL)
        assert known(sign.p_value) < 1e-4
        assert known(test.p_value) > 0.3
        assert known(panel.p_value) < 1e-4
        assert "for this panel of annotators and no other" in panel.method

    def test_agrees_with_the_interval_of_the_pair(self):
        for seed in range(20):
            games = play_games(simulated_table(seed, per_pair=8))
            ranking = rank_bots(games, n_resamples=1)
            for test, pair in zip(pair_tests(games), ranking.pairs, strict=True):
                if test.p_value is not None:
                    assert (test.p_value < 0.05) == (not known(pair.low) <= 0.5 <= known(pair.high))

    def test_unanimous_games_are_tested_by_flipping_the_signs_of_whole_clusters(self):
        # 60 games, all won, by four annotators: 2 of the 2⁴ ways to flip their signs are as extreme.
        games = _games([1] * 60, range(60), [0, 1, 2, 3] * 15)
        (test,) = pair_tests(games)
        (pair,) = rank_bots(games, n_resamples=1).pairs
        assert (test.statistic, test.p_value) == (None, 0.125)
        assert pair.low == pytest.approx(0.025 ** (1 / 4))  # Clopper and Pearson's bound of 4 of 4

    @pytest.mark.parametrize("kind", PairTest)
    def test_says_why_there_is_no_result(self, kind):
        (test,) = pair_tests(_games([0, 0], [0, 1], [0, 1]), test=kind)
        assert test.n == 0
        assert test.p_value is None
        assert test.p_adjusted is None
        assert test.reason == "no game of the two was decided"

    def test_one_conversation_or_one_annotator_tells_nothing(self):
        (test,) = pair_tests(_games([1, 1, -1], [0, 0, 0], [0, 1, 2]))
        (one,) = pair_tests(_games([1, 1, -1], [0, 1, 2], [0, 0, 0]))
        reason = "all observations are of one conversation, so nothing shows how conversations differ"
        assert (test.p_value, test.reason) == (None, reason)
        assert one.p_value is None
        assert "all observations are of one annotator" in (one.reason or "")

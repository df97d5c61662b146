import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower

from spotthebot.analytics.stats import (
    Design,
    SettingOutOfRange,
    outcome_correlation,
    plan_conversations,
    plan_more,
    play_games,
    power_of,
)
from tests.factories.annotation_tables import simulated_table, table_of
from tests.factories.known import known

ALONE = Design(tie_rate=0, annotations_per_conversation=1, conversation_correlation=0)


def _simulated_means(rng, win_rate, design, conversations, studies):
    """Mean outcome of each conversation; an outcome is the common one with the root of the correlation as chance."""
    shape = (studies, conversations, int(design.annotations_per_conversation))

    def outcomes(size):
        win = np.where(rng.random(size) < win_rate, 1, -1)
        return np.where(rng.random(size) < design.tie_rate, 0, win)

    copied = rng.random(shape) < math.sqrt(design.conversation_correlation)
    return np.where(copied, outcomes((*shape[:2], 1)), outcomes(shape)).mean(axis=2)


class TestPowerOf:
    @pytest.mark.parametrize(("win_rate", "n"), [(0.6, 50), (0.75, 20), (0.9, 8)])
    def test_without_clusters_it_is_statsmodels_power_of_a_t_test(self, win_rate, n):
        # One game a conversation: outcomes 1 and -1 have mean 2p - 1 and variance 1 - (2p - 1)².
        mean = 2 * win_rate - 1
        expected = TTestPower().power(mean / math.sqrt(1 - mean**2), n, 0.05)
        assert power_of(win_rate, n, ALONE) == pytest.approx(expected, abs=1e-6)

    def test_both_sides_have_the_same_power(self):
        assert power_of(0.3, 40) == pytest.approx(power_of(0.7, 40), abs=1e-9)

    def test_one_conversation_has_none(self):
        assert power_of(0.99, 1) == 0


class TestPlanConversations:
    @pytest.mark.parametrize(
        ("win_rate", "design"),
        [
            (0.75, Design(tie_rate=0.7, annotations_per_conversation=6, conversation_correlation=0.1)),
            (0.65, Design(tie_rate=0.5, annotations_per_conversation=4, conversation_correlation=0.3)),
        ],
    )
    def test_reaches_the_requested_power_in_simulated_studies(self, win_rate, design):
        plan = plan_conversations(win_rate, design, power=0.8)
        means = _simulated_means(np.random.default_rng(1), win_rate, design, plan.conversations, 3000)
        found = np.mean(scipy_stats.ttest_1samp(means, 0, axis=1).pvalue < 0.05)
        # 3,000 studies: a standard error of .007; outcomes are no normal deviates, which costs another .01.
        assert found == pytest.approx(0.8, abs=0.04)

    @settings(max_examples=30, deadline=None)
    @given(win_rate=st.floats(0.55, 0.95), power=st.floats(0.5, 0.95), n_pairs=st.integers(1, 10))
    def test_returns_the_fewest_conversations(self, win_rate, power, n_pairs):
        plan = plan_conversations(win_rate, power=power, n_pairs=n_pairs)
        alpha = 0.05 / n_pairs
        conversations = known(plan.conversations)
        assert power_of(win_rate, conversations, alpha=alpha) >= power
        assert conversations == 2 or power_of(win_rate, conversations - 1, alpha=alpha) < power

    def test_more_annotators_a_conversation_do_not_replace_conversations(self):
        few, many = (
            plan_conversations(0.7, Design(annotations_per_conversation=a, conversation_correlation=0.3)).conversations
            for a in (6, 600)
        )
        # The design effect of many is a * .3: at best a conversation is worth 1 / .3 annotations.
        assert known(many) > known(few) * (0.3 / ((1 + 5 * 0.3) / 6)) * 0.9

    def test_few_annotators_with_strong_habits_are_never_enough(self):
        design = Design(annotators=3, annotator_correlation=0.4)
        plan = plan_conversations(0.55, design)
        assert (plan.conversations, plan.reason) == (
            None,
            "3 annotators are too few, whatever the number of conversations",
        )

    def test_gives_no_number_for_even_bots(self):
        assert plan_conversations(0.5).reason == "even bots cannot be told apart"

    @pytest.mark.parametrize(
        ("setting", "value"), [("win_rate", 1.0), ("power", 0.0), ("confidence_level", 1.2), ("n_pairs", 0)]
    )
    def test_refuses_settings_out_of_range(self, setting, value):
        with pytest.raises(SettingOutOfRange, match=setting):
            plan_conversations(**({"win_rate": 0.7} | {setting: value}))

    @pytest.mark.parametrize(
        ("setting", "value"),
        [
            ("tie_rate", 1.0),
            ("conversation_correlation", -0.1),
            ("annotations_per_conversation", 0),
            ("annotators", 1),
        ],
    )
    def test_refuses_an_impossible_design(self, setting, value):
        with pytest.raises(SettingOutOfRange, match=setting):
            Design(**{setting: value})


class TestOutcomeCorrelation:
    def test_is_the_analysis_of_variance_written_out(self):
        # Three conversations of two games: outcomes (1, 1), (0, -1), (1, 0); mean 1 / 3.
        outcomes = np.array([1, 1, 0, -1, 1, 0])
        rows = [
            (i // 2, "A", "B", 2, {1: (2, 0), 0: (1, 1), -1: (0, 2)}[o], i) for i, o in enumerate(outcomes.tolist())
        ]
        means = outcomes.reshape(3, 2).mean(axis=1)
        between = 2 * np.sum((means - 1 / 3) ** 2) / 2
        within = np.sum((outcomes - np.repeat(means, 2)) ** 2) / 3
        expected = (between - within) / (between + within)
        assert outcome_correlation(play_games(table_of(rows, ("A", "B")))) == pytest.approx(expected)

    def test_finds_the_correlation_that_was_simulated(self):
        rng = np.random.default_rng(3)
        rows = []
        for conversation in range(1500):
            own = int(rng.integers(-1, 2))
            for annotator in range(4):
                outcome = own if rng.random() < math.sqrt(0.3) else int(rng.integers(-1, 2))
                rows.append((conversation, "A", "B", 2, {1: (2, 0), 0: (1, 1), -1: (0, 2)}[outcome], annotator))
        assert outcome_correlation(play_games(table_of(rows, ("A", "B")))) == pytest.approx(0.3, abs=0.04)

    def test_one_game_a_conversation_tells_nothing(self):
        rows = [(i, "A", "B", 2, (2, 0), 0) for i in range(4)]
        assert outcome_correlation(play_games(table_of(rows, ("A", "B")))) == 0


class TestPlanMore:
    def test_needs_no_more_for_a_significant_pair_and_the_rest_for_another(self):
        plan = plan_more(play_games(simulated_table(2, per_pair=40)))
        assert {(pair.bot, pair.other): pair.more for pair in plan.pairs}["A", "C"] == 0
        for pair in plan.pairs:
            assert pair.n == 40
            conversations = known(pair.conversations)
            assert known(pair.low) <= conversations
            assert pair.more in {0, max(0, conversations - 40)}

    def test_uses_the_design_that_the_games_show(self):
        games = play_games(simulated_table(2, per_pair=10))
        plan = plan_more(games)
        assert plan.design.annotations_per_conversation == 6
        assert plan.design.tie_rate == np.mean(games.outcome == 0)
        assert plan.design.conversation_correlation == outcome_correlation(games)

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [([(0, "A", "B", 2, (1, 1), 0)], "no game of the two was decided"), ([], "no game of the two was decided")],
    )
    def test_says_why_there_is_no_number(self, rows, reason):
        (pair,) = plan_more(play_games(table_of(rows, ("A", "B")))).pairs
        assert (pair.conversations, pair.more, pair.reason) == (None, None, reason)

    def test_a_bot_never_beaten_is_planned_for_as_if_it_could_lose(self):
        rows = [(i, "A", "B", 2, (2, 0), i) for i in range(6)]
        (pair,) = plan_more(play_games(table_of(rows, ("A", "B")))).pairs
        assert pair.win_rate == 1
        assert pair.conversations is not None

"""Segments, annotators, sides and times on data small enough to count by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats import (
    SettingOutOfRange,
    annotation_times,
    annotator_quality,
    count_wins,
    evaluation_cost,
    play_games,
    segment_results,
    sides_alike,
    without_weak_annotators,
)
from tests.factories.annotation_tables import renamed, shuffled, simulated_table, table_of
from tests.factories.known import known

NAMES = ("A", "B", "HU")
# (conversation, first, second, exchanges, labels, annotator); 2 human, 1 unsure, 0 bot
ROWS = [
    (0, "A", "B", 2, (2, 0), 0),
    (0, "A", "B", 2, (0, 0), 1),
    (0, "A", "B", 2, (0, 1), 2),
    (1, "HU", "HU", 2, (2, 1), 0),
    (1, "HU", "HU", 2, (0, 0), 1),
]


class TestAnnotatorQuality:
    def test_counts_right_labels_but_not_unsure_ones(self):
        # Annotator 0: A wrong, B right, HU right, HU unsure: 2 of 3. 1: A, B right, HU twice wrong: 2 of 4. 2: A right.
        crowd = annotator_quality(table_of(ROWS, NAMES))
        assert [each.correctness for each in crowd.annotators] == pytest.approx([2 / 3, 2 / 4, 1])
        assert [each.human_correctness for each in crowd.annotators] == [1, 0, None]
        assert crowd.correctness == pytest.approx((2 / 3 + 2 / 4 + 1) / 3)
        assert (crowd.human_correctness, crowd.share_below_half) == (0.5, 0)
        assert [each.n for each in crowd.annotators] == [2, 2, 1]

    def test_majority_is_that_of_the_others_and_a_tie_is_none(self):
        # A: labels 2, 0, 0. For annotator 0 the others say 0; for 1 they say 2 and 0, which is no majority; for 2 too.
        # B: 0, 0, 1. 0: others 0 and 1, none; 1: none; 2: others 0, unlike 1. People: two labels each, all unlike.
        crowd = annotator_quality(table_of(ROWS, NAMES))
        assert [each.majority_agreement for each in crowd.annotators] == [0, 0, 0]
        alike = annotator_quality(table_of([*ROWS, (0, "A", "B", 2, (0, 0), 3)], NAMES))
        assert alike.annotators[1].majority_agreement == pytest.approx(2 / 4)

    def test_nobody_annotated(self):
        crowd = annotator_quality(table_of([], NAMES))
        assert (crowd.n, crowd.correctness, crowd.correctness_low, crowd.share_below_half) == (0, None, None, None)

    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 1000))
    def test_the_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed, names=("A", "B", "HU"))
        one, rows, names = (annotator_quality(t, seed=1) for t in (table, shuffled(table, seed), renamed(table, seed)))
        assert one == rows == names


class TestWithoutWeakAnnotators:
    def test_leaves_them_out_and_compares_the_orders(self):
        # Annotator 1, always wrong, prefers B; 0 prefers A, right of B. Together A and B are even.
        rows = [(i, "A", "B", 2, (1, 0), 0) for i in range(6)] + [(i, "A", "B", 2, (1, 2), 1) for i in range(6)]
        (kept, dropped) = without_weak_annotators(table_of(rows, NAMES), thresholds=(0.0, 0.5), n_resamples=50)
        assert (kept.annotators, kept.annotations) == (2, 12)
        assert (dropped.annotators, dropped.annotations) == (1, 6)
        assert dropped.ranking.bots[0].bot == "A"
        assert dropped.kendall_tau is None  # the order of all is a tie
        assert dropped.moved == ("B",)

    def test_refuses_a_threshold_that_is_no_share(self):
        with pytest.raises(SettingOutOfRange, match="threshold must be between 0 and 1, not 50"):
            without_weak_annotators(table_of(ROWS, NAMES), thresholds=(50,))


class TestSidesAlike:
    def test_expectation_and_p_value_are_those_of_all_permutations(self):
        first, second = [2, 2, 0, 1], [2, 0, 0, 2]
        rows = [(i, "A", "B", 2, pair, 0) for i, pair in enumerate(zip(first, second, strict=True))]
        alike = [sum(a == b for a, b in zip(first, p, strict=True)) for p in itertools.permutations(second)]
        found = sides_alike(table_of(rows, NAMES), n_resamples=20_000)
        assert found.estimate == 2 / 4
        assert found.expected == pytest.approx(np.mean(alike) / 4)
        assert found.standard_deviation == pytest.approx(np.std(alike) / 4, rel=0.03)
        assert found.p_value == pytest.approx(np.mean(np.array(alike) >= 2), abs=0.015)

    def test_an_annotator_s_habit_is_no_likeness(self):
        # One says human to all, one bot to all: every pair of sides is alike, and every permutation too.
        rows = [(i, "A", "B", 2, ((2, 2) if i % 2 else (0, 0)), i % 2) for i in range(10)]
        found = sides_alike(table_of(rows, NAMES))
        assert (found.estimate, found.expected, found.p_value) == (1, 1, None)
        assert found.reason == "no annotator gave different labels to both sides"

    def test_people_among_themselves_do_not_count(self):
        found = sides_alike(table_of(ROWS[3:], NAMES))
        assert (found.n, found.estimate, found.reason) == (0, None, "no annotation of a conversation between bots")


class TestAnnotationTimes:
    def test_absurd_values_are_left_out_and_counted(self):
        hour = 3_600_000
        times = annotation_times([2000, 4000, 9000, -5, math.nan, 25 * hour], [2] * 6, range(6))
        assert (times.median_seconds, times.mean_seconds, times.n, times.excluded) == (4, 5, 3, 3)
        assert "longer than 24 hours" in times.method
        longer = annotation_times([2000, 25 * hour], [2, 2], [0, 1], longest_hours=48)
        assert longer.excluded == 0
        assert longer.total_hours == pytest.approx(25 + 2 / 3600)

    def test_bounds_of_the_median_are_those_of_resampled_rows(self):
        rng = np.random.default_rng(2)
        seconds, conversation = rng.exponential(20, 60) * 1000, np.repeat(range(20), 3)
        times = annotation_times(seconds, [2] * 60, conversation, n_resamples=300, seed=7)
        replay = np.random.default_rng(7)
        medians = []
        for _ in range(300):
            drawn = replay.integers(20, size=20)
            medians.append(np.median(np.concatenate([seconds[conversation == each] for each in drawn])) / 1000)
        assert (times.low, times.high) == pytest.approx(tuple(np.quantile(medians, [0.025, 0.975])))

    def test_nothing_measured_is_said(self):
        times = annotation_times([math.nan], [2], [0])
        assert (times.median_seconds, times.low, times.mean_seconds, times.n, times.excluded) == (
            None,
            None,
            None,
            0,
            1,
        )

    def test_refuses_settings_out_of_range(self):
        with pytest.raises(SettingOutOfRange, match="longest_hours must be above 0"):
            annotation_times([1], [2], [0], longest_hours=0)


class TestSegmentResults:
    def test_each_length_is_that_length_alone(self):
        table = simulated_table(3, per_pair=8)
        for result in segment_results(table, n_resamples=20):
            alone = table.select(table.exchanges == result.exchanges)
            counts = count_wins(play_games(alone))
            assert result.ties == counts.tie_rate
            assert [bot.win_rate for bot in result.bots] == pytest.approx(counts.mean_win_rates.tolist())
            for bot in result.bots:
                labels = alone.label[alone.entity == alone.names.index(bot.bot)]
                assert bot.human_share == np.mean(labels == 2)
                assert known(bot.win_rate_low) <= known(bot.win_rate) <= known(bot.win_rate_high)

    def test_people_alone_make_no_segment(self):
        assert segment_results(table_of(ROWS[3:], NAMES)) == ()

    def test_a_bot_without_games_at_a_length_has_no_rate_there(self):
        rows = [*ROWS[:3], (2, "A", "A", 3, (2, 0), 0)]
        _, second = segment_results(table_of(rows, NAMES), n_resamples=10)
        assert [(bot.win_rate, bot.win_rate_low, bot.n) for bot in second.bots] == [(None, None, 2), (None, None, 0)]
        assert second.bots[1].human_share is None


class TestEvaluationCost:
    @pytest.mark.parametrize(
        ("setting", "value"), [("bots", 1), ("seconds_per_chat", 0), ("hourly_wage", -1), ("chats_per_bot", 0)]
    )
    def test_refuses_settings_out_of_range(self, setting, value):
        known = {
            "bots": 3,
            "conversations_per_pair": 10,
            "annotations_per_conversation": 6,
            "seconds_per_annotation": 20,
            "chats_per_bot": 50,
            "seconds_per_chat": 120,
            "hourly_wage": 10,
        }
        assert evaluation_cost(**known).annotation_hours == 3 * 10 * 6 * 20 / 3600
        with pytest.raises(SettingOutOfRange, match=setting):
            evaluation_cost(**(known | {setting: value}))

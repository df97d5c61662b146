"""Segments, annotators, sides and times on data small enough to count by hand."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats.annotators import _moved, annotator_quality, without_weak_annotators
from spotthebot.analytics.stats.evaluation_cost import evaluation_cost
from spotthebot.analytics.stats.segments import segment_results
from spotthebot.analytics.stats.sides import sides_alike
from spotthebot.analytics.stats.times import annotation_times
from spotthebot.analytics.stats.wins import count_wins, play_games
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table, table_of
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
        assert crowd.n == 0
        assert crowd.correctness is None
        assert crowd.correctness_low is None
        assert crowd.share_below_half is None

    @settings(max_examples=15)
    @given(seed=st.integers(0, 1000))
    def test_the_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed, names=("A", "B", "HU"), annotators=9)
        one, rows, names = (annotator_quality(t) for t in (table, shuffled(table, seed), renamed(table, seed)))
        assert one.annotators == rows.annotators == names.annotators
        for other in (rows, names):
            bounds = [other.correctness, other.correctness_low, other.correctness_high]
            assert bounds == pytest.approx([one.correctness, one.correctness_low, one.correctness_high], rel=1e-9)

    def test_variance_of_annotators_is_that_of_a_mean_of_their_shares(self):
        # Nine annotators with 1 to 36 labels and very different shares: leaving one out leaves the mean of the others.
        labels = [
            (at, "A", "B", 2, (0 if at % 9 < who else 2, 0 if who else 1), who)
            for who in range(9)
            for at in range(10 + who if who else 1)
        ]
        crowd = annotator_quality(table_of(labels, NAMES), clusters=Clusters.ANNOTATOR)
        shares = np.array([known(each.correctness) for each in crowd.annotators])
        assert crowd.uncertainty.standard_error == pytest.approx(shares.std(ddof=1) / 3, rel=1e-9)
        assert crowd.uncertainty.degrees_of_freedom == pytest.approx(8)

    def test_a_fixed_panel_s_variance_is_within_its_annotators(self):
        # Four are always right, four never: the panel's mean is sure, that of annotators is not.
        rows = [(at, "A", "B", 2, (0, 0) if who < 4 else (2, 2), who) for at in range(20) for who in range(8)]
        panel, anyone = (
            annotator_quality(table_of(rows, NAMES), clusters=clusters)
            for clusters in (Clusters.FIXED_PANEL, Clusters.BOTH)
        )
        assert panel.uncertainty.standard_error == pytest.approx(0)
        assert anyone.uncertainty.standard_error == pytest.approx(
            math.sqrt(2 / 7) / math.sqrt(8), rel=0.05
        )  # sd / root of n
        assert known(panel.correctness_low) > known(anyone.correctness_low)

    def test_few_annotators_have_no_interval_and_the_reason(self):
        crowd = annotator_quality(simulated_table(4, annotators=7))
        assert (crowd.correctness_low, crowd.correctness_high) == (None, None)
        assert known(crowd.uncertainty.reason).startswith(
            "an interval for other annotators needs at least 8 annotators, not 7"
        )


class TestWithoutWeakAnnotators:
    def test_tau_of_the_same_order_is_one_without_a_residue(self):
        table = simulated_table(2, names=tuple("ABCDEFG"), per_pair=6)
        (same,) = without_weak_annotators(table, thresholds=(0.0,), n_resamples=50)
        assert (same.kendall_tau, same.moved) == (1.0, ())

    def test_bots_are_moved_by_their_ranks_and_companions_not_by_the_numbers_of_clusters(self):
        def ranking(*places):
            bots = [SimpleNamespace(bot=bot, rank_low=low, rank_high=high, cluster=c) for bot, low, high, c in places]
            return SimpleNamespace(bots=bots)

        before = ranking(("A", 1, 2, 1), ("B", 1, 2, 1), ("C", 3, 3, 2), ("D", 4, 4, 3))
        split = ranking(("A", 1, 1, 1), ("B", 2, 2, 2), ("C", 3, 3, 3), ("D", 4, 4, 4))
        assert _moved(before, split) == ("A", "B")
        wider = ranking(("A", 1, 2, 1), ("B", 1, 3, 1), ("C", 2, 3, 1), ("D", 4, 4, 2))
        assert _moved(before, wider) == ("A", "B", "C")
        assert _moved(before, before) == ()

    def test_leaves_them_out_and_compares_the_orders(self):
        # Annotator 1, always wrong, prefers B; 0 prefers A, right of B. Together A and B are even.
        rows = [(i, "A", "B", 2, (1, 0), 0) for i in range(6)] + [(i, "A", "B", 2, (1, 2), 1) for i in range(6)]
        (kept, dropped) = without_weak_annotators(table_of(rows, NAMES), thresholds=(0.0, 0.5), n_resamples=50)
        assert (kept.annotators, kept.annotations) == (2, 12)
        assert (dropped.annotators, dropped.annotations) == (1, 6)
        assert dropped.ranking.bots[0].bot == "A"
        assert dropped.kendall_tau is None  # the order of all is a tie
        assert dropped.moved == ()  # no rank was told before, and one annotator alone tells none
        assert "chosen by outcome" in dropped.method

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

    def test_the_data_themselves_count_among_the_permutations(self):
        # 20 annotations of half "human", both sides always alike: of 10!² / 20! permutations none is as much alike.
        rows = [(i, "A", "B", 2, ((2, 2) if i % 2 else (0, 0)), 0) for i in range(20)]
        assert sides_alike(table_of(rows, NAMES), n_resamples=99).p_value == 1 / 100

    def test_an_annotator_s_habit_is_no_likeness(self):
        # One says human to all, one bot to all: every pair of sides is alike, and every permutation too.
        rows = [(i, "A", "B", 2, ((2, 2) if i % 2 else (0, 0)), i % 2) for i in range(10)]
        found = sides_alike(table_of(rows, NAMES))
        assert (found.estimate, found.expected, found.p_value) == (1, 1, None)
        assert found.reason == "no annotator gave different labels to both sides"

    def test_people_among_themselves_do_not_count(self):
        found = sides_alike(table_of(ROWS[3:], NAMES))
        assert found.n == 0
        assert found.estimate is None
        assert found.reason == "no annotation of a conversation between bots"


class TestAnnotationTimes:
    def test_absurd_values_are_left_out_and_counted(self):
        hour = 3_600_000
        times = annotation_times([2000, 4000, 9000, -5, math.nan, 25 * hour], [2] * 6, range(6), range(6))
        assert times.median_seconds == 4
        assert times.mean_seconds == 5
        assert times.n == 3
        assert times.excluded == 3
        assert "longer than 24 hours" in times.method
        longer = annotation_times([2000, 25 * hour], [2, 2], [0, 1], [0, 1], longest_hours=48)
        assert longer.excluded == 0
        assert longer.total_hours == pytest.approx(25 + 2 / 3600)

    def test_no_time_at_all_counts_as_measured(self):
        times = annotation_times([0, 2000, 4000], [2] * 3, range(3), range(3))
        assert (times.median_seconds, times.n, times.excluded) == (2, 3, 0)

    def test_bounds_of_the_median_are_woodruff_s(self):
        # 100 independent seconds 1 to 100: Wilson's interval of a share of one half, with Student's quantile, inverted.
        seconds = np.random.default_rng(3).permutation(np.arange(1, 101))
        times = annotation_times(seconds * 1000, [2] * 100, range(100), range(100), clusters=Clusters.NONE)
        quantile = 1.98422  # Student's, 99 degrees of freedom
        reach = quantile * math.sqrt(0.25 / 100 + quantile**2 / 40000) / (1 + quantile**2 / 100)
        assert (times.low, times.high) == (math.ceil(100 * (0.5 - reach)), math.floor(100 * (0.5 + reach)) + 1)
        error = (known(times.high) - known(times.low)) / 2 / quantile
        assert times.uncertainty.standard_error == pytest.approx(error, rel=1e-4)

    def test_slow_annotators_make_the_median_uncertain(self):
        who = np.repeat(range(6), 50)
        seconds = np.random.default_rng(1).lognormal(3 + 0.5 * (who % 3), 0.1)
        one, both = (
            annotation_times(seconds * 1000, [2] * 300, range(300), who, clusters=clusters)
            for clusters in (Clusters.CONVERSATION, Clusters.BOTH)
        )
        assert known(both.low) < known(one.low)
        assert known(both.high) > known(one.high)

    def test_times_that_are_all_the_same_are_their_own_bounds(self):
        times = annotation_times([3000] * 9, [2] * 9, range(9), range(9))
        assert (times.low, times.median_seconds, times.high) == (3, 3, 3)

    def test_nothing_measured_is_said(self):
        times = annotation_times([math.nan], [2], [0], [0])
        assert times.median_seconds is None
        assert times.low is None
        assert times.mean_seconds is None
        assert times.n == 0
        assert times.excluded == 1

    def test_refuses_settings_out_of_range(self):
        with pytest.raises(SettingOutOfRange, match="longest_hours must be above 0"):
            annotation_times([1], [2], [0], [0], longest_hours=0)


class TestSegmentResults:
    def test_each_length_is_that_length_alone(self):
        table = simulated_table(3, per_pair=8)
        for result in segment_results(table):
            alone = table.select(table.exchanges == result.exchanges)
            counts = count_wins(play_games(alone))
            assert result.ties == counts.tie_rate
            assert [bot.win_rate.estimate for bot in result.bots] == pytest.approx(counts.mean_win_rates.tolist())
            for bot in result.bots:
                labels = alone.label[alone.entity == alone.names.index(bot.bot)]
                assert bot.human_share.estimate == pytest.approx(np.mean(labels == 2))
                assert known(bot.win_rate.low) <= known(bot.win_rate.estimate) <= known(bot.win_rate.high)

    def test_people_alone_make_no_segment(self):
        assert segment_results(table_of(ROWS[3:], NAMES)) == ()

    def test_a_bot_without_games_at_a_length_has_no_rate_there(self):
        rows = [*ROWS[:3], (2, "A", "A", 3, (2, 0), 0)]
        _, second = segment_results(table_of(rows, NAMES))
        assert [(bot.win_rate.estimate, bot.win_rate.low, bot.n) for bot in second.bots] == [
            (None, None, 2),
            (None, None, 0),
        ]
        assert second.bots[1].human_share.estimate is None


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

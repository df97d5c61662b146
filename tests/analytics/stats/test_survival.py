"""Survival curves of current-status data against pooling, leaving out and intervals that are written out."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.analytics.coverage.survival import chances_of, curves_held
from spotthebot.analytics.stats.survival.curves import current_status, survival_curves
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table, status_of, table_of
from tests.factories.clustered_campaigns import Setting, draw_status
from tests.factories.known import all_known, known


class TestCurrentStatus:
    def test_reads_both_sides_of_every_annotation(self):
        rows = [(4, "A", "B", 2, (0, 2), 1), (5, "B", "A", 5, (1, 0), 3)]
        status = current_status(table_of(rows, ("A", "B"), features={"fluency": [[1, 0], [1, 1]]}))
        assert status.times.tolist() == [2, 5]
        assert status.entity.tolist() == [0, 1, 1, 0]
        assert status.time.tolist() == [0, 0, 1, 1]
        assert status.spotted.tolist() == [True, False, False, True]
        assert status.conversation.tolist() == [4, 4, 5, 5]
        assert status.annotator.tolist() == [1, 1, 3, 3]
        assert status.leads["fluency"].tolist() == [1, -1, 0, 0]


class TestSurvivalCurves:
    def test_pools_times_at_which_fewer_were_spotted_than_before(self):
        # Spotted 1/4, 3/4, 1/4 of 4 each: the last two are pooled to 4/8.
        (curve,) = survival_curves(status_of([[4, 4, 4]], [[1, 3, 1]], [2, 3, 5]), confidence_level=0.9)
        assert curve.times == (2, 3, 5)
        assert curve.estimate == (0.75, 0.5, 0.5)
        assert (curve.inspected, curve.spotted, curve.n) == ((4, 4, 4), (1, 3, 1), 12)
        assert curve.confidence_level == 0.9
        assert curve.low[1:] == (curve.low[1],) * 2
        assert [found.annotators for found in curve.uncertainty] == [4, 8, 8]

    @pytest.mark.parametrize(("spotted", "pooled"), [((3, 1), True), ((1, 3), False)])
    def test_pools_over_a_time_at_which_nobody_was_inspected(self, spotted: tuple[int, int], pooled: bool):
        first, last = spotted
        curve, _ = survival_curves(status_of([[4, 0, 4], [4, 4, 4]], [[first, 0, last], [1, 2, 3]], [2, 3, 5]))
        assert (curve.times, curve.estimate) == ((2, 5), (0.5, 0.5) if pooled else (0.75, 0.25))
        assert [found.annotators for found in curve.uncertainty] == ([8, 8] if pooled else [4, 4])

    def test_bounds_treat_a_conversation_as_one(self):
        # 90 conversations, in each of which four annotators agree: 90 observations, not 360.
        rows = [(i, "A", "B", 2, (0 if i % 3 else 2, 0), j) for i in range(90) for j in range(4)]
        status = current_status(table_of(rows, ("A", "B")))
        (curve, _) = survival_curves(status, confidence_level=0.9, clusters=Clusters.CONVERSATION)
        # Wilson's interval of 1/3 of as many observations as have the jackknife's variance, p (1 - p) / 89.
        weight = stats.t.ppf(0.95, 89) ** 2 / 89
        reach = math.sqrt(weight * (2 / 9 + weight / 4)) / (1 + weight)
        centre = (1 / 3 + weight / 2) / (1 + weight)
        assert curve.low[0] == pytest.approx(centre - reach, rel=1e-9)
        assert curve.high[0] == pytest.approx(centre + reach, rel=1e-9)
        assert curve.uncertainty[0].degrees_of_freedom == pytest.approx(89)

    @pytest.mark.parametrize("seed", range(5))
    def test_variance_is_that_of_leaving_out_annotators_and_conversations_from_the_pools(self, seed: int):
        status = current_status(simulated_table(seed, names=("A", "B"), per_pair=8))
        cell = status.conversation * 1000 + status.annotator
        for code, curve in enumerate(survival_curves(status)):
            for time, value, found in zip(curve.times, curve.estimate, curve.uncertainty, strict=True):
                pool = np.isin(
                    status.times, [t for t, s in zip(curve.times, curve.estimate, strict=True) if s == value]
                )
                mine = (status.entity == code) & pool[status.time]
                assert time in status.times[pool]

                def left_out(cluster, mine=mine):
                    values = np.unique(cluster[mine])
                    shares = [1 - status.spotted[mine & (cluster != each)].mean() for each in values]
                    whole = 1 - status.spotted[mine].mean()
                    return (len(values) - 1) / len(values) * sum((share - whole) ** 2 for share in shares)

                single = left_out(np.arange(len(mine)))
                summed = left_out(status.conversation) + left_out(status.annotator) - left_out(cell)
                assert found.standard_error == pytest.approx(math.sqrt(max(single, summed)), rel=1e-9)

    def test_entity_is_only_described_where_it_was_inspected(self):
        rows = [(0, "A", "A", 2, (0, 2), 1), (1, "B", "B", 5, (1, 0), 3)]
        a, b, c = survival_curves(current_status(table_of(rows, ("A", "B", "C"))))
        assert (a.times, b.times) == ((2,), (5,))
        assert (a.estimate, b.estimate) == ((0.5,), (0.5,))
        assert c.times == ()
        assert c.estimate == ()
        assert c.low == ()
        assert c.n == 0

    @pytest.mark.parametrize(("spotted", "survival"), [(0, 1.0), (3, 0.0)])
    def test_all_or_none_spotted_are_as_many_observations_as_clusters(self, spotted: int, survival: float):
        # Six clusters that all agree: Clopper and Pearson's bound, .025 to the 1/6.
        (curve,) = survival_curves(status_of([[3, 3]], [[spotted] * 2], [2, 3]))
        assert curve.estimate == (survival, survival)
        certain, open_ = (curve.high, curve.low) if survival else (curve.low, curve.high)
        assert certain == curve.estimate
        assert open_ == pytest.approx([abs(1 - survival - 0.025 ** (1 / 6))] * 2)

    def test_one_annotator_leaves_the_estimate_without_bounds_and_says_why(self):
        rows = [(i, "A", "B", 2, (0 if i % 3 else 2, 0), 0) for i in range(30)]
        (curve, _) = survival_curves(current_status(table_of(rows, ("A", "B"))))
        assert curve.estimate == pytest.approx((1 / 3,))
        assert (curve.low, curve.high) == ((None,), (None,))
        assert "all observations are of one annotator" in known(curve.uncertainty[0].reason)
        (panel, _) = survival_curves(current_status(table_of(rows, ("A", "B"))), clusters=Clusters.FIXED_PANEL)
        assert all_known(panel.low)[0] < 1 / 3 < all_known(panel.high)[0]

    def test_no_annotations_leave_an_empty_curve(self):
        (curve,) = survival_curves(current_status(table_of([], ("A",))))
        assert (curve.times, curve.n) == ((), 0)

    def test_refuses_a_level_out_of_range(self):
        with pytest.raises(SettingOutOfRange, match="confidence_level"):
            survival_curves(status_of([[3]], [[1]], [2]), confidence_level=1)

    @example(seed=54)  # every cluster's share is that of all: sums of 0 that depend on the order made degrees of 1e64
    @settings(max_examples=20)
    @given(seed=st.integers(0, 10_000))
    def test_never_rise_and_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed, names=("A", "HU", "B"))
        curves, rows, names = (
            {curve.bot: curve for curve in survival_curves(current_status(t))}
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        for bot, curve in curves.items():
            assert np.all(np.diff(all_known(curve.estimate)) <= 0)
            for again in (rows[bot], names[bot]):
                assert again.estimate == curve.estimate
                assert again.low == pytest.approx(curve.low)
                assert again.high == pytest.approx(curve.high)

    @pytest.mark.parametrize("annotators", [6, 20])
    def test_intervals_hold_the_truth_where_annotators_differ(self, annotators: int):
        setting, truth = Setting(4, 15, annotators, 0.18, taste=True), chances_of(4)
        held, naive = (np.zeros(2), np.zeros(2))
        for seed in range(120):
            status = draw_status(setting, truth, np.random.default_rng([seed, annotators]))
            held += curves_held(status, 1 - truth)
            naive += curves_held(status, 1 - truth, Clusters.NONE)
        # The annotators of a campaign move all of its points: 120 draws of .95 have a standard error of .02.
        assert abs(held[0] / held[1] - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 120)
        assert naive[0] / naive[1] < 0.85

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats import current_status, survival_curves
from tests.factories.annotation_tables import renamed, shuffled, simulated_table, status_of, table_of
from tests.factories.known import all_known


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
        (curve,) = survival_curves(status_of([[4, 4, 4]], [[1, 3, 1]], [2, 3, 5]), n_resamples=20, seed=4)
        assert curve.times == (2, 3, 5)
        assert curve.estimate == (0.75, 0.5, 0.5)
        assert (curve.inspected, curve.spotted, curve.n) == ((4, 4, 4), (1, 3, 1), 12)
        assert (curve.n_resamples, curve.confidence_level, curve.seed) == (20, 0.95, 4)

    def test_bounds_treat_a_conversation_as_one(self):
        # 90 conversations, in each of which four annotators agree: 90 draws, not 360.
        rows = [(i, "A", "B", 2, (0 if i % 3 else 2, 0), j) for i in range(90) for j in range(4)]
        (curve, _) = survival_curves(current_status(table_of(rows, ("A", "B"))), n_resamples=4000)
        reach = 1.96 * math.sqrt(2 / 9 / 90)
        assert curve.low[0] == pytest.approx(1 / 3 - reach, abs=0.015)
        assert curve.high[0] == pytest.approx(1 / 3 + reach, abs=0.015)

    def test_entity_is_only_described_where_it_was_inspected(self):
        rows = [(0, "A", "A", 2, (0, 2), 1), (1, "B", "B", 5, (1, 0), 3)]
        a, b, c = survival_curves(current_status(table_of(rows, ("A", "B", "C"))), n_resamples=20)
        assert (a.times, b.times) == ((2,), (5,))
        assert (a.estimate, b.estimate) == ((0.5,), (0.5,))
        assert (c.times, c.estimate, c.low, c.n) == ((), (), (), 0)

    @pytest.mark.parametrize(("spotted", "survival"), [(0, 1.0), (3, 0.0)])
    def test_all_or_none_spotted_leave_a_flat_curve_without_spread(self, spotted, survival):
        (curve,) = survival_curves(status_of([[3, 3]], [[spotted] * 2], [2, 3]), n_resamples=20)
        assert curve.estimate == (survival, survival)
        assert curve.low == curve.high == curve.estimate

    def test_no_annotations_leave_an_empty_curve(self):
        (curve,) = survival_curves(current_status(table_of([], ("A",))), n_resamples=5)
        assert (curve.times, curve.n) == ((), 0)

    @settings(max_examples=20, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_never_rise_and_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed, names=("A", "HU", "B"))
        curves, rows, names = (
            {curve.bot: curve for curve in survival_curves(current_status(t), n_resamples=30)}
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        assert rows == curves
        assert names == curves
        for curve in curves.values():
            assert np.all(np.diff(all_known(curve.estimate)) <= 0)
            assert np.all(np.diff(all_known(curve.low)) <= 0)

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats import fooling_rates
from tests.factories.annotation_tables import renamed, shuffled, simulated_table, table_of


class TestFoolingRates:
    def test_counts_the_labels_of_both_sides(self):
        rows = [(0, "A", "B", 2, (2, 0), 0), (1, "B", "A", 2, (1, 2), 0), (2, "A", "A", 2, (0, 1), 0)]
        a, b, c = fooling_rates(table_of(rows, ("A", "B", "C")), n_resamples=50, confidence_level=0.9, seed=3)
        assert (a.human, a.unsure, a.bot_labels, a.n, a.estimate) == (2, 1, 1, 4, 0.5)
        assert (b.human, b.unsure, b.bot_labels, b.n, b.estimate) == (0, 1, 1, 2, 0.0)
        assert (c.n, c.estimate, c.low, c.high) == (0, None, None, None)
        assert (a.n_resamples, a.confidence_level, a.seed) == (50, 0.9, 3)

    def test_bounds_treat_a_conversation_as_one(self):
        # 80 conversations in which all three annotators agree on both sides: 80 draws, not 240.
        rows = [(i, "A", "B", 2, (2 if i % 4 else 0, 0), j) for i in range(80) for j in range(3)]
        (a, _) = fooling_rates(table_of(rows, ("A", "B")), n_resamples=4000)
        reach = 1.96 * math.sqrt(3 / 16 / 80)
        assert a.low == pytest.approx(0.75 - reach, abs=0.015)
        assert a.high == pytest.approx(0.75 + reach, abs=0.015)

    @settings(max_examples=20, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed, names=("A", "HU", "B"))
        rates, rows, names = (
            {rate.bot: rate for rate in fooling_rates(t, n_resamples=30)}
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        assert rows == rates
        assert names == rates

    def test_no_annotations_leave_no_rates(self):
        (a,) = fooling_rates(table_of([], ("A",)), n_resamples=5)
        assert (a.n, a.estimate, a.low) == (0, None, None)

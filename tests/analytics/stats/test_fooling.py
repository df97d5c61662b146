import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from spotthebot.analytics.stats.fooling_rate import fooling_rates
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table, table_of


class TestFoolingRates:
    def test_counts_the_labels_of_both_sides(self):
        rows = [(0, "A", "B", 2, (2, 0), 0), (1, "B", "A", 2, (1, 2), 0), (2, "A", "A", 2, (0, 1), 0)]
        a, b, c = fooling_rates(table_of(rows, ("A", "B", "C")), confidence_level=0.9)
        assert a.human == 2
        assert a.unsure == 1
        assert a.bot_labels == 1
        assert a.n == 4
        assert a.estimate == 0.5
        assert b.human == 0
        assert b.unsure == 1
        assert b.bot_labels == 1
        assert b.n == 2
        assert b.estimate == 0.0
        assert c.n == 0
        assert c.estimate is None
        assert c.low is None
        assert c.high is None
        assert (a.confidence_level, a.uncertainty.conversations, a.uncertainty.annotators) == (0.9, 3, 1)

    def test_bounds_treat_a_conversation_as_one(self):
        # 80 conversations in which three annotators agree on both sides: 80 observations, not 240. The jackknife's
        # variance is p (1 - p) / 79, and the interval Wilson's of p (1 - p) over it with 79 degrees of freedom.
        rows = [(i, "A", "B", 2, (2 if i % 4 else 0, 0), j) for i in range(80) for j in range(3)]
        (a, _) = fooling_rates(table_of(rows, ("A", "B")), clusters=Clusters.CONVERSATION)
        weight = scipy_stats.t.ppf(0.975, 79) ** 2 / 79
        reach = math.sqrt(weight * (3 / 16 + weight / 4)) / (1 + weight)
        assert a.low == pytest.approx((0.75 + weight / 2) / (1 + weight) - reach, abs=1e-12)
        assert a.high == pytest.approx((0.75 + weight / 2) / (1 + weight) + reach, abs=1e-12)

    def test_one_annotator_alone_gives_no_bounds_but_the_reason_and_the_fixed_panel_does(self):
        rows = [(i, "A", "B", 2, (2 * (i % 2), 0), 0) for i in range(20)]
        table = table_of(rows, ("A", "B"))
        (a, _) = fooling_rates(table)
        (panel, _) = fooling_rates(table, clusters=Clusters.FIXED_PANEL)
        assert (a.estimate, a.low, a.high) == (0.5, None, None)
        assert "one annotator" in (a.uncertainty.reason or "")
        assert panel.low is not None
        assert panel.uncertainty.reason is None

    @settings(max_examples=20)
    @given(seed=st.integers(0, 10_000))
    def test_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed, names=("A", "HU", "B"))
        rates, rows, names = (
            {
                rate.bot: (rate.estimate, *(pytest.approx(b, abs=1e-12) for b in (rate.low, rate.high)))
                for rate in fooling_rates(t)
            }
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        assert rows == rates
        assert names == rates

    def test_no_annotations_leave_no_rates(self):
        (a,) = fooling_rates(table_of([], ("A",)))
        assert (a.n, a.estimate, a.low) == (0, None, None)

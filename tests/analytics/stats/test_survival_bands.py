"""Bands of S(t): the curve's bounds at inspections, and between them those that monotony leaves."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.analytics.coverage.bands import survival, tally
from spotthebot.analytics.stats.survival.censored_times import censored_times
from spotthebot.analytics.stats.survival.curves import current_status, survival_curves
from spotthebot.analytics.stats.survival.npmle import survival_band
from spotthebot.statistics.clustered_variance import Observations
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import simulated_table
from tests.analytics.stats.interval_examples import INF, intervals_of, random_intervals, worked_data
from tests.factories.clustered_campaigns import Setting
from tests.factories.known import all_known, known


class TestBandsAtInspections:
    @settings(max_examples=20)
    @given(seed=st.integers(0, 10_000), clusters=st.sampled_from(Clusters))
    def test_bands_of_current_status_data_have_the_curves_bounds(self, seed, clusters):
        status = current_status(simulated_table(seed, names=("A", "B"), per_pair=12))
        for code, curve in enumerate(survival_curves(status, clusters=clusters)):
            mine = status.entity == code
            band = survival_band(
                intervals_of(status, code),
                np.array(curve.times),
                observations=Observations(status.conversation[mine], status.annotator[mine]),
                clusters=clusters,
            )
            np.testing.assert_allclose(band.low, all_known(curve.low), atol=1e-6)
            np.testing.assert_allclose(band.high, all_known(curve.high), atol=1e-6)

    def test_bands_of_doubled_rows_that_share_a_cluster_are_those_of_single_rows(self):
        times, _ = worked_data("bcos")
        doubled = censored_times(np.repeat(times.left, 2), np.repeat(times.right, 2))
        pairs = Observations(np.arange(188) // 2, np.arange(188))
        single, naive = survival_band(times, [20, 40]), survival_band(doubled, [20, 40])
        clustered = survival_band(doubled, [20, 40], observations=pairs, clusters=Clusters.CONVERSATION)
        for low, high in ((single.low, single.high), (clustered.low, clustered.high)):
            assert np.all((low <= single.estimate) & (single.estimate <= high))
        np.testing.assert_allclose(clustered.low, single.low, atol=1e-4)
        np.testing.assert_allclose(clustered.high, single.high, atol=1e-4)
        assert np.all(naive.high - naive.low < 0.8 * (single.high - single.low))

    def test_bands_hold_the_truth_where_rows_are_inspected_at_any_time(self):
        at = np.array([4.0, 8.0, 12.0])
        held = 0
        for seed in range(100):
            band = survival_band(censored_times(*random_intervals(np.random.default_rng(seed), n=100)), at)
            truth = np.exp(-((at / 10) ** 1.5))
            held += int(np.sum((band.low <= truth) & (truth <= band.high)))
        # 300 intervals, each promised .95: 3 standard errors of 100 independent campaigns are .065.
        assert abs(held / 300 - 0.95) < 0.065

    def test_bands_without_rows_or_of_one_annotator_say_why(self):
        (nothing,) = survival_band(censored_times([], []), [2]).uncertainty
        assert nothing.reason == "nothing was observed"
        times = censored_times([0, 0, 2], [2, 2, INF])
        band = survival_band(times, [2], observations=Observations(np.arange(3), np.zeros(3, dtype=np.int64)))
        assert np.isnan(band.low[0])
        assert "all observations are of one annotator" in known(band.uncertainty[0].reason)


class TestBandsBetweenInspections:
    """Twelve rows at each of the lengths 2 and 5: S(2) = 8/12, S(5) = 4/12."""

    TIMES = censored_times(np.repeat([0, 2, 0, 5], [4, 8, 8, 4]), np.repeat([2, INF, 5, INF], [4, 8, 8, 4]))

    def test_are_bounded_by_the_inspections_before_and_after(self):
        at = survival_band(self.TIMES, [2, 5])
        np.testing.assert_allclose(at.estimate, [8 / 12, 4 / 12])
        between = survival_band(self.TIMES, [2 + 1e-9, 3, 5 - 1e-9])
        # S(t) falls somewhere from 2 to 5, nobody saw where: no number between the two is better than another.
        assert np.isnan(between.estimate).all()
        assert (between.low == at.low[1]).all()
        assert (between.high == at.high[0]).all()

    def test_reach_1_before_the_first_and_0_after_the_last(self):
        at = survival_band(self.TIMES, [2, 5])
        outside = survival_band(self.TIMES, [1e-300, 1, 5 + 1e-9, 1e300])
        assert np.isnan(outside.estimate).all()
        np.testing.assert_array_equal(outside.low, [at.low[0], at.low[0], 0, 0])
        np.testing.assert_array_equal(outside.high, [1, 1, at.high[1], at.high[1]])

    def test_say_why_there_are_none(self):
        panel = Observations(np.arange(24), np.zeros(24, dtype=np.int64))
        band = survival_band(self.TIMES, [1, 3], observations=panel)
        assert np.isnan([band.low, band.high, band.estimate]).all()
        assert all("all observations are of one annotator" in known(each.reason) for each in band.uncertainty)

    def test_before_the_first_inspection_of_all_are_bounded_by_1_or_not_at_all(self):
        times = censored_times([1, 1, 3], [2, 2, INF])
        assert survival_band(times, [0.5]).high.tolist() == [1]
        panel = Observations(np.arange(3), np.zeros(3, dtype=np.int64))
        assert np.isnan(survival_band(times, [0.5], observations=panel).high).all()

    def test_hold_any_truth_between_those_of_the_inspections(self):
        """Nominal 95 % at both ends: whatever S(t) does between them, the bounds hold it in no fewer campaigns."""
        setting, held, counted = Setting(4, 15, 12, 0.18, taste=True), Counter[str](), Counter[str]()
        for seed in range(15):
            for kind, (holds, of) in tally(setting, seed).items():
                held[kind] += holds
                counted[kind] += of
        assert counted["one of three lengths, on"] == 15 * 4 * 3
        assert counted["one of three lengths, off"] == 15 * 4 * 8
        assert set(counted) >= {"any one time, off", "any two times, off"}
        # With 15 independent campaigns three standard errors are .17; a curve that steps where no one looked holds
        # 0 to 43 %.
        assert all(held[kind] / counted[kind] > 0.95 - 0.17 for kind in counted)

    @pytest.mark.parametrize("at", [[-1], [float("nan")], 3, [[1, 2]], None])
    def test_are_refused_for_what_are_no_times(self, at):
        with pytest.raises(SettingOutOfRange, match="at must be"):
            survival_band(self.TIMES, at)


def test_the_simulated_curve_is_the_one_that_its_words_name():
    np.testing.assert_allclose(survival(np.array([2.0, 4.0, 8.0])), [0.84, 0.62, 0.26], atol=0.005)

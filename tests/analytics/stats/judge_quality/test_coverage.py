import numpy as np
import pytest

from benchmarks.analytics.judge_quality import coverage, probe_shares
from spotthebot.analytics.stats.judge_quality.calibration import calibration
from tests.factories.known import known
from tests.factories.scored_labels import GOOD, USELESS, StudySetting, draw, truth_of

SIMULATIONS = 50
LEAST = 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / SIMULATIONS)
"""Of 11 intervals that hold the truth 95 times in 100, all hold it more often than this in 99.7 of 100 runs."""


class TestIntervals:
    @pytest.mark.parametrize("setting", [StudySetting(), StudySetting(annotators=20, leniency=0.35, judge=USELESS)])
    def test_hold_the_truth_of_other_conversations_and_annotators(self, setting):
        for kind, share in coverage(setting, SIMULATIONS).items():
            assert share >= LEAST, kind

    def test_say_that_a_useless_judge_gains_nothing(self):
        rng = np.random.default_rng(3)
        useless = [calibration(draw(StudySetting(judge=USELESS), rng).labels).gain for _ in range(40)]
        assert truth_of(StudySetting(judge=USELESS)).gain < 0 < truth_of(StudySetting(judge=GOOD)).gain
        assert (
            sum(known(each.low) > 0 for each in useless) <= 3
        )  # 2.5 of 100 at the border, and this judge is beyond it

    def test_probes_keep_their_level_and_reach_their_power(self):
        false, true, held = probe_shares(40, 200)
        assert false == pytest.approx(0.05, abs=0.035)
        assert true == pytest.approx(0.8, abs=0.07)
        assert held == pytest.approx(0.95, abs=0.035)

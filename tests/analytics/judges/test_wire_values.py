"""The worth of a judge on the wire: each field is stated, one by one."""

from dataclasses import replace
from typing import Any

from spotthebot.analytics.stats.judge_quality.agreement import Agreement, Coefficient, JudgeAgreement
from spotthebot.analytics.stats.judge_quality.alt_test import Alignment, AltTest
from spotthebot.analytics.stats.judge_quality.calibration import Calibration, ReliabilityBin
from spotthebot.analytics.stats.judge_quality.clustered_means import ClusteredMean
from spotthebot.analytics.stats.judge_quality.groups import GroupQuality
from spotthebot.analytics.stats.judge_quality.probes import Probe
from spotthebot.analytics.stats.judged.ceiling import Ceiling
from spotthebot.analytics.stats.judged.games import JudgedPair, JudgedRank, JudgedRanking
from spotthebot.analytics.stats.judged.intervals import Interval
from spotthebot.analytics.stats.judged.survival import JudgedCurve, points_of
from spotthebot.analytics.stats.judged.values import JudgedEstimate
from spotthebot.analytics.stats.survival.curves import SurvivalCurve
from spotthebot.contracts.analytics.judges import (
    AgreementWithJudge,
    CorrectedBot,
    CorrectedPair,
    CorrectedRank,
    CorrectedRanking,
    CorrectedSurvival,
    JudgeAltTest,
    JudgeCalibration,
    JudgeCeiling,
    JudgeGroup,
    JudgeOrder,
    JudgeProbe,
)
from spotthebot.statistics.rank_correlation import RankCorrelation
from spotthebot.statistics.uncertainty import Clusters, Uncertainty
from tests.factories.wire_values import assert_is

BASIS = Uncertainty(0.1, 7.0, 9, 8, Clusters.BOTH, None)


def _mean(estimate: float) -> tuple[ClusteredMean, dict[str, Any]]:
    """Return a mean and what the wire states of it."""
    found = ClusteredMean(estimate, estimate - 0.1, estimate + 0.1, 12, 0.3, 0.8, 0.95, "t", BASIS, "why")
    stated = {"estimate": estimate, "low": estimate - 0.1, "high": estimate + 0.1, "reason": "why"}
    return found, stated | {"n": 12, "smallest_detectable": 0.3}


def _bounded(estimate: float, reason: str | None = None) -> dict[str, Any]:
    return {"estimate": estimate, "low": estimate - 0.2, "high": estimate + 0.2, "reason": reason}


def _coefficient(estimate: float) -> Coefficient:
    return Coefficient(estimate, estimate - 0.2, estimate + 0.2, BASIS, None)


class TestWireValues:
    def test_state_a_ceiling(self):
        found = Ceiling(0.2, 0.0, 0.4, 30, 20, 0.95, BASIS, None)
        assert_is(JudgeCeiling, JudgeCeiling.of(found), _bounded(0.2) | {"n": 30, "units": 20})

    def test_state_agreement(self):
        judge, people = (Agreement(_coefficient(share), _coefficient(share - 0.3)) for share in (0.7, 0.8))
        found = JudgeAgreement(judge, people, _coefficient(-0.1), 20, 40, 0.95, "pi")
        stated = {
            "judge": {"share": _bounded(0.7), "beyond_chance": _bounded(0.7 - 0.3)},
            "people": {"share": _bounded(0.8), "beyond_chance": _bounded(0.8 - 0.3)},
            "difference": _bounded(-0.1),
            "n": 20,
            "n_labels": 40,
            "method": "pi",
        }
        assert_is(AgreementWithJudge, AgreementWithJudge.of(found), stated)

    def test_state_calibration(self):
        (brier, of_brier), (gain, of_gain), (bias, of_bias) = map(_mean, (0.2, 0.05, -0.1))
        one = ReliabilityBin(0.1, 0.3, 0.2, 12, 0.25, 0.1, 0.4, BASIS)
        found = Calibration(brier, gain, bias, 0.01, 0.02, 0.03, 0.24, 0.001, (one,), 12, 3, 0.95, "Wilson", None)
        bins = [{"lowest": 0.1, "highest": 0.3, "probability": 0.2, "n": 12, "estimate": 0.25, "low": 0.1, "high": 0.4}]
        stated = {
            "brier": of_brier,
            "gain": of_gain,
            "bias": of_bias,
            "reliability": 0.01,
            "reliability_by_chance": 0.02,
            "resolution": 0.03,
            "uncertainty": 0.24,
            "within": 0.001,
            "bins": bins,
            "n": 12,
            "n_missing": 3,
            "reason": None,
        }
        assert_is(JudgeCalibration, JudgeCalibration.of(found), stated)

    def test_state_a_corrected_bot(self):
        people, corrected, saved = (Interval(each, each - 0.2, each + 0.2) for each in (0.3, 0.35, 0.1))
        found = JudgedEstimate("A", 12, 40, 0.1, people, 0.6, corrected, saved, 0.4, "why", 0.95, "PPI++")
        stated = {
            "bot": "A",
            "n_people": 12,
            "n_judged": 40,
            "missing": 0.1,
            "people": _bounded(0.3),
            "judge": 0.6,
            "corrected": _bounded(0.35),
            "labels_saved": _bounded(0.1),
            "reason": "why",
        }
        assert_is(CorrectedBot, CorrectedBot.of(found), stated)

    def test_state_a_corrected_ranking(self):
        people, corrected, saved = (Interval(each, each - 0.2, each + 0.2) for each in (0.3, 0.35, 0.1))
        both = {"people": _bounded(0.3), "corrected": _bounded(0.35), "labels_saved": _bounded(0.1), "reason": "why"}
        rank = JudgedRank("A", people, 0.6, corrected, saved, 1, 2, "why")
        pair = JudgedPair("A", "B", 12, 40, people, 0.7, corrected, saved, 0.4, "why")
        of_rank = both | {"bot": "A", "judge": 0.6, "rank_low": 1, "rank_high": 2}
        of_pair = both | {"bot": "A", "other": "B", "n_people": 12, "n_judged": 40, "judge": 0.7}
        found = CorrectedRanking.of(JudgedRanking((rank,), (pair,), 0.4, 0.95, 0.05, "no games"))
        assert_is(CorrectedRanking, found, {"bots": [of_rank], "pairs": [of_pair], "reason": "no games"})
        assert_is(CorrectedRank, found.bots[0], of_rank)
        assert_is(CorrectedPair, found.pairs[0], of_pair)

    def test_state_corrected_survival(self):
        alone = replace(BASIS, reason="one annotator")
        people = SurvivalCurve(
            "A", (2, 3), (0.5, 0.4), (0.3, None), (0.7, None), (8, 9), (4, 5), (BASIS, alone), 17, 0.95, "NPMLE"
        )
        corrected, saved = (tuple(Interval(each, each - 0.2, each + 0.2) for each in (at, 0.2)) for at in (0.4, 0.1))
        curve = JudgedCurve("A", (2, 3), people, corrected, saved, 0.4, "why")
        stated = {
            "bot": "A",
            "times": [2, 3],
            "people": [
                {"estimate": 0.5, "low": 0.3, "high": 0.7, "reason": None},
                {"estimate": 0.4, "low": None, "high": None, "reason": "one annotator"},
            ],
            "corrected": [_bounded(0.4), _bounded(0.2)],
            "labels_saved": [_bounded(0.1), _bounded(0.2)],
            "reason": "why",
        }
        assert_is(CorrectedSurvival, CorrectedSurvival.of(curve, people=points_of(people)), stated)

    def test_state_a_group(self):
        means = [_mean(each) for each in (0.1, 0.2, 0.3, 0.4)]
        people, judge, bias, brier = (mean for mean, _ in means)
        found = GroupQuality("A", people, judge, bias, brier, n=12, n_missing=2, reason=None)
        names = ("people", "judge", "bias", "brier")
        stated = {name: stated for name, (_, stated) in zip(names, means, strict=True)}
        assert_is(JudgeGroup, JudgeGroup.of(found), stated | {"name": "A", "n": 12, "n_missing": 2, "reason": None})

    def test_state_the_order_of_bots(self):
        found = RankCorrelation(0.5, -0.6, 0.9, 0.2, 6, "Spearman, exact", None)
        assert_is(JudgeOrder, JudgeOrder.of(found), {"estimate": 0.5, "p_value": 0.2, "n": 6, "reason": None})

    def test_state_the_alt_test(self):
        found = AltTest(0.6, 0.9, True, (), 50, 2, 0.1, 0.05, Alignment.ACCURACY, "alt-test", None)
        stated = {
            "winning_rate": 0.6,
            "advantage_probability": 0.9,
            "passes": True,
            "epsilon": 0.1,
            "false_discovery_rate": 0.05,
            "n": 50,
            "n_annotators_left_out": 2,
            "method": "alt-test",
            "reason": None,
        }
        assert_is(JudgeAltTest, JudgeAltTest.of(found), stated)

    def test_state_a_probe(self):
        (shift, of_shift), (distance, of_distance), (flips, of_flips) = map(_mean, (0.2, 0.3, 0.1))
        found = Probe(shift, distance, flips, 12, 3, 1, None)
        stated = {"shift": of_shift, "distance": of_distance, "flips": of_flips, "n": 12, "n_missing": 3}
        assert_is(JudgeProbe, JudgeProbe.of(found), stated | {"reason": None})

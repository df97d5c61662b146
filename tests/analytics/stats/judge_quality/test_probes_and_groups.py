from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from spotthebot.analytics.stats.judge_quality.columns import ScoredLabels
from spotthebot.analytics.stats.judge_quality.groups import missing_shares, order_of_bots, quality_by_group
from spotthebot.analytics.stats.judge_quality.probes import probe, self_preference
from spotthebot.statistics.errors import SettingOutOfRange
from tests.factories.known import all_known, known
from tests.factories.scored_labels import StudySetting, draw


def _labels(each: Sequence[int], human: Sequence[float], probability: Sequence[float]) -> ScoredLabels:
    """Labels of units that are conversations and have an annotator of their own."""
    codes = np.array(each)
    return ScoredLabels(codes, codes, codes, np.array(human, float), np.array(probability))


class TestProbe:
    def test_has_for_single_units_the_interval_of_a_paired_t_test(self):
        rng = np.random.default_rng(0)
        before, after = rng.random(30), rng.random(30)
        found = probe(np.arange(30), before, after).shift
        oracle = stats.ttest_rel(after, before).confidence_interval()
        assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))

    def test_has_as_smallest_detectable_effect_the_one_that_a_t_test_finds_with_the_power(self):
        rng = np.random.default_rng(1)
        found = probe(np.arange(30), rng.random(30), rng.random(30), power=0.9).shift
        lead = known(found.smallest_detectable) / known(found.uncertainty.standard_error)
        critical = stats.t.ppf(0.975, 29)
        assert stats.nct.sf(critical, 29, lead) + stats.nct.cdf(-critical, 29, lead) == pytest.approx(0.9, abs=1e-5)

    def test_counts_flips_of_either_direction_and_lost_answers(self):
        found = probe([0, 1, 2, 3, 4], [0.4, 0.6, 0.5, 0.9, np.nan], [0.6, 0.4, 0.7, np.nan, 0.5])
        assert found.flips.estimate == pytest.approx(2 / 3)
        assert found.shift.estimate == pytest.approx(0.2 / 3)
        assert (found.n, found.n_missing, found.n_lost) == (3, 2, 1)

    @pytest.mark.parametrize("rows", [([], [], []), ([0], [None], [0.5])])
    def test_says_why_nothing_can_be_compared(self, rows):
        found = probe(*rows)
        assert found.shift.estimate is None
        assert found.reason == "no unit has both probabilities"

    def test_a_judge_that_never_changes_has_no_interval(self):
        found = probe([0, 1, 2], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
        assert (found.shift.estimate, found.shift.low, found.shift.smallest_detectable) == (0, None, None)
        assert found.reason == "all values are the same, so the data do not show how others would differ"

    def test_refuses_probabilities_above_1(self):
        with pytest.raises(SettingOutOfRange, match="after"):
            probe([0], [0.5], [1.5])


class TestSelfPreference:
    def test_is_the_difference_of_mean_residuals(self):
        labels = _labels(range(4), [1, 0, 1, 0], [0.9, 0.7, 0.6, 0.2])
        found = self_preference(labels, np.array([True, True, False, False]))
        assert found.estimate == pytest.approx((-0.1 + 0.7) / 2 - (-0.4 + 0.2) / 2)

    def test_without_bots_of_its_own_kind_says_so(self):
        labels = _labels(range(2), [1, 0], [0.9, 0.7])
        found = self_preference(labels, np.array([False, False]))
        assert found.estimate is None
        assert found.reason == "one of the two groups has no values"

    def test_refuses_marks_of_another_length(self):
        labels = _labels(range(2), [1, 0], [0.9, 0.7])
        with pytest.raises(SettingOutOfRange, match="own"):
            self_preference(labels, np.array([True]))


class TestGroups:
    def test_have_the_means_of_their_labels(self):
        drawn = draw(StudySetting(), np.random.default_rng(0))
        found = quality_by_group("ABCD", drawn.bot, drawn.labels)
        for at, each in enumerate(found):
            rows = drawn.bot == at
            assert each.people.estimate == pytest.approx(drawn.labels.human[rows].mean())
            assert each.judge.estimate == pytest.approx(drawn.labels.probability[rows].mean())
            assert each.bias.estimate == pytest.approx(known(each.judge.estimate) - known(each.people.estimate))
            assert known(each.bias.low) < known(each.bias.estimate) < known(each.bias.high)
        order = order_of_bots(found)
        assert order.n == 4
        assert order.estimate == pytest.approx(
            stats.spearmanr(
                all_known([each.people.estimate for each in found]), all_known([each.judge.estimate for each in found])
            ).statistic
        )

    def test_without_labels_or_answers_say_which_are_missing(self):
        labels = _labels(range(2), [1, 0], [0.9, np.nan])
        one, other, third = quality_by_group("ABC", np.array([0, 1]), labels)
        assert (one.reason, other.reason) == (None, "the judge has no probability for a label of this group")
        assert third.reason == "no person labelled this group"
        assert (other.n, other.n_missing) == (0, 1)

    def test_show_the_share_of_missing_answers_with_an_interval(self):
        n = 30
        found = missing_shares(["A", "B"], np.repeat([0, 1], n), np.arange(2 * n), [np.nan] * 27 + [0.5] * 33)
        assert [each.estimate for each in found] == [0.9, 0]
        assert (found[0].missing, found[0].n) == (27, 30)
        assert known(found[0].low) < 0.9 < known(found[0].high)
        assert found[1].high == pytest.approx(1 - 0.025 ** (1 / 30))  # Clopper & Pearson's bound of 0 of 30

    def test_refuse_codes_without_a_name(self):
        with pytest.raises(SettingOutOfRange, match="group"):
            missing_shares(["A"], np.array([1]), [0], [0.5])

import numpy as np
import pytest

from spotthebot.analytics.stats.judge_quality.calibration import calibration
from spotthebot.analytics.stats.judge_quality.columns import ScoredLabels
from spotthebot.statistics.errors import ColumnMalformed, SettingOutOfRange
from tests.factories.known import known
from tests.factories.scored_labels import StudySetting, draw


def _labels(human, probability, unit=None):
    units = np.arange(len(human)) if unit is None else unit
    return ScoredLabels(units, units, np.arange(len(human)), human, probability)


class TestCalibration:
    @pytest.mark.parametrize("bins", [1, 3, 10])
    def test_has_parts_whose_sum_is_the_brier_score(self, bins):
        labels = draw(StudySetting(), np.random.default_rng(2)).labels
        found = calibration(labels, bins=bins)
        p, y = labels.probability, labels.human
        assert found.brier.estimate == pytest.approx(np.mean((p - y) ** 2), abs=1e-12)
        # Within a bin (Stephenson et al. 2008, Eq. 5): the variance of p, minus twice its covariance with y.
        within = 0.0
        for each in found.bins:
            rows = (p >= each.lowest) & (p <= each.highest)
            assert each.n == rows.sum()
            assert each.estimate == pytest.approx(y[rows].mean())
            within += np.sum(
                (p[rows] - p[rows].mean()) ** 2 - 2 * (p[rows] - p[rows].mean()) * (y[rows] - y[rows].mean())
            )
        assert found.within == pytest.approx(within / len(labels), abs=1e-12)
        parts = known(found.reliability) - known(found.resolution) + known(found.uncertainty) + known(found.within)
        assert parts == pytest.approx(found.brier.estimate, abs=1e-12)

    def test_is_murphys_example_of_two_probabilities(self):
        # Four labels at .25 (one human) and six at .75 (three human): reliability .6 * .25² , resolution by hand.
        human = np.array([1, 0, 0, 0, 1, 1, 1, 0, 0, 0])
        found = calibration(_labels(human, np.repeat([0.25, 0.75], [4, 6])))
        assert len(found.bins) == 2
        assert found.reliability == pytest.approx(0.6 * 0.25**2)
        assert found.resolution == pytest.approx(0.4 * 0.15**2 + 0.6 * 0.1**2)
        assert found.uncertainty == pytest.approx(0.4 * 0.6)
        assert found.within == pytest.approx(0, abs=1e-12)
        assert found.gain.estimate == pytest.approx(0.24 - known(found.brier.estimate))
        assert found.bias.estimate == pytest.approx(0.55 - 0.4)

    def test_expects_of_a_right_judge_about_the_reliability_by_chance(self):
        # Independent labels that are human with the judge's probability.
        rng = np.random.default_rng(5)
        found = []
        for _ in range(60):
            p = rng.uniform(0.1, 0.9, 400)
            found.append(calibration(_labels((rng.random(400) < p).astype(float), p)))
        assert np.mean([each.reliability for each in found]) == pytest.approx(
            np.mean([each.reliability_by_chance for each in found]), rel=0.15
        )

    def test_a_judge_with_one_answer_has_one_bin_and_no_resolution(self):
        found = calibration(_labels([1, 0, 0, 1], [0.5] * 4))
        assert len(found.bins) == 1
        assert found.resolution == 0
        assert found.gain.estimate == 0
        assert found.gain.low is None
        assert found.gain.reason == "all values are the same, so the data do not show how others would differ"

    def test_a_judge_that_is_certain_and_wrong_has_the_largest_brier_score(self):
        found = calibration(_labels([1, 0, 1, 0], [0, 1, 0, 1]))
        assert found.brier.estimate == 1
        assert found.gain.estimate == -0.75

    def test_counts_missing_answers_and_never_labels_them(self):
        found = calibration(_labels([1, 0, 1, 1], [0.5, None, None, 0.5]))
        assert (found.n, found.n_missing) == (2, 2)
        assert found.brier.estimate == 0.25

    @pytest.mark.parametrize("probability", [[], [None, None]])
    def test_without_labels_and_answers_has_a_reason_and_no_number(self, probability):
        found = calibration(_labels([1] * len(probability), probability))
        assert found.reason == "no person labelled a unit for which the judge has a probability"
        assert (found.brier.estimate, found.reliability, found.uncertainty, found.within) == (None,) * 4
        assert found.bins == ()

    @pytest.mark.parametrize(
        ("human", "probability", "unit", "fault"),
        [
            ([1, 0], [0.5, 1.5], None, "probability must be from 0 to 1"),
            ([1, 2], [0.5, 0.5], None, "human must be 0 or 1"),
            ([1, 0], [0.5], None, "columns of one length"),
            ([1, 0], [0.5, 0.6], [0, 0], "the same for all labels of a unit"),
            ([1, 0], [0.5, None], [0, 0], "the same for all labels of a unit"),
        ],
    )
    def test_refuses_columns_that_are_no_labels_or_probabilities(self, human, probability, unit, fault):
        with pytest.raises(SettingOutOfRange, match=fault):
            _labels(human, probability, unit)

    def test_refuses_words_as_probabilities(self):
        with pytest.raises(ColumnMalformed, match="human"):
            _labels([1], ["human"])

    @pytest.mark.parametrize("bins", [0, 101, 2.5])
    def test_refuses_numbers_of_bins_out_of_range(self, bins):
        with pytest.raises(SettingOutOfRange, match="bins"):
            calibration(_labels([1, 0], [0.5, 0.6]), bins=bins)

import numpy as np
import pytest

from spotthebot.analytics.stats.proportions import compare_proportions, wilson_interval
from spotthebot.analytics.stats.validity import linear_r2, logistic_r2
from spotthebot.statistics.errors import SettingOutOfRange
from tests.factories.known import known
from tests.factories.lazy_imports import lazily
from tests.factories.published_dump import reference

datasets = lazily("statsmodels.datasets")
proportion_confint = lazily("statsmodels.stats.proportion:proportion_confint")


def _worked(name):
    return reference("statistics/worked_examples.json")[name]


class TestWilsonInterval:
    @pytest.mark.parametrize(("successes", "key"), [(3, "wilson 3/50 95%"), (0, "wilson 0/50")])
    def test_is_the_worked_example(self, successes, key):
        share = wilson_interval(successes, 50)
        assert (share.low, share.high) == pytest.approx(tuple(_worked("proportions")[key]), abs=1e-12)

    @pytest.mark.parametrize(("successes", "n"), [(1, 1), (7, 9), (20, 20), (500, 1000)])
    def test_is_statsmodels(self, successes, n):
        share = wilson_interval(successes, n, confidence_level=0.9)
        assert (share.low, share.high) == pytest.approx(proportion_confint(successes, n, 0.1, "wilson"))

    def test_nothing_observed_has_no_share(self):
        assert wilson_interval(0, 0).estimate is None

    def test_refuses_more_successes_than_observations(self):
        with pytest.raises(SettingOutOfRange, match="successes must be a whole number from 0 to n = 3, not 4"):
            wilson_interval(4, 3)


class TestCompareProportions:
    def test_is_the_worked_example(self):
        test = compare_proportions(15, 50, 25, 50)
        assert (test.statistic, test.p_value) == pytest.approx(_worked("proportions")["ztest pooled 15/50 vs 25/50"])

    @pytest.mark.parametrize("certain", [0, 50])
    def test_two_certain_shares_have_no_test(self, certain):
        test = compare_proportions(certain, 50, certain, 50)
        assert test.difference == 0
        assert test.p_value is None
        assert test.reason == "both shares are 0, or both are 1"

    def test_nothing_observed_has_no_test(self):
        assert compare_proportions(0, 0, 1, 2).reason == "one of the two has no observations"


class TestExplained:
    def test_longley_s_r2_is_certified(self):
        data = datasets.longley.load()
        found = linear_r2(data.endog.to_numpy(), data.exog.to_numpy())
        expected = _worked("regression")["longley"]
        assert found.estimate == pytest.approx(expected["r2_certified"], abs=1e-9)
        assert found.adjusted == pytest.approx(expected["adj_r2"], abs=1e-9)

    def test_spector_s_pseudo_r2_is_greene_s(self):
        data = datasets.spector.load()
        found = logistic_r2(data.endog.to_numpy(), data.exog.to_numpy())
        expected = _worked("regression")["spector"]
        np.testing.assert_allclose(found.coefficients, expected["coef"], atol=1e-6)
        assert found.log_likelihood == pytest.approx(expected["llf"], abs=1e-9)
        assert found.estimate == pytest.approx(expected["mcfadden"], abs=1e-9)
        assert found.adjusted == pytest.approx(expected["mcfadden_adj_(llf-k)/llnull"], abs=1e-9)

    def test_says_why_there_is_none(self):
        assert linear_r2([1, 1, 1], [[1], [2], [3]]).reason == "the outcome does not vary"
        assert logistic_r2([1, 1], [[1], [2]]).reason == "the outcome does not vary"
        assert logistic_r2([0, 0, 1, 1], [[1], [2], [3], [4]]).reason == "the outcomes are separated"

    def test_is_adjusted_where_an_observation_is_left_over(self):
        # n - p - 1 = 0 leaves nothing to estimate the variance from; with one more, 1 - (1 - R²) (n - 1) / 1.
        x = [[1.0], [2.0], [4.0]]
        assert linear_r2([1, 3, 4], x).adjusted == pytest.approx(1 - 2 * (1 - known(linear_r2([1, 3, 4], x).estimate)))
        assert linear_r2([1, 3], x[:2]).adjusted is None

    def test_refuses_what_does_not_fit(self):
        with pytest.raises(SettingOutOfRange, match="predictors must be of shape"):
            linear_r2([1, 2], [[1]])
        with pytest.raises(SettingOutOfRange, match="outcome must be 0 or 1"):
            logistic_r2([0, 2], [[1], [2]])

"""Separation and units: a linear programme against every direction of small data, and fits in other units."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from spotthebot.analytics.stats.survival.censored_times import censored_times
from spotthebot.analytics.stats.survival.exact_times import cox_of_exact_times
from spotthebot.analytics.stats.survival.interval_cox import interval_cox
from spotthebot.analytics.stats.survival.interval_likelihood import Odds
from spotthebot.analytics.stats.validity import linear_r2, logistic_r2
from spotthebot.statistics.clustered_variance import Observations
from tests.analytics.stats.interval_examples import INF, worked_data
from tests.factories.known import known
from tests.factories.lazy_imports import lazily

logit = lazily("statsmodels.api:Logit")
ols = lazily("statsmodels.api:OLS")

DIRECTIONS = np.array([each for each in product(range(-4, 5), repeat=2) if any(each)])
"""Every direction of two coefficients in which differences of covariates from -2 to 2 can be at right angles."""
UNITS = [1e-300, 1e-12, 1e-2, 1e12, 1e300]


def _by_pairs(x, pairs):
    """Tell by its definition whether a direction d has (x_i - x_k) d >= 0 for all of these pairs."""
    apart = np.array([x[one] - x[other] for one, other in pairs]).reshape(-1, x.shape[1])
    return bool(np.any(np.all(apart @ DIRECTIONS.T >= 0, axis=0)))


def _textbook(y, x):
    """Tell by Albert & Anderson's definition, over intercept and slopes; scipy's programme with a free margin."""
    outward = np.where(y, 1, -1)[:, None] * np.column_stack([np.ones(len(y)), x])
    found = optimize.linprog(-outward.sum(axis=0), A_ub=-outward, b_ub=np.zeros(len(y)), bounds=(-1, 1))
    return known(found.fun) < -1e-6


def _small(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 11))
    return rng, n, rng.integers(-2, 3, size=(n, 2)).astype(float)


class TestSeparation:
    def test_is_the_textbook_s_for_0_and_1_in_small_data(self):
        found = []
        for seed in range(50):
            rng, n, x = _small(seed)
            y = rng.integers(2, size=n)
            y[:2] = 0, 1
            # Every threshold of every direction: the linear programme of the code has no part in it.
            places = x @ DIRECTIONS.T
            ones, zeros = places[y == 1].min(axis=0), places[y == 0].max(axis=0)
            spread = np.ptp(places, axis=0) > 0
            expected = bool(np.any((ones >= zeros) & spread))
            assert expected == _textbook(y, x)
            fit = logistic_r2(y, x)
            assert (fit.reason == "the outcomes are separated") == expected
            assert (fit.estimate is None) == expected
            found.append(expected)
        assert 0.2 < np.mean(found) < 0.8

    def test_is_for_intervals_that_of_all_pairs_of_rows_of_which_one_came_first(self):
        found = []
        for seed in range(40):
            rng, n, x = _small(seed)
            left = rng.integers(0, 4, size=n).astype(float)
            right = np.where(rng.random(n) < 0.4, INF, left + rng.integers(1, 3, size=n))
            fit = interval_cox(censored_times(left, right), x, ["a", "b"])
            if fit.reason is not None and not fit.separated:
                continue  # one cell, or covariates that do not vary
            pairs = [(i, k) for i in range(n) for k in range(n) if right[i] <= left[k]]
            expected = _by_pairs(x, pairs)
            assert fit.separated == expected
            assert (fit.coefficients[0].estimate is None) == expected
            found.append(expected)
        assert len(found) > 20
        assert 0.2 < np.mean(found) < 0.95

    def test_is_for_exact_times_that_of_all_pairs_of_rows_of_which_one_was_decided_first(self):
        found = []
        for seed in range(25):
            rng, n, x = _small(seed)
            times, decided = rng.integers(1, 6, size=n), rng.random(n) < 0.8
            fit = cox_of_exact_times(times, decided, x, ["a", "b"])
            if fit[0].reason not in {None, "the data are separated: no finite estimate"}:
                continue  # nothing decided, or covariates that do not vary
            pairs = [(i, k) for i in range(n) for k in range(n) if decided[i] and times[i] <= times[k]]
            expected = _by_pairs(x, pairs)
            assert (fit[0].reason is not None) == expected
            assert all((each.estimate is None) == expected for each in fit)
            found.append(expected)
        assert 0.05 < np.mean(found) < 0.95

    def test_an_overlap_of_a_ten_millionth_is_an_overlap(self):
        x = np.array([0, 1 + 1e-7, 1, 2])
        assert logistic_r2([0, 0, 1, 1], x[:, None]).reason != "the outcomes are separated"
        assert logistic_r2([0, 0, 1, 1], x[[0, 2, 1, 3], None]).reason == "the outcomes are separated"

    def test_large_coefficients_of_word_counts_are_statsmodels_and_not_separated(self):
        rng = np.random.default_rng(2)
        words = rng.poisson(30, size=(300, 1)) * rng.choice([1, 1, 8], size=(300, 1))
        y = (words[:, 0] + rng.normal(0, 3, size=300) > 30).astype(int)
        fit, expected = logistic_r2(y, words), logit(y, np.column_stack([np.ones(300), words])).fit(disp=0)
        np.testing.assert_allclose(fit.coefficients, expected.params, rtol=1e-6)
        assert fit.estimate == pytest.approx(expected.prsquared)


class TestWordCounts:
    def test_are_no_separation_of_times_and_have_the_coefficient_of_a_direct_maximum(self):
        rng = np.random.default_rng(3)
        words = rng.poisson(30, size=240) * rng.choice([1, 1, 6], size=240)
        spotted = rng.random(240) < 1 - np.exp(-0.02 * words)
        times = censored_times(np.where(spotted, 0, 2), np.where(spotted, 2, INF))
        fit = interval_cox(times, words[:, None], ["words"])

        def negative(parameters):  # one time: a binomial likelihood of the complementary log-log, written out
            hazard = np.exp(parameters[0] + parameters[1] * (words - words.mean()) / 100)
            return -np.sum(np.where(spotted, np.log(-np.expm1(-hazard)), -hazard))

        best = optimize.minimize(negative, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
        assert fit.coefficients[0].estimate == pytest.approx(best.x[1] / 100, rel=1e-5)
        assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-7)


_OTHER = np.random.default_rng(4).normal(size=94)
_GROUPS: tuple[dict[str, Any], ...] = (
    {},
    {"cluster": np.arange(94) // 3},
    {"observations": Observations(np.arange(94) // 2, np.arange(94) % 20)},
)


@cache
def _breast_cosmesis(model, group, unit=1.0, shift=0.0):
    times, second = worked_data("bcos")
    columns = np.column_stack([(second + shift) * unit, _OTHER])
    return interval_cox(times, columns, ["second", "other"], model=model, **_GROUPS[group])


class TestUnits:
    @pytest.mark.parametrize("unit", UNITS)
    @pytest.mark.parametrize("shift", [0.0, 1000.0])
    @pytest.mark.parametrize("model", Odds)
    def test_change_nothing_but_the_coefficient_of_a_covariate(self, unit, shift, model):
        for group in range(len(_GROUPS)):
            plain, moved = _breast_cosmesis(model, group), _breast_cosmesis(model, group, unit, shift)
            assert moved.log_likelihood == pytest.approx(known(plain.log_likelihood), rel=1e-9)
            for one, same, of in zip(plain.coefficients, moved.coefficients, (unit, 1.0), strict=True):
                for figure in ("estimate", "standard_error", "low", "high"):
                    assert getattr(same, figure) * of == pytest.approx(getattr(one, figure), rel=1e-6)
                assert same.p_value == pytest.approx(known(one.p_value), rel=1e-6)

    @pytest.mark.parametrize("unit", UNITS)
    def test_change_no_share_explained(self, unit):
        rng = np.random.default_rng(5)
        x = rng.normal(size=(60, 2))
        y = x @ [1.0, -0.5] + rng.normal(size=60)
        assert linear_r2(y * unit, x).estimate == pytest.approx(known(linear_r2(y, x).estimate))
        for model, outcome in ((linear_r2, y), (logistic_r2, (y > 0).astype(int))):
            plain, moved = model(outcome, x), model(outcome, (x + 7) * [unit, 1])
            assert (moved.estimate, moved.adjusted) == pytest.approx((plain.estimate, plain.adjusted))
            assert moved.coefficients[1] * unit == pytest.approx(plain.coefficients[1])

    @pytest.mark.parametrize("unit", UNITS)
    def test_change_nothing_but_the_ratio_of_a_covariate_of_exact_times(self, unit):
        rng = np.random.default_rng(6)
        x, times = rng.normal(size=(50, 1)), rng.exponential(size=50)
        (plain,), (moved,) = (cox_of_exact_times(times, [True] * 50, each, ["x"]) for each in (x, x * unit))
        assert known(moved.estimate) * unit == pytest.approx(known(plain.estimate), rel=1e-5)
        assert known(moved.p_value) == pytest.approx(known(plain.p_value), rel=1e-4)


class TestConstantAndCollinear:
    @pytest.mark.parametrize("outcome", [[0, 1, 1], [0, 0, 0, 1, 1, 1, 1], [False, True] * 9])
    def test_without_a_predictor_nothing_is_explained_and_nothing_less(self, outcome):
        for predictors in (np.zeros((len(outcome), 0)), np.full((len(outcome), 1), 0.1)):
            for fit in (linear_r2(outcome, predictors), logistic_r2(outcome, predictors)):
                assert fit.estimate == pytest.approx(0)
                assert known(fit.estimate) >= 0
                assert fit.predictors == 0

    def test_a_constant_outcome_has_no_r2_whatever_its_rounding(self):
        for constant in (0.1, 1 / 3, 1e-20, 1e20, 123456.789):
            fit = linear_r2([constant] * 7, np.arange(7.0)[:, None])
            assert (fit.estimate, fit.reason) == (None, "the outcome does not vary")
        noisy = [0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2]
        assert linear_r2(noisy, [[1], [2], [3], [5]]).estimate is None

    def test_a_predictor_that_others_determine_is_not_taken_off_twice(self):
        rng = np.random.default_rng(7)
        x = rng.normal(size=(30, 2))
        doubled = np.column_stack([x, x @ [2.0, 1.0] + 5, np.full(30, 0.1)])
        y = x[:, 0] + rng.normal(size=30)
        fit, expected = linear_r2(y, doubled), ols(y, np.column_stack([np.ones(30), x])).fit()
        assert (fit.estimate, fit.adjusted) == pytest.approx((expected.rsquared, expected.rsquared_adj))
        assert fit.predictors == expected.df_model == 2
        binary = (y > 0).astype(int)
        one, same = logistic_r2(binary, x), logistic_r2(binary, doubled)
        assert (same.estimate, same.adjusted) == pytest.approx((one.estimate, one.adjusted))

    def test_covariates_that_others_determine_but_for_rounding_have_no_estimate(self):
        times, second = worked_data("bcos")
        x = np.column_stack([second, second * 3 + 1e6])
        fit = interval_cox(times, x, ["a", "b"])
        assert fit.reason == "a covariate does not vary, or others determine it"

"""Regression of interval-censored times against R's icenReg, and what lifelines does for exact times."""

import csv

import lifelines
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spotthebot.analytics.stats import (
    Observations,
    Odds,
    SettingOutOfRange,
    censored_times,
    cox_regressions,
    current_status,
    interval_cox,
)
from spotthebot.analytics.stats.survival.exact_times import (
    Family,
    cox_of_exact_times,
    kaplan_meier,
    parametric_survival,
)
from tests.factories.annotation_tables import simulated_table
from tests.factories.interval_examples import (
    INF,
    intervals_of,
    random_intervals,
    worked_data,
    worked_example,
)
from tests.factories.known import all_known, known, lowest
from tests.factories.published_dump import REFERENCE


class TestIntervalCox:
    @pytest.mark.parametrize(
        ("name", "key", "model", "sign"),
        [
            ("bcos", "cox_ph_semiparametric", Odds.HAZARDS, 1),
            ("miceData", "cox_ph", Odds.HAZARDS, 1),
            ("IR_diabetes", "cox_ph", Odds.HAZARDS, 1),
            ("miceData", "po", Odds.ODDS, -1),  # R's odds are those of survival
            ("IR_diabetes", "po", Odds.ODDS, -1),
        ],
    )
    def test_coefficients_and_likelihoods_are_icenreg_s(self, name, key, model, sign):
        expected = worked_example(name)[key]
        (coefficient,) = (value for at, value in expected.items() if at.startswith("coef"))
        times, second = worked_data(name)
        fit = interval_cox(times, second[:, None], ["second"], model=model)
        assert fit.coefficients[0].estimate == pytest.approx(sign * coefficient, abs=1e-5)
        assert fit.log_likelihood == pytest.approx(expected["llk"], abs=1e-6)
        if "se_boot500_seed1" in expected:  # a bootstrap of 500, with the bias of small samples
            assert fit.coefficients[0].standard_error == pytest.approx(expected["se_boot500_seed1"], rel=0.2)

    def test_current_status_data_are_r_s_and_the_exact_path_s(self):
        file = REFERENCE / "statistics" / "stb_current_status.csv"
        if not file.is_file():
            pytest.skip("the simulated data ../shared/reference/statistics are not here")
        rows = list(csv.DictReader(file.read_text().splitlines()))
        x = np.array([[float(row[f"X{at}"]) for at in (1, 2, 3)] for row in rows])
        times = censored_times([float(row["l"]) for row in rows], [float(row["u"]) for row in rows])
        fit = interval_cox(times, x, ["X1", "X2", "X3"])
        expected = worked_example("current_status_cox")
        estimates = all_known([each.estimate for each in fit.coefficients])
        np.testing.assert_allclose(estimates, expected["R glm cloglog factor(k)-1+X"]["coef"], atol=1e-5)
        assert fit.log_likelihood == pytest.approx(expected["icenReg ic_sp"]["llk"], abs=1e-7)

    @settings(max_examples=10)
    @given(seed=st.integers(0, 1000))
    def test_the_general_path_is_the_exact_path_on_current_status_data(self, seed):
        status = current_status(simulated_table(seed, names=("A", "B"), per_pair=40))
        for code, exact in enumerate(cox_regressions(status)):
            mine = status.entity == code
            features = [coefficient.feature for coefficient in exact.coefficients]
            x = np.column_stack([status.leads[feature][mine] for feature in features])
            fit = interval_cox(intervals_of(status, code), x, features)
            for ours, other in zip(fit.coefficients, exact.coefficients, strict=True):
                assert ours.estimate == pytest.approx(other.estimate, abs=1e-5)
                assert ours.standard_error == pytest.approx(other.model_standard_error, rel=0.1)

    def test_separated_data_have_no_finite_estimate(self):
        fit = interval_cox(censored_times([0, 0, 0, 3, 3, 3], [1, 1, 2, INF, INF, INF]), [[1]] * 3 + [[0]] * 3, ["x"])
        assert fit.separated
        assert fit.coefficients[0].reason == "the data are separated: no finite estimate"

    @pytest.mark.parametrize(
        ("times", "x", "reason"),
        [
            (([], []), np.empty((0, 1)), "no rows"),
            (([0, 0], [2, 2]), [[0], [1]], "all rows may have happened in the same cell: nothing tells who was sooner"),
            (([0, 2], [2, 4]), [[1], [1]], "a covariate does not vary, or others determine it"),
        ],
    )
    def test_says_why_there_is_no_fit(self, times, x, reason):
        fit = interval_cox(censored_times(*times), x, ["x"])
        assert (fit.coefficients[0].estimate, fit.coefficients[0].reason, fit.separated) == (None, reason, False)

    @pytest.mark.parametrize("seed", range(4))
    def test_clusters_give_the_sandwich_of_few_clusters_with_student_s_quantiles(self, seed: int):
        # One time and one feature: the coefficient is a difference of log(-log(1 - share)).
        x, spotted, cluster, other = _one_time(seed)
        estimate, influence = _of_shares(x, spotted)
        times = censored_times(np.where(spotted, 0, 2), np.where(spotted, 2, INF))
        (found,) = interval_cox(times, x[:, None], ["x"], cluster=cluster).coefficients
        sums = np.bincount(cluster, weights=influence)
        standard_error = np.sqrt(6 / 5 * np.sum(sums**2))
        assert found.estimate == pytest.approx(estimate, abs=1e-6)
        assert found.standard_error == pytest.approx(standard_error, rel=1e-5)
        assert found.degrees_of_freedom == 5
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(estimate) / standard_error, 5), rel=1e-4)
        reach = stats.t.ppf(0.975, 5) * standard_error
        assert (found.low, found.high) == pytest.approx((estimate - reach, estimate + reach), rel=1e-4, abs=1e-6)
        # Both kinds: every cluster left out in turn, less the cells that both kinds share.
        both = interval_cox(times, x[:, None], ["x"], observations=Observations(other, cluster)).coefficients[0]

        def left_out(codes):
            changes = []
            for each in np.unique(codes):
                rows = codes != each
                shares = [spotted[rows & (x == group)].mean() - spotted[x == group].mean() for group in (0, 1)]
                slopes = [_slope(spotted[x == group].mean()) for group in (0, 1)]
                changes.append(slopes[1] * shares[1] - slopes[0] * shares[0])
            return (len(changes) - 1) / len(changes) * np.sum(np.square(changes))

        whole = left_out(other) + left_out(cluster) - left_out(other * 6 + cluster)
        assert both.standard_error == pytest.approx(np.sqrt(max(whole, left_out(np.arange(len(x))))), rel=1e-5)

    def test_one_cluster_leaves_the_estimate_without_an_error(self):
        x, spotted, cluster, other = _one_time(0)
        times = censored_times(np.where(spotted, 0, 2), np.where(spotted, 2, INF))
        fit = interval_cox(times, x[:, None], ["x"], cluster=0 * cluster)
        assert fit.n_clusters == 1
        panel = interval_cox(times, x[:, None], ["x"], observations=Observations(other, 0 * cluster))
        for (found,), reason in ((fit.coefficients, "all rows are one cluster"), (panel.coefficients, "one annotator")):
            assert found.estimate is not None
            assert (found.standard_error, found.low, found.p_value) == (None, None, None)
            assert reason in known(found.reason)

    def test_clusters_of_one_row_change_little_and_doubled_rows_widen(self):
        times, second = worked_data("bcos")
        plain, single = (
            interval_cox(times, second[:, None], ["x"], cluster=c).coefficients[0] for c in (None, np.arange(94))
        )
        assert single.standard_error == pytest.approx(plain.standard_error, rel=0.25)
        doubled = censored_times(np.repeat(times.left, 2), np.repeat(times.right, 2))
        x = np.repeat(second, 2)[:, None]
        naive = interval_cox(doubled, x, ["x"]).coefficients[0]
        robust = interval_cox(doubled, x, ["x"], cluster=np.arange(188) // 2).coefficients[0]
        assert naive.standard_error == pytest.approx(known(plain.standard_error) / 2**0.5, rel=1e-3)
        assert robust.standard_error == pytest.approx(single.standard_error, rel=0.01)


def _one_time(seed):
    """Draw 240 rows, as many with x = 1 as without in each of 6 clusters and of 30 others."""
    n = np.arange(240)
    x, cluster, other = n % 2, n // 2 % 6, n // 8
    rng = np.random.default_rng(seed)
    return x, rng.normal(size=240) + rng.normal(size=(2, 6))[x, cluster] > 0, cluster, other


def _slope(share):
    return -1 / ((1 - share) * np.log1p(-share))


def _of_shares(x, spotted):
    shares = np.array([spotted[x == group].mean() for group in (0, 1)])
    sizes = np.bincount(x)
    influence = (2 * x - 1) * _slope(shares[x]) * (spotted - shares[x]) / sizes[x]
    return np.log(np.log1p(-shares[1]) / np.log1p(-shares[0])), influence


class TestExactTimes:
    @pytest.mark.parametrize("name", ["bcos", "miceData"])
    def test_weibull_s_likelihood_is_the_one_written_out_that_gives_icenreg_s(self, name):
        times, second = worked_data(name)

        def negative(parameters, effect):
            shape, scale = np.exp(parameters)
            hazards = [
                (np.minimum(ends, 1e9) / scale) ** shape * np.exp(effect * second) for ends in (times.left, times.right)
            ]
            survival = [
                np.where(np.isinf(ends), 0, np.exp(-h))
                for ends, h in zip((times.left, times.right), hazards, strict=True)
            ]
            return -np.log(np.maximum(survival[0] - survival[1], 1e-300)).sum()

        start = [0.0, np.log(np.median(times.left + 1))]
        tight = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000}
        alone = lowest(negative, start, 0.0, options=tight)
        assert parametric_survival(times, [20]).log_likelihood == pytest.approx(-alone.fun, abs=1e-6)
        effect = worked_example(name)["weibull_ph"].get("beta", 0.916380017632)
        with_effect = lowest(negative, alone.x, effect, options=tight)
        assert -with_effect.fun == pytest.approx(worked_example(name)["weibull_ph"]["llk"], abs=1e-5)

    @pytest.mark.parametrize("family", Family)
    def test_parametric_fits_are_near_the_nonparametric_one(self, family):
        left, right = random_intervals(np.random.default_rng(5), n=400)
        times = censored_times(left, right)
        fit = parametric_survival(times, [4, 8, 12], family=family)
        # The times are Weibull: the other families come near.
        tolerance = 0.06 if family is Family.WEIBULL else 0.12
        np.testing.assert_allclose(fit.survival, np.exp(-((np.array([4, 8, 12]) / 10) ** 1.5)), atol=tolerance)

    def test_kaplan_meier_is_the_product_written_out(self):
        curve = kaplan_meier([2, 3, 3, 5, 8, 8], [True, True, False, True, False, True])
        # 6 at risk: 5/6; 5 at risk: 4/5; 3 at risk: 2/3; 2 at risk: 1/2.
        assert list(curve.times) == [2, 3, 5, 8]
        assert curve.estimate == pytest.approx((5 / 6, 5 / 6 * 4 / 5, 5 / 6 * 4 / 5 * 2 / 3, 5 / 6 * 4 / 5 * 2 / 3 / 2))
        assert (curve.n, curve.events, curve.median) == (6, 4, 5)

    def test_cox_is_lifelines_partial_likelihood(self):
        rng = np.random.default_rng(3)
        x = rng.integers(0, 2, (80, 1)).astype(float)
        spells, decided = rng.exponential(1 / np.exp(0.8 * x[:, 0])), rng.random(80) < 0.8
        frame = pd.DataFrame({"x": x[:, 0], "t": spells, "e": decided})
        expected = lifelines.CoxPHFitter().fit(frame, "t", "e")
        (ratio,) = cox_of_exact_times(spells, decided, x, ["x"])
        assert ratio.estimate == pytest.approx(float(expected.params_["x"]))
        (clustered,) = cox_of_exact_times(spells, decided, x, ["x"], cluster=np.arange(80) // 4)
        assert clustered.standard_error != ratio.standard_error

    @pytest.mark.parametrize(
        ("duration", "decided"), [([], []), ([1, 2], [True]), ([0, 1], [True, True]), ([INF, 1], [True, True])]
    )
    def test_refuses_durations_that_are_none(self, duration, decided):
        with pytest.raises(SettingOutOfRange, match="duration"):
            kaplan_meier(duration, decided)

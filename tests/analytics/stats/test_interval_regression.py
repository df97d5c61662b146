"""Regression of interval-censored times against R's icenReg."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spotthebot.analytics.stats.survival.censored_times import censored_times
from spotthebot.analytics.stats.survival.cox import cox_regressions
from spotthebot.analytics.stats.survival.curves import current_status
from spotthebot.analytics.stats.survival.interval_cox import interval_cox
from spotthebot.analytics.stats.survival.interval_likelihood import Odds
from spotthebot.analytics.stats.survival.npmle import npmle
from spotthebot.statistics.clustered_variance import Observations
from tests.analytics.stats.annotation_tables import simulated_table
from tests.analytics.stats.interval_examples import INF, intervals_of, worked_data, worked_example
from tests.factories.known import all_known, known
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
        assert fit.coefficients[0].estimate is None
        assert fit.coefficients[0].reason == reason
        assert fit.separated is False

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

    def test_without_covariates_the_likelihood_is_the_nonparametric_one(self):
        times, second = worked_data("bcos")
        who = Observations(np.arange(94) // 2, np.arange(94) % 20)
        for more in ({}, {"cluster": second}, {"observations": who}):
            fit = interval_cox(times, np.zeros((94, 0)), [], **more)
            assert (fit.coefficients, fit.reason) == ((), None)
            assert fit.log_likelihood == pytest.approx(npmle(times).log_likelihood, abs=1e-8)

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

"""Interval-censored times against R's packages interval, glrt and icenReg on data of the literature."""

import csv

import lifelines
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from spotthebot.analytics.stats import (
    Adjustment,
    IntervalsMalformed,
    LogRankVariance,
    Odds,
    RowScore,
    ScoreVariance,
    SettingOutOfRange,
    censored_times,
    cox_regressions,
    current_status,
    interval_cox,
    interval_log_rank,
    interval_log_rank_pairs,
    log_rank_tests,
    npmle,
    survival_band,
    survival_curves,
)
from spotthebot.analytics.stats.exact_times import Family, cox_of_exact_times, kaplan_meier, parametric_survival
from tests.factories.annotation_tables import simulated_table
from tests.factories.published_dump import REFERENCE, reference

INF = float("inf")
COLUMNS = {
    "bcos": ("left", "right", "treatment", "RadChem"),
    "miceData": ("l", "u", "grp", "ge"),
    "IR_diabetes": ("left", "right", "gender", "male"),
}


def _example(name):
    return reference("statistics/worked_examples.json")[name]


def _ends(values):
    return np.array([INF if value is None else value for value in values], dtype=float)


def _data(name):
    """Return times and whether each row belongs to the second group."""
    left, right, group, second = COLUMNS[name]
    data = _example(name)["data"]
    return censored_times(_ends(data[left]), _ends(data[right])), np.array(data[group]) == second


def _part(times, rows):
    return censored_times(times.left[rows], times.right[rows])


def _intervals(status, code):
    """Current-status rows of one entity as intervals: spotted at k is (0, k], not spotted is (k, inf]."""
    mine = status.entity == code
    k = status.times[status.time[mine]].astype(float)
    spotted = status.spotted[mine]
    return censored_times(np.where(spotted, 0, k), np.where(spotted, k, INF))


def _random_intervals(rng, n=60):
    """Times seen at four random moments each; one row in ten is exact."""
    happened = rng.weibull(1.5, n) * 10
    seen = np.sort(rng.uniform(0, 25, (n, 4)).round(1), axis=1)
    left = np.where(seen < happened[:, None], seen, 0).max(axis=1)
    right = np.where(seen >= happened[:, None], seen, INF).min(axis=1)
    exact = rng.random(n) < 0.1
    return np.where(exact, happened, left), np.where(exact, happened, right)


class TestCensoredTimes:
    @pytest.mark.parametrize(
        ("left", "right", "fault"),
        [
            ([1], [0.5], "a left end lies beyond its right end"),
            ([-1], [1], "every left end must be a number from 0"),
            ([float("nan")], [1], "every left end must be a number from 0"),
            ([0], [0], "an exact time must be above 0"),
            ([0, 1], [2], r"left has shape \(2,\) and right \(1,\)"),
        ],
    )
    def test_refuses_what_is_no_interval(self, left, right, fault):
        with pytest.raises(IntervalsMalformed, match=fault):
            censored_times(left, right)

    def test_a_right_end_does_not_meet_a_left_end_of_the_same_value(self):
        # (0, 2] and (2, 4]: half-open, so two cells and no common point.
        assert censored_times([0, 2], [2, 4]).cells.tolist() == [[0, 2], [2, 4]]


class TestNpmle:
    @pytest.mark.parametrize("group", ["Rad", "RadChem", "pooled"])
    def test_breast_cosmesis_is_r_s(self, group):
        wanted = _example("bcos")["npmle"][group]
        times, second = _data("bcos")
        found = npmle(times if group == "pooled" else _part(times, second == (group == "RadChem")))
        support = found.mass > 1e-10
        assert found.cells[support].tolist() == wanted["cells"]
        np.testing.assert_allclose(found.mass[support], wanted["mass"], atol=1e-11)
        assert found.log_likelihood == pytest.approx(wanted["llk"], abs=1e-8)

    @pytest.mark.parametrize(("name", "groups"), [("miceData", ("ce", "ge")), ("IR_diabetes", ("female", "male"))])
    def test_likelihoods_are_icenreg_s(self, name, groups):
        times, second = _data(name)
        for at, group in enumerate(groups):
            found = npmle(_part(times, second == bool(at)))
            assert found.log_likelihood == pytest.approx(_example(name)["npmle_llk"][group], abs=1e-7)

    @settings(max_examples=40, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_the_conditions_of_optimality_hold(self, seed):
        times = censored_times(*_random_intervals(np.random.default_rng(seed)))
        found = npmle(times)
        covered = (times.first[:, None] <= np.arange(len(found.mass))) & (
            np.arange(len(found.mass)) <= times.last[:, None]
        )
        gradient = (covered / (covered @ found.mass)[:, None]).mean(axis=0)
        assert found.mass.min() >= 0
        assert found.mass.sum() == pytest.approx(1, abs=1e-12)
        assert gradient.max() <= 1 + 1e-9
        np.testing.assert_allclose(gradient[found.mass > 1e-9], 1, atol=1e-8)

    @settings(max_examples=30, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_current_status_data_give_the_isotonic_regression(self, seed):
        status = current_status(simulated_table(seed, names=("A", "B")))
        for code, curve in enumerate(survival_curves(status, n_resamples=1)):
            general = npmle(_intervals(status, code)).survival(np.array(curve.times))
            np.testing.assert_allclose(general, curve.estimate, atol=1e-9)

    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_self_consistency_finds_nothing_better(self, seed):
        times = censored_times(*_random_intervals(np.random.default_rng(seed), n=25))
        found = npmle(times)
        m = len(found.mass)
        covered = ((times.first[:, None] <= np.arange(m)) & (np.arange(m) <= times.last[:, None])).astype(float)
        mass = np.full(m, 1 / m)
        for _ in range(3000):
            mass = (covered * mass / (covered @ mass)[:, None]).mean(axis=0)
        by_em = np.log(covered @ mass).sum()
        assert found.log_likelihood >= by_em - 1e-10
        assert found.log_likelihood == pytest.approx(by_em, abs=1e-3)

    def test_weights_count_rows(self):
        left, right = _random_intervals(np.random.default_rng(1))
        times, counts = censored_times(left, right), np.random.default_rng(2).integers(1, 4, 60)
        twice = npmle(censored_times(np.repeat(left, counts), np.repeat(right, counts)))
        assert npmle(times, weights=counts).log_likelihood == pytest.approx(twice.log_likelihood, abs=1e-8)

    def test_no_rows_and_one_row(self):
        assert npmle(censored_times([], [])).n == 0
        assert npmle(censored_times([1], [3])).mass.tolist() == [1]

    def test_bands_hold_the_estimate_and_know_clusters(self):
        times, _ = _data("bcos")
        single = survival_band(times, [20, 40], n_resamples=100)
        pairs = survival_band(times, [20, 40], cluster=np.arange(94) // 2, n_resamples=100)
        assert (single.n_clusters, pairs.n_clusters) == (94, 47)
        for band in (single, pairs):
            assert np.all((band.low <= band.estimate) & (band.estimate <= band.high))


class TestIntervalLogRank:
    @pytest.mark.parametrize(
        ("score", "key"),
        [
            (RowScore.SUN, "interval pclt logrank1 (Sun)"),
            (RowScore.FINKELSTEIN, "interval pclt logrank2 (Finkelstein)"),
            (RowScore.WILCOXON, "interval pclt wmw"),
        ],
    )
    def test_permutation_form_is_r_s_pclt(self, score, key):
        wanted = _example("bcos")["tests"][key]
        times, second = _data("bcos")
        test = interval_log_rank(times, second, ["Rad", "RadChem"], score=score, variance=ScoreVariance.PERMUTATION)
        assert test.statistic == pytest.approx(wanted["Z"] ** 2, rel=1e-8)
        assert test.p_value == pytest.approx(wanted["p"], rel=1e-7)
        assert "U" not in wanted or test.scores[1] == pytest.approx(wanted["U"], rel=1e-7)

    @pytest.mark.parametrize(("score", "key"), [(RowScore.SUN, "logrank1"), (RowScore.FINKELSTEIN, "logrank2")])
    def test_score_form_is_r_s_scoretest(self, score, key):
        wanted = _example("bcos")["tests"][f"interval scoretest {key}"]
        times, second = _data("bcos")
        test = interval_log_rank(times, second, ["Rad", "RadChem"], score=score)
        assert test.statistic == pytest.approx(wanted["chisq"], rel=1e-8)
        assert test.scores[1] ** 2 / test.statistic == pytest.approx(wanted["V"], rel=1e-7)

    @pytest.mark.parametrize(
        ("rho", "keys"), [(0, ("glrt2 rho=0 (Sun-Zhao-Zhao 2005)", "glrt3")), (1, ("glrt2 rho=1",))]
    )
    def test_weighted_form_is_r_s_glrt2_which_divides_by_n(self, rho, keys):
        times, second = _data("bcos")
        test = interval_log_rank(times, second, ["Rad", "RadChem"], variance=ScoreVariance.PERMUTATION, rho=rho)
        for key in keys:
            # R's own estimate stops at 1e-5 of the maximum.
            assert test.statistic * 94 / 93 == pytest.approx(_example("bcos")["tests"][key]["chisq"], rel=1e-5)

    def test_finkelstein_s_form_is_r_s_glrt_score(self):
        times, second = _data("bcos")
        test = interval_log_rank(times, second, ["Rad", "RadChem"], variance=ScoreVariance.CUMULATIVE)
        assert test.statistic == pytest.approx(_example("bcos")["tests"]["glrt score"]["chisq"], rel=1e-5)

    @pytest.mark.parametrize(("where", "left", "right"), [("blood", "lb", "rb"), ("urine", "lu", "ru")])
    def test_cytomegalovirus_is_r_s(self, where, left, right):
        example = _example("cmv")
        times = censored_times(_ends(example["data"][left]), _ends(example["data"][right]))
        group = np.array(example["data"]["cd4ind"], dtype=int)
        permuted = interval_log_rank(times, group, ["high", "low"], variance=ScoreVariance.PERMUTATION)
        scored = interval_log_rank(times, group, ["high", "low"], variance=ScoreVariance.CUMULATIVE)
        assert permuted.statistic * 204 / 203 == pytest.approx(example["tests"][f"{where} glrt2"]["chisq"], rel=1e-5)
        assert scored.statistic == pytest.approx(example["tests"][f"{where} score"]["chisq"], rel=1e-5)

    def test_diabetes_is_r_s(self):
        wanted = _example("IR_diabetes")["tests"]
        times, male = _data("IR_diabetes")
        permuted = interval_log_rank(times, male, ["female", "male"], variance=ScoreVariance.PERMUTATION)
        assert abs(permuted.scores[0]) == pytest.approx(wanted["pclt logrank2"]["U"], rel=1e-7)
        assert permuted.p_value == pytest.approx(wanted["pclt logrank2"]["p"], abs=1e-5)
        scored = interval_log_rank(times, male, ["female", "male"], score=RowScore.SUN)
        assert scored.statistic == pytest.approx(wanted["scoretest logrank1"]["chisq"], rel=1e-8)

    def test_two_bots_inspected_thrice_are_r_s(self):
        example = _example("current_status_two_bots")
        left, right, bot = [], [], []
        for code, spotted in enumerate(example["spotted"]):
            for k, count in zip(example["k"], spotted, strict=True):
                left += [0] * count + [k] * (180 - count)
                right += [k] * count + [INF] * (180 - count)
                bot += [code] * 180
        times, wanted, names = censored_times(left, right), example["tests"], ["first", "second"]
        permuted = interval_log_rank(times, bot, names, variance=ScoreVariance.PERMUTATION)
        assert permuted.statistic * 1080 / 1079 == pytest.approx(3.8740, abs=0.0001)  # p = .04903916
        assert interval_log_rank(times, bot, names).p_value == pytest.approx(wanted["glrt score"], rel=1e-6)
        imputed = interval_log_rank(times, bot, names, variance=ScoreVariance.ADDED, n_resamples=4000)
        lowest, highest = (wanted["glrt1 M=50 (12 runs)"][f"p_{end}"] for end in ("min", "max"))
        assert lowest <= imputed.p_value <= highest
        np.testing.assert_allclose(1 - npmle(times).survival(example["k"]), example["npmle_F_pooled"], atol=1e-9)

    def test_imputation_added_is_zhao_and_sun_s_within_monte_carlo_error(self):
        # R's data have 100 for never: the rows are imputed there too, and so they are here.
        file = REFERENCE / "statistics" / "cosmesis_glrt.csv"
        if not file.is_file():
            pytest.skip("the breast cosmesis data ../shared/reference/statistics are not here")
        rows = list(csv.DictReader(file.read_text().splitlines()))
        times = censored_times([float(row["L"]) for row in rows], [float(row["R"]) for row in rows])
        group = [int(row["Trt"]) for row in rows]
        test = interval_log_rank(times, group, ["Rad", "RadChem"], variance=ScoreVariance.ADDED, n_resamples=4000)
        wanted = _example("bcos")["tests"]["glrt1 (Zhao-Sun 2004) M=2000 seed 1"]
        assert test.statistic == pytest.approx(wanted["chisq"], rel=0.06)

    def test_imputation_subtracted_is_huang_lee_and_yu_s_within_monte_carlo_error(self):
        # Published as .0075; R's default run gives .0073.
        times, second = _data("bcos")
        test = interval_log_rank(
            times, second, ["Rad", "RadChem"], score=RowScore.SUN, variance=ScoreVariance.SUBTRACTED, n_resamples=4000
        )
        assert test.p_value == pytest.approx(0.0075, abs=0.0015)

    def test_monte_carlo_form_is_near_the_asymptotic_one(self):
        times, second = _data("bcos")
        test = interval_log_rank(
            times, second, ["Rad", "RadChem"], variance=ScoreVariance.MONTE_CARLO, n_resamples=4000
        )
        asymptotic = _example("bcos")["tests"]["interval pclt logrank2 (Finkelstein)"]["p"]
        assert test.p_value == pytest.approx(asymptotic, abs=4 * (asymptotic / 4000) ** 0.5)

    def test_pairs_of_entities_are_those_of_the_current_status_tests(self):
        status = current_status(simulated_table(4, names=("A", "B", "C")))
        k = status.times[status.time].astype(float)
        times = censored_times(np.where(status.spotted, 0, k), np.where(status.spotted, k, INF))
        general = interval_log_rank_pairs(
            times, status.entity, status.names, variance=ScoreVariance.PERMUTATION, adjustment=Adjustment.BONFERRONI
        )
        exact = log_rank_tests(status, variance=LogRankVariance.PERMUTATION, adjustment=Adjustment.BONFERRONI)
        for ours, other in zip(general, exact, strict=True):
            assert ours.groups == (other.bot, other.other)
            assert ours.statistic == pytest.approx(other.statistic, rel=1e-6)
            assert ours.p_adjusted == pytest.approx(other.p_adjusted, rel=1e-5)

    def test_three_groups_at_once_have_two_degrees(self):
        times, second = _data("bcos")
        group = second.astype(int) + (np.arange(94) % 2)
        test = interval_log_rank(times, group, ["a", "b", "c"], variance=ScoreVariance.PERMUTATION)
        assert test.degrees == 2
        assert sum(test.scores) == pytest.approx(0, abs=1e-9)

    @pytest.mark.parametrize(
        ("left", "right", "group", "reason"),
        [
            ([0, 0], [2, 2], [0, 1], "all rows score the same: nothing tells who was sooner"),
            ([0, 1], [2, 3], [0, 0], "fewer than two groups have rows"),
        ],
    )
    def test_says_why_there_is_no_test(self, left, right, group, reason):
        test = interval_log_rank(censored_times(left, right), group, ["a", "b"])
        assert (test.statistic, test.p_value, test.reason) == (None, None, reason)

    def test_refuses_forms_that_do_not_go_together(self):
        times, second = _data("bcos")
        with pytest.raises(SettingOutOfRange, match="permutation or monte_carlo for wilcoxon"):
            interval_log_rank(times, second, ["a", "b"], score=RowScore.WILCOXON)
        with pytest.raises(SettingOutOfRange, match="rho"):
            interval_log_rank(times, second, ["a", "b"], score=RowScore.SUN, rho=1)


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
        wanted = _example(name)[key]
        (coefficient,) = (value for at, value in wanted.items() if at.startswith("coef"))
        times, second = _data(name)
        fit = interval_cox(times, second[:, None], ["second"], model=model)
        assert fit.coefficients[0].estimate == pytest.approx(sign * coefficient, abs=1e-5)
        assert fit.log_likelihood == pytest.approx(wanted["llk"], abs=1e-6)
        if "se_boot500_seed1" in wanted:  # a bootstrap of 500, with the bias of small samples
            assert fit.coefficients[0].standard_error == pytest.approx(wanted["se_boot500_seed1"], rel=0.2)

    def test_current_status_data_are_r_s_and_the_exact_path_s(self):
        file = REFERENCE / "statistics" / "stb_current_status.csv"
        if not file.is_file():
            pytest.skip("the simulated data ../shared/reference/statistics are not here")
        rows = list(csv.DictReader(file.read_text().splitlines()))
        x = np.array([[float(row[f"X{at}"]) for at in (1, 2, 3)] for row in rows])
        times = censored_times([float(row["l"]) for row in rows], [float(row["u"]) for row in rows])
        fit = interval_cox(times, x, ["X1", "X2", "X3"])
        wanted = _example("current_status_cox")
        estimates = [each.estimate for each in fit.coefficients]
        np.testing.assert_allclose(estimates, wanted["R glm cloglog factor(k)-1+X"]["coef"], atol=1e-5)
        assert fit.log_likelihood == pytest.approx(wanted["icenReg ic_sp"]["llk"], abs=1e-7)

    @settings(max_examples=10, deadline=None)
    @given(seed=st.integers(0, 1000))
    def test_the_general_path_is_the_exact_path_on_current_status_data(self, seed):
        status = current_status(simulated_table(seed, names=("A", "B"), per_pair=40))
        for code, exact in enumerate(cox_regressions(status)):
            mine = status.entity == code
            features = [coefficient.feature for coefficient in exact.coefficients]
            x = np.column_stack([status.leads[feature][mine] for feature in features])
            fit = interval_cox(_intervals(status, code), x, features)
            for ours, other in zip(fit.coefficients, exact.coefficients, strict=True):
                assert ours.estimate == pytest.approx(other.estimate, abs=1e-5)
                assert ours.standard_error == pytest.approx(other.standard_error, rel=0.1)

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

    def test_clusters_of_one_row_change_little_and_doubled_rows_widen(self):
        times, second = _data("bcos")
        plain, single = (
            interval_cox(times, second[:, None], ["x"], cluster=c).coefficients[0] for c in (None, np.arange(94))
        )
        assert single.standard_error == pytest.approx(plain.standard_error, rel=0.25)
        doubled = censored_times(np.repeat(times.left, 2), np.repeat(times.right, 2))
        x = np.repeat(second, 2)[:, None]
        naive = interval_cox(doubled, x, ["x"]).coefficients[0]
        robust = interval_cox(doubled, x, ["x"], cluster=np.arange(188) // 2).coefficients[0]
        assert naive.standard_error == pytest.approx(plain.standard_error / 2**0.5, rel=1e-3)
        assert robust.standard_error == pytest.approx(single.standard_error, rel=0.01)


class TestExactTimes:
    @pytest.mark.parametrize("name", ["bcos", "miceData"])
    def test_weibull_s_likelihood_is_the_one_written_out_that_gives_icenreg_s(self, name):
        times, second = _data(name)

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
        alone = minimize(negative, start, args=(0.0,), method="Nelder-Mead", options=tight)
        assert parametric_survival(times, [20]).log_likelihood == pytest.approx(-alone.fun, abs=1e-6)
        effect = _example(name)["weibull_ph"].get("beta", 0.916380017632)
        with_effect = minimize(negative, alone.x, args=(effect,), method="Nelder-Mead", options=tight)
        assert -with_effect.fun == pytest.approx(_example(name)["weibull_ph"]["llk"], abs=1e-5)

    @pytest.mark.parametrize("family", Family)
    def test_parametric_fits_are_near_the_nonparametric_one(self, family):
        left, right = _random_intervals(np.random.default_rng(5), n=400)
        times = censored_times(left, right)
        fit = parametric_survival(times, [4, 8, 12], family=family)
        # The times are Weibull: the other families come near.
        tolerance = 0.06 if family is Family.WEIBULL else 0.12
        np.testing.assert_allclose(fit.survival, np.exp(-((np.array([4, 8, 12]) / 10) ** 1.5)), atol=tolerance)

    def test_kaplan_meier_is_the_product_written_out(self):
        curve = kaplan_meier([2, 3, 3, 5, 8, 8], [True, True, False, True, False, True])
        # 6 at risk: 5/6; 5 at risk: 4/5; 3 at risk: 2/3; 2 at risk: 1/2.
        assert curve.times == (2, 3, 5, 8)
        assert curve.estimate == pytest.approx((5 / 6, 5 / 6 * 4 / 5, 5 / 6 * 4 / 5 * 2 / 3, 5 / 6 * 4 / 5 * 2 / 3 / 2))
        assert (curve.n, curve.events, curve.median) == (6, 4, 5)

    def test_cox_is_lifelines_partial_likelihood(self):
        rng = np.random.default_rng(3)
        x = rng.integers(0, 2, (80, 1)).astype(float)
        spells, decided = rng.exponential(1 / np.exp(0.8 * x[:, 0])), rng.random(80) < 0.8
        frame = pd.DataFrame({"x": x[:, 0], "t": spells, "e": decided})
        wanted = lifelines.CoxPHFitter().fit(frame, "t", "e")
        (ratio,) = cox_of_exact_times(spells, decided, x, ["x"])
        assert ratio.estimate == pytest.approx(float(wanted.params_["x"]))
        (clustered,) = cox_of_exact_times(spells, decided, x, ["x"], cluster=np.arange(80) // 4)
        assert clustered.standard_error != ratio.standard_error

    @pytest.mark.parametrize(
        ("duration", "decided"), [([], []), ([1, 2], [True]), ([0, 1], [True, True]), ([INF, 1], [True, True])]
    )
    def test_refuses_durations_that_are_none(self, duration, decided):
        with pytest.raises(SettingOutOfRange, match="duration"):
            kaplan_meier(duration, decided)

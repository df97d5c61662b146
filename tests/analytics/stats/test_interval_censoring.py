"""Interval-censored times against R's packages interval, glrt and icenReg on data of the literature."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats.errors import IntervalsMalformed
from spotthebot.analytics.stats.survival.censored_times import censored_times
from spotthebot.analytics.stats.survival.curves import current_status, survival_curves
from spotthebot.analytics.stats.survival.interval_log_rank import (
    RowScore,
    ScoreVariance,
    interval_log_rank,
    interval_log_rank_pairs,
)
from spotthebot.analytics.stats.survival.log_rank import LogRankVariance, log_rank_tests
from spotthebot.analytics.stats.survival.npmle import npmle
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.errors import SettingOutOfRange
from tests.analytics.stats.annotation_tables import simulated_table
from tests.analytics.stats.interval_examples import (
    INF,
    ends_of,
    intervals_of,
    part_of,
    random_intervals,
    worked_data,
    worked_example,
)
from tests.factories.known import known
from tests.factories.published_dump import REFERENCE


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
        expected = worked_example("bcos")["npmle"][group]
        times, second = worked_data("bcos")
        found = npmle(times if group == "pooled" else part_of(times, second == (group == "RadChem")))
        support = found.mass > 1e-10
        assert found.cells[support].tolist() == expected["cells"]
        np.testing.assert_allclose(found.mass[support], expected["mass"], atol=1e-11)
        assert found.log_likelihood == pytest.approx(expected["llk"], abs=1e-8)
        assert found.iterations < 30  # Newton's method, which ends when it is there

    @pytest.mark.parametrize(("name", "groups"), [("miceData", ("ce", "ge")), ("IR_diabetes", ("female", "male"))])
    def test_likelihoods_are_icenreg_s(self, name, groups):
        times, second = worked_data(name)
        for at, group in enumerate(groups):
            found = npmle(part_of(times, second == bool(at)))
            assert found.log_likelihood == pytest.approx(worked_example(name)["npmle_llk"][group], abs=1e-7)

    def test_an_estimate_that_was_cut_off_says_how_far_it_is_from_the_maximum(self, monkeypatch):
        monkeypatch.setattr("spotthebot.analytics.stats.survival.npmle._ITERATIONS", 0)
        found = npmle(censored_times([0, 0, 0, 2], [2, 2, 2, INF]))
        assert found.mass.tolist() == [0.5, 0.5]
        # Mass moved to the first cell, which holds three of four rows, gains (3 / .5) / 4 - 1 a row.
        assert found.kkt == pytest.approx(0.5)

    @settings(max_examples=40)
    @given(seed=st.integers(0, 10_000))
    def test_the_conditions_of_optimality_hold(self, seed):
        times = censored_times(*random_intervals(np.random.default_rng(seed)))
        found = npmle(times)
        covered = (times.first[:, None] <= np.arange(len(found.mass))) & (
            np.arange(len(found.mass)) <= times.last[:, None]
        )
        gradient = (covered / (covered @ found.mass)[:, None]).mean(axis=0)
        assert found.mass.min() >= 0
        assert found.mass.sum() == pytest.approx(1, abs=1e-12)
        assert gradient.max() <= 1 + 1e-9
        np.testing.assert_allclose(gradient[found.mass > 1e-9], 1, atol=1e-8)

    @settings(max_examples=30)
    @given(seed=st.integers(0, 10_000))
    def test_current_status_data_give_the_isotonic_regression(self, seed):
        status = current_status(simulated_table(seed, names=("A", "B")))
        for code, curve in enumerate(survival_curves(status)):
            general = npmle(intervals_of(status, code)).survival(np.array(curve.times))
            np.testing.assert_allclose(general, curve.estimate, atol=1e-9)

    @settings(max_examples=15)
    @given(seed=st.integers(0, 10_000))
    def test_self_consistency_finds_nothing_better(self, seed):
        times = censored_times(*random_intervals(np.random.default_rng(seed), n=25))
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
        left, right = random_intervals(np.random.default_rng(1))
        times, counts = censored_times(left, right), np.random.default_rng(2).integers(1, 4, 60)
        twice = npmle(censored_times(np.repeat(left, counts), np.repeat(right, counts)))
        assert npmle(times, weights=counts.astype(np.float64)).log_likelihood == pytest.approx(
            twice.log_likelihood, abs=1e-8
        )

    @pytest.mark.parametrize("weights", [[1e308, 1e308], [2.0**53, 2.0], [-1, 1], [1], [[1, 1]]])
    def test_weights_that_count_no_rows_are_refused(self, weights):
        with pytest.raises(IntervalsMalformed, match="weights must be 2 numbers from 0"):
            npmle(censored_times([0, 1], [2, 3]), weights=np.array(weights))

    def test_no_rows_and_one_row(self):
        assert npmle(censored_times([], [])).n == 0
        assert npmle(censored_times([1], [3])).mass.tolist() == [1]


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
        expected = worked_example("bcos")["tests"][key]
        times, second = worked_data("bcos")
        test = interval_log_rank(times, second, ["Rad", "RadChem"], score=score, variance=ScoreVariance.PERMUTATION)
        assert test.statistic == pytest.approx(expected["Z"] ** 2, rel=1e-8)
        assert test.p_value == pytest.approx(expected["p"], rel=1e-7)
        assert "U" not in expected or test.scores[1] == pytest.approx(expected["U"], rel=1e-7)

    @pytest.mark.parametrize(("score", "key"), [(RowScore.SUN, "logrank1"), (RowScore.FINKELSTEIN, "logrank2")])
    def test_score_form_is_r_s_scoretest(self, score, key):
        expected = worked_example("bcos")["tests"][f"interval scoretest {key}"]
        times, second = worked_data("bcos")
        test = interval_log_rank(times, second, ["Rad", "RadChem"], score=score)
        assert test.statistic == pytest.approx(expected["chisq"], rel=1e-8)
        assert test.scores[1] ** 2 / known(test.statistic) == pytest.approx(expected["V"], rel=1e-7)

    @pytest.mark.parametrize(
        ("rho", "keys"), [(0, ("glrt2 rho=0 (Sun-Zhao-Zhao 2005)", "glrt3")), (1, ("glrt2 rho=1",))]
    )
    def test_weighted_form_is_r_s_glrt2_which_divides_by_n(self, rho, keys):
        times, second = worked_data("bcos")
        test = interval_log_rank(times, second, ["Rad", "RadChem"], variance=ScoreVariance.PERMUTATION, rho=rho)
        for key in keys:
            # R's own estimate stops at 1e-5 of the maximum.
            assert known(test.statistic) * 94 / 93 == pytest.approx(
                worked_example("bcos")["tests"][key]["chisq"], rel=1e-5
            )

    def test_finkelstein_s_form_is_r_s_glrt_score(self):
        times, second = worked_data("bcos")
        test = interval_log_rank(times, second, ["Rad", "RadChem"], variance=ScoreVariance.CUMULATIVE)
        assert test.statistic == pytest.approx(worked_example("bcos")["tests"]["glrt score"]["chisq"], rel=1e-5)

    @pytest.mark.parametrize(("where", "left", "right"), [("blood", "lb", "rb"), ("urine", "lu", "ru")])
    def test_cytomegalovirus_is_r_s(self, where, left, right):
        example = worked_example("cmv")
        times = censored_times(ends_of(example["data"][left]), ends_of(example["data"][right]))
        group = np.array(example["data"]["cd4ind"], dtype=int)
        permuted = interval_log_rank(times, group, ["high", "low"], variance=ScoreVariance.PERMUTATION)
        scored = interval_log_rank(times, group, ["high", "low"], variance=ScoreVariance.CUMULATIVE)
        assert known(permuted.statistic) * 204 / 203 == pytest.approx(
            example["tests"][f"{where} glrt2"]["chisq"], rel=1e-5
        )
        assert scored.statistic == pytest.approx(example["tests"][f"{where} score"]["chisq"], rel=1e-5)

    def test_diabetes_is_r_s(self):
        expected = worked_example("IR_diabetes")["tests"]
        times, male = worked_data("IR_diabetes")
        permuted = interval_log_rank(times, male, ["female", "male"], variance=ScoreVariance.PERMUTATION)
        assert abs(permuted.scores[0]) == pytest.approx(expected["pclt logrank2"]["U"], rel=1e-7)
        assert permuted.p_value == pytest.approx(expected["pclt logrank2"]["p"], abs=1e-5)
        scored = interval_log_rank(times, male, ["female", "male"], score=RowScore.SUN)
        assert scored.statistic == pytest.approx(expected["scoretest logrank1"]["chisq"], rel=1e-8)

    def test_two_bots_inspected_thrice_are_r_s(self):
        example = worked_example("current_status_two_bots")
        left, right, bot = [], [], []
        for code, spotted in enumerate(example["spotted"]):
            for k, count in zip(example["k"], spotted, strict=True):
                left += [0] * count + [k] * (180 - count)
                right += [k] * count + [INF] * (180 - count)
                bot += [code] * 180
        times, expected, names = censored_times(left, right), example["tests"], ["first", "second"]
        permuted = interval_log_rank(times, bot, names, variance=ScoreVariance.PERMUTATION)
        assert known(permuted.statistic) * 1080 / 1079 == pytest.approx(3.8740, abs=0.0001)  # p = .04903916
        assert interval_log_rank(times, bot, names).p_value == pytest.approx(expected["glrt score"], rel=1e-6)
        imputed = interval_log_rank(times, bot, names, variance=ScoreVariance.ADDED, n_resamples=4000)
        lowest, highest = (expected["glrt1 M=50 (12 runs)"][f"p_{end}"] for end in ("min", "max"))
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
        expected = worked_example("bcos")["tests"]["glrt1 (Zhao-Sun 2004) M=2000 seed 1"]
        assert test.statistic == pytest.approx(expected["chisq"], rel=0.06)

    def test_imputation_subtracted_is_huang_lee_and_yu_s_within_monte_carlo_error(self):
        # Published as .0075; R's default run gives .0073.
        times, second = worked_data("bcos")
        test = interval_log_rank(
            times, second, ["Rad", "RadChem"], score=RowScore.SUN, variance=ScoreVariance.SUBTRACTED, n_resamples=4000
        )
        assert test.p_value == pytest.approx(0.0075, abs=0.0015)

    def test_monte_carlo_counts_what_was_seen_among_its_draws(self):
        # Of 12,870 ways to choose 8 of 16 only two are as far apart: none of nine draws is, so p is (1 + 0) / (1 + 9).
        times = censored_times([0] * 8 + [2] * 8, [2] * 8 + [INF] * 8)
        test = interval_log_rank(
            times, [0] * 8 + [1] * 8, ["early", "late"], variance=ScoreVariance.MONTE_CARLO, n_resamples=9
        )
        assert test.p_value == 1 / 10

    def test_monte_carlo_counts_draws_that_are_as_far_apart_as_what_was_seen(self):
        # Two inspections can only be swapped: every draw is as far apart, so p is (1 + 9) / (1 + 9).
        times = censored_times([0, 2], [2, INF])
        test = interval_log_rank(times, [0, 1], ["early", "late"], variance=ScoreVariance.MONTE_CARLO, n_resamples=9)
        assert test.p_value == 1

    @pytest.mark.parametrize("n_imputations", [2, 3, 10])
    def test_imputation_adds_the_variance_between_by_rubin_s_rule(self, n_imputations):
        # Rubin 1987: within + (1 + 1/M) between, of log-rank tests that are written out for the times imputed.
        left, right = random_intervals(np.random.default_rng(8), n=30)
        times, group = censored_times(left, right), np.arange(30) % 2
        test = interval_log_rank(times, group, ["a", "b"], variance=ScoreVariance.ADDED, n_resamples=n_imputations)
        mass, rng = npmle(times).mass, np.random.default_rng(0)
        seen = np.flatnonzero(np.isfinite(times.right))
        scores, variances = [], []
        for _ in range(n_imputations):
            cell = np.searchsorted(times.cells[:, 1], times.left, side="right") - 1.0  # last one that a row was at risk
            draws = rng.random(len(seen))
            for row, draw in zip(seen, draws, strict=True):
                inside = np.arange(times.first[row], times.last[row] + 1)
                reached = np.cumsum(mass[inside]) / mass[inside].sum()
                cell[row] = inside[np.searchsorted(reached, draw, side="right")]
            happened = np.isin(np.arange(30), seen)
            score = variance = 0.0
            for moment in sorted(set(cell[happened].tolist())):
                at_risk = cell >= moment
                events = happened & (cell == moment)
                n, n1, d = at_risk.sum(), (at_risk & (group == 0)).sum(), events.sum()
                score += (events & (group == 0)).sum() - d * n1 / n
                variance += d * n1 * (n - n1) * (n - d) / (n**2 * (n - 1)) if n > 1 else 0.0
            scores.append(score)
            variances.append(variance)
        total = np.mean(variances) + (1 + 1 / n_imputations) * np.var(scores, ddof=1)
        assert test.statistic == pytest.approx(np.mean(scores) ** 2 / total, rel=1e-9)

    def test_monte_carlo_form_is_near_the_asymptotic_one(self):
        times, second = worked_data("bcos")
        test = interval_log_rank(
            times, second, ["Rad", "RadChem"], variance=ScoreVariance.MONTE_CARLO, n_resamples=4000
        )
        asymptotic = worked_example("bcos")["tests"]["interval pclt logrank2 (Finkelstein)"]["p"]
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
        times, second = worked_data("bcos")
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

    @pytest.mark.parametrize("variance", [ScoreVariance.SCORE, ScoreVariance.CUMULATIVE])
    def test_a_group_whose_intervals_are_all_of_time_leaves_the_variance_of_three_singular(self, variance):
        left, right = [0] * 4 + [0, 2, 4, 0, 2, 0, 4, 2], [INF] * 4 + [2, 4, INF, 4, 4, 2, INF, INF]
        group = np.repeat([0, 1, 2], 4)
        test = interval_log_rank(censored_times(left, right), group, ["silent", "a", "b"], variance=variance)
        assert (test.p_value, test.reason) == (None, "the variance of the statistic is not positive")

    def test_refuses_forms_that_do_not_go_together(self):
        times, second = worked_data("bcos")
        with pytest.raises(SettingOutOfRange, match="permutation or monte_carlo for wilcoxon"):
            interval_log_rank(times, second, ["a", "b"], score=RowScore.WILCOXON)
        with pytest.raises(SettingOutOfRange, match="rho"):
            interval_log_rank(times, second, ["a", "b"], score=RowScore.SUN, rho=1)

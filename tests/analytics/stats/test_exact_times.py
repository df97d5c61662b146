"""Exact times and parametric families: what lifelines does right, and what is refused before or after it."""

import lifelines
import numpy as np
import pandas as pd
import pytest

from spotthebot.analytics.stats.errors import FitFailed
from spotthebot.analytics.stats.survival.censored_times import censored_times
from spotthebot.analytics.stats.survival.exact_times import (
    Family,
    cox_of_exact_times,
    kaplan_meier,
    parametric_survival,
)
from spotthebot.statistics.errors import ColumnMalformed, SettingOutOfRange
from tests.analytics.stats.interval_examples import INF, random_intervals, worked_data, worked_example
from tests.factories.known import known, lowest


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

    def test_kaplan_meier_has_greenwood_s_bounds_of_log_log_s_and_none_where_s_is_0(self):
        curve = kaplan_meier([1, 2, 3, 4], [True] * 4)
        # S = 3/4 and its variance by Greenwood over S²: 1 / (4 * 3); of log(-log S) it is divided by log(3/4)².
        reach = 1.959964 * np.sqrt(1 / 12) / abs(np.log(3 / 4))
        assert (curve.low[0], curve.high[0]) == pytest.approx(
            ((3 / 4) ** np.exp(reach), (3 / 4) ** np.exp(-reach)), abs=1e-6
        )
        # R's survfit has NA there, too: four of four tell little of the fifth.
        assert curve.estimate[-1] == 0
        assert np.isnan([curve.low[-1], curve.high[-1]]).all()
        (alone,) = kaplan_meier([1], [True]).high
        assert np.isnan(alone)

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

    @pytest.mark.parametrize(
        "decided",
        [
            [True, False, True, True],
            [1, 0, 1, 1],
            [1.0, -0.0, 1.0, 1.0],
            ["1", "0", "1", "1"],
            pd.Series([True, False, True, True], dtype="boolean"),
        ],
    )
    def test_decisions_are_true_or_1(self, decided):
        # Of 4 at risk 1 decides at 1; the second is watched until 2; then 1 of 2 decides, and the last.
        assert kaplan_meier([1, 2, 3, 4], decided).estimate == pytest.approx((3 / 4, 3 / 8, 0))
        ratios = [
            cox_of_exact_times([1, 2, 3, 4], each, [[1], [0], [0], [1]], ["x"]) for each in (decided, [1, 0, 1, 1])
        ]
        assert ratios[0] == ratios[1]

    @pytest.mark.parametrize(
        "decided",
        [
            ["True", "False", "True", "True"],
            ["yes", "no", "yes", "yes"],
            [INF, 0, 1, 1],
            [float("nan"), 0, 1, 1],
            [None, False, True, True],
            [2, 1, 2, 2],  # as R's Surv codes them
            [1, 0, 1, 1.0000001],
            pd.Series([True, False, None, True], dtype="boolean"),
        ],
    )
    def test_decisions_coded_otherwise_are_refused_not_guessed(self, decided):
        with pytest.raises((SettingOutOfRange, ColumnMalformed), match=r"(?i)decided"):
            kaplan_meier([1, 2, 3, 4], decided)
        with pytest.raises((SettingOutOfRange, ColumnMalformed), match=r"(?i)decided"):
            cox_of_exact_times([1, 2, 3, 4], decided, [[1], [0], [0], [1]], ["x"])

    @pytest.mark.parametrize("x", [[1, 2], [5, 3, 2, 1], [1, 1, 0, 0], [0, 0, 0, 1]])
    def test_separated_decisions_have_no_ratio(self, x):
        (ratio,) = cox_of_exact_times(np.arange(len(x)) + 1, [True] * len(x), np.array(x)[:, None], ["x"])
        assert (ratio.estimate, ratio.standard_error, ratio.p_value) == (None, None, None)
        assert ratio.reason == "the data are separated: no finite estimate"

    def test_one_cluster_leaves_a_ratio_without_an_error(self):
        x = [[1], [0], [1], [0]]
        (plain,) = cox_of_exact_times([1, 2, 3, 4], [True] * 4, x, ["x"])
        (single,) = cox_of_exact_times([1, 2, 3, 4], [True] * 4, x, ["x"], cluster=["a"] * 4)
        assert single.estimate == pytest.approx(known(plain.estimate))
        assert single.standard_error is None
        assert single.low is None
        assert single.high is None
        assert single.p_value is None
        assert single.reason == "all rows are one cluster"


class TestFamiliesWithoutAMaximum:
    @pytest.mark.parametrize("family", Family)
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            ([2, 2, 2], [2, 2, 2]),  # three decisions at 2: the narrower about it, the likelier
            ([2, 2, 0], [2, 2, 3]),
            ([1], [2]),
            ([0, 0], [2, 3]),
            ([1, 2], [INF, INF]),
            ([], []),
        ],
    )
    def test_are_refused_where_all_may_have_happened_at_one_time(self, family, left, right):
        with pytest.raises(FitFailed, match="all rows may have happened at one time"):
            parametric_survival(censored_times(left, right), [1], family=family)

    @pytest.mark.parametrize("family", Family)
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            ([0, 5], [1, INF]),  # the one that was inspected at 1 had happened, that at 5 had not
            ([0, 2, 0, 5], [1, INF, 5, INF]),  # half by 1 and 2, half by 5
            ([0, 0, 0, 2, 5], [2, INF, 5, INF, INF]),  # 1 of 2 by 2, 1 of 2 by 5
        ],
    )
    def test_are_refused_where_later_inspections_find_no_more(self, family, left, right):
        with pytest.raises(FitFailed, match="later inspections find no more"):
            parametric_survival(censored_times(left, right), [1], family=family)

    @pytest.mark.parametrize("family", Family)
    def test_meet_both_shares_of_two_inspections_where_later_ones_find_more(self, family):
        # 1 of 4 by time 2 and 3 of 4 by time 5: two parameters meet two shares, as a saturated model does.
        times = censored_times([0, 2, 2, 2, 0, 0, 0, 5], [2, INF, INF, INF, 5, 5, 5, INF])
        fit = parametric_survival(times, [2, 5], family=family)
        assert fit.survival == pytest.approx((3 / 4, 1 / 4), abs=1e-4)
        assert fit.log_likelihood == pytest.approx(2 * (np.log(1 / 4) + 3 * np.log(3 / 4)), abs=1e-6)

    @pytest.mark.parametrize("at", [[-1], [[1]], 1])
    def test_are_asked_for_times_from_0(self, at):
        with pytest.raises(SettingOutOfRange, match="at must be a column of times from 0"):
            parametric_survival(censored_times([0, 2], [2, 5]), at)

"""Cox regressions of current-status data against R, and their standard errors against clusters left out."""

import csv
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.analytics.coverage.survival import COEFFICIENTS, cox_held
from spotthebot.analytics.stats.errors import CriterionUnknown
from spotthebot.analytics.stats.separation import is_separated
from spotthebot.analytics.stats.survival.cloglog import fit_cloglog
from spotthebot.analytics.stats.survival.cox import StandardErrors, cox_regressions
from spotthebot.analytics.stats.survival.curves import CurrentStatus, current_status
from spotthebot.analytics.stats.survival.proportional_hazards import fit_proportional_hazards
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table
from tests.factories.clustered_campaigns import Setting, draw_hazards
from tests.factories.known import known
from tests.factories.published_dump import REFERENCE, reference


def _status(times, spotted, leads, cluster=None):
    n = len(times)
    values, time = np.unique(times, return_inverse=True)
    own = np.arange(n) if cluster is None else np.array(cluster)
    return CurrentStatus(
        names=("A",),
        times=values,
        entity=np.zeros(n, dtype=np.int64),
        time=time,
        spotted=np.array(spotted, dtype=np.bool_),
        conversation=own,
        annotator=own,
        leads={name: np.array(values, dtype=np.int64) for name, values in leads.items()},
    )


def _fit(times, spotted, leads, **options):
    (fit,) = cox_regressions(_status(times, spotted, leads), features=tuple(leads), **options)
    return fit


class TestCoxRegressions:
    def test_matches_icenreg_and_glm_in_r(self):
        worked = reference("statistics/worked_examples.json")["current_status_cox"]
        with (REFERENCE / "statistics" / worked["data_file"]).open() as file:
            rows = list(csv.DictReader(file))
        spotted = [row["u"] != "Inf" for row in rows]
        times = [int(row["u"] if seen else row["l"]) for row, seen in zip(rows, spotted, strict=True)]
        leads = {name: [int(row[name]) for row in rows] for name in ("X1", "X2", "X3")}
        fit = _fit(times, spotted, leads, standard_errors=StandardErrors.MODEL)
        # R's glm stops when the deviance changes by less than 1e-8 of itself, which leaves 3e-6 in the coefficients.
        by_glm, by_icenreg = worked["R glm cloglog factor(k)-1+X"], worked["icenReg ic_sp"]
        np.testing.assert_allclose([hazard for _, hazard in fit.baseline], by_glm["k"], atol=3e-6)
        np.testing.assert_allclose([c.estimate for c in fit.coefficients], by_glm["coef"], atol=3e-6)
        np.testing.assert_allclose([c.estimate for c in fit.coefficients], by_icenreg["coef"], atol=1e-5)
        np.testing.assert_allclose([c.standard_error for c in fit.coefficients], by_glm["se"], rtol=1e-5)
        assert fit.log_likelihood == pytest.approx(by_glm["llk"], abs=1e-8)

    def test_interval_and_p_value_are_wald_s(self):
        data = [2, 2, 3, 3] * 10, [0, 1, 1, 1, 0, 0, 1, 0] * 5, {"x": [0, 1, 0, 1, 1, 0, 1, 0] * 5}
        for standard_errors in StandardErrors:
            (x,) = _fit(*data, standard_errors=standard_errors).coefficients
            degrees = x.uncertainty.degrees_of_freedom
            assert (degrees is not None) == (standard_errors is StandardErrors.CLUSTERED)
            # 1.959964 is the normal 97.5 % point.
            quantile = stats.t.ppf(0.975, degrees) if degrees else 1.959964
            assert x.low == pytest.approx(x.estimate - quantile * x.standard_error, rel=1e-6)
            assert x.high == pytest.approx(x.estimate + quantile * x.standard_error, rel=1e-6)
            assert (x.p_value < 0.05) == (x.low > 0 or x.high < 0)
            beyond = stats.t.sf(abs(x.estimate) / x.standard_error, degrees or 1e9)
            assert x.p_value == pytest.approx(2 * beyond, rel=1e-4)

    def test_model_s_standard_error_stands_beside_every_other(self):
        status = current_status(simulated_table(4, names=("A", "B"), per_pair=20))
        (model, *_), *others = (cox_regressions(status, standard_errors=each) for each in reversed(StandardErrors))
        expected = [c.model_standard_error for c in model.coefficients]
        assert all(each is not None for each in expected)
        for fit, *_ in others:
            assert [c.model_standard_error for c in fit.coefficients] == pytest.approx(expected)

    @pytest.mark.parametrize("seed", range(5))
    def test_default_variance_is_that_of_leaving_out_annotators_and_conversations(self, seed: int):
        # One time and one feature, as often with a lead as without in every cluster: to first order the coefficient
        # moves with the two shares, by 1 / ((1 - share) * -log(1 - share)) each.
        rng = np.random.default_rng(seed)
        n = 240
        x, annotator, conversation = np.arange(n) % 2, np.arange(n) // 2 % 6, np.arange(n) // 2 // 4
        habits = rng.normal(0, 1.0, (2, 6))
        spotted = rng.normal(size=n) + habits[x, annotator] + 0.3 * x > 0
        status = CurrentStatus(
            names=("A",),
            times=np.array([2]),
            entity=0 * x,
            time=0 * x,
            spotted=spotted,
            conversation=conversation,
            annotator=annotator,
            leads={"x": x},
        )
        (found,) = cox_regressions(status, features=("x",))[0].coefficients
        shares = [spotted[x == group].mean() for group in (0, 1)]
        hazards = [-math.log1p(-share) for share in shares]
        assert found.estimate == pytest.approx(math.log(hazards[1] / hazards[0]), abs=1e-8)
        slopes = [1 / ((1 - share) * hazard) for share, hazard in zip(shares, hazards, strict=True)]

        def moved(rows):
            apart = [spotted[rows & (x == group)].mean() - shares[group] for group in (0, 1)]
            return slopes[1] * apart[1] - slopes[0] * apart[0]

        def left_out(cluster):
            values = np.unique(cluster)
            return (len(values) - 1) / len(values) * sum(moved(cluster != each) ** 2 for each in values)

        by_conversation, by_annotator = left_out(conversation), left_out(annotator)
        whole = by_conversation + by_annotator - left_out(conversation * 6 + annotator)
        assert found.uncertainty.conversations == len(np.unique(conversation))
        assert found.uncertainty.clusters is Clusters.BOTH
        assert found.standard_error == pytest.approx(math.sqrt(whole), rel=1e-6)
        # Clusters of one kind tell equally much, so that they are worth their number.
        degrees = whole**2 / (by_conversation**2 / (len(np.unique(conversation)) - 1) + by_annotator**2 / 5)
        assert found.uncertainty.degrees_of_freedom == pytest.approx(degrees, rel=1e-6)

    @pytest.mark.parametrize("seed", range(3))
    def test_a_cluster_counts_by_what_it_tells_of_the_coefficient(self, seed: int):
        # Of a difference of two shares an arm tells by its part of the variance; clusters have unequal parts of both.
        rng = np.random.default_rng(seed)
        x = np.repeat([0, 1], [150, 50])
        cluster = np.minimum(rng.geometric(0.3, 200), 6)
        spotted = rng.random(200) < np.where(x == 1, 0.8, 0.25) + 0.04 * cluster * (1 - 2 * x)
        status = _status([2] * 200, spotted, {"x": x}, cluster=cluster)
        (fit,) = cox_regressions(status, features=("x",), clusters=Clusters.ANNOTATOR)
        sizes, shares = np.bincount(x), np.array([spotted[x == arm].mean() for arm in (0, 1)])
        slopes = -1 / ((1 - shares) * np.log1p(-shares))
        influence = (2 * x - 1) * slopes[x] * (spotted - shares[x]) / sizes[x]
        variances = slopes**2 * shares * (1 - shares) / sizes
        leverages = (variances / variances.sum() / sizes)[x]
        sums, by_cluster = (np.bincount(cluster, weights=each)[1:] for each in (influence, leverages))
        g = len(sums)
        clustered = (g - 1) / g * np.sum((sums / (1 - by_cluster)) ** 2)
        single = 199 / 200 * np.sum((influence / (1 - leverages)) ** 2)
        expected = max(clustered, single)
        found = fit.coefficients[0].uncertainty
        assert found.standard_error == pytest.approx(math.sqrt(expected), rel=1e-6)
        assert found.degrees_of_freedom == pytest.approx(1 / np.sum(by_cluster**2) - 1, rel=1e-6)

    def test_intervals_hold_the_truth_where_annotators_differ(self):
        setting, chances = Setting(2, 45, 12, 0.18, taste=True), np.tile([0.35, 0.45, 0.55], (2, 1))
        held, naive = np.zeros(2), np.zeros(2)
        for seed in range(60):
            status = draw_hazards(setting, chances, COEFFICIENTS, np.random.default_rng(seed))
            held += cox_held(status, COEFFICIENTS)
            naive += cox_held(status, COEFFICIENTS, StandardErrors.MODEL)
        # Coefficients of 60 campaigns of two bots hardly go together: 120 draws of .95 have a standard error of .02.
        assert abs(held[0] / held[1] - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 120)
        assert naive[0] / naive[1] < 0.85

    def test_times_before_the_first_and_after_the_last_doubt_tell_nothing(self):
        middle = ([3, 3, 3, 3, 5, 5, 5, 5], [0, 1, 1, 0, 1, 0, 1, 1], [0, 1, 0, 1, -1, 0, 1, 0])
        fit = _fit(middle[0], middle[1], {"x": middle[2]})
        longer = _fit([2, 2, *middle[0], 8], [0, 0, *middle[1], 1], {"x": [1, -1, *middle[2], 1]})
        assert longer.coefficients == fit.coefficients
        assert [times for times, _ in longer.baseline] == [(3,), (5,)]
        assert (longer.n, longer.events) == (fit.n + 3, fit.events + 1)

    def test_separated_data_get_firth_s_penalty_and_say_so(self):
        # Nobody with x = 1 was spotted, everybody else was.
        fit = _fit([2, 2, 2, 3, 3, 3], [0, 1, 1, 0, 0, 1], {"x": [1, 0, 0, 1, 1, 0]})
        assert fit.separated
        assert fit.method == "Firth"
        assert -6 < fit.coefficients[0].estimate < -1
        assert 0 < fit.coefficients[0].standard_error < 6

    @pytest.mark.parametrize(
        ("times", "spotted", "reason"),
        [
            ([], [], "never inspected"),
            ([2, 3], [0, 0], "never spotted"),
            ([2], [0], "never spotted"),
            ([2, 3], [1, 1], "spotted at every inspection"),
            ([2, 3], [0, 1], "spotted never before some inspection time and always from then on"),
        ],
    )
    def test_says_why_nothing_can_be_estimated(self, times, spotted, reason):
        fit = _fit(times, spotted, {"x": [0] * len(times)})
        assert fit.reason == fit.coefficients[0].reason == reason
        assert fit.coefficients[0].estimate is None
        assert fit.coefficients[0].p_value is None
        assert fit.log_likelihood is None

    def test_names_the_features_that_are_collinear(self):
        times, spotted = [2, 2, 2, 2, 3, 3, 3, 3], [0, 1, 0, 0, 1, 0, 1, 1]
        x, flat = [0, 1, 1, -1, 0, -1, 0, 1], [1] * 8
        fit = _fit(times, spotted, {"x": x, "again": x, "flat": flat, "y": [1, 0, 0, 1, 0, 1, 1, 0]})
        known = {c.feature: c.estimate is not None for c in fit.coefficients}
        assert known == {"x": False, "again": False, "flat": False, "y": True}
        assert all("never varies" in c.reason for c in fit.coefficients if c.estimate is None)
        alone = _fit(times, spotted, {"x": x, "y": [1, 0, 0, 1, 0, 1, 1, 0]})
        assert fit.coefficients[3].estimate == pytest.approx(alone.coefficients[1].estimate, abs=1e-9)

    def test_too_few_clusters_leave_the_estimate_without_an_error(self):
        status = _status([2, 2, 3, 3], [0, 1, 1, 0], {"x": [0, 1, 0, 1]}, cluster=[0, 0, 1, 1])
        (fit,) = cox_regressions(status, features=("x",), standard_errors=StandardErrors.ANNOTATOR)
        assert (fit.coefficients[0].low, fit.coefficients[0].p_value) == (None, None)
        assert fit.coefficients[0].estimate is not None
        assert fit.coefficients[0].standard_error is None
        assert "clusters are too few" in known(fit.coefficients[0].reason)

    def test_one_annotator_leaves_the_estimate_without_an_error(self):
        data = [2, 2, 3, 3] * 4, [0, 1, 1, 0] * 4, {"x": [0, 1, 0, 1, 1, 1, 0, 0] * 2}
        status = CurrentStatus(**{**_status(*data).__dict__, "annotator": np.zeros(16, dtype=np.int64)})
        (fit,) = cox_regressions(status, features=("x",))
        assert fit.coefficients[0].estimate is not None
        assert (fit.coefficients[0].standard_error, fit.coefficients[0].p_value) == (None, None)
        assert fit.coefficients[0].model_standard_error is not None
        assert "all observations are of one annotator" in known(fit.coefficients[0].reason)

    def test_refuses_an_unknown_feature_and_a_level_out_of_range(self):
        status = _status([2, 3], [0, 1], {"x": [0, 1]})
        with pytest.raises(CriterionUnknown, match="'fluency' is not a criterion of these annotations: there are x"):
            cox_regressions(status)
        with pytest.raises(SettingOutOfRange):
            cox_regressions(status, features=("x",), confidence_level=1)

    @settings(max_examples=15)
    @given(seed=st.integers(0, 10_000))
    def test_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed, names=("A", "HU", "B"))
        fits, rows, names = (
            {fit.bot: fit for fit in cox_regressions(current_status(t))}
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        for bot, fit in fits.items():
            for again in (rows[bot], names[bot]):
                assert again.method == fit.method
                for one, same in zip(fit.coefficients, again.coefficients, strict=True):
                    assert same.estimate == pytest.approx(one.estimate, abs=1e-6)
                    assert same.p_value == pytest.approx(one.p_value, abs=1e-6)


class TestFitProportionalHazards:
    @settings(max_examples=80)
    @given(seed=st.integers(0, 10_000))
    def test_is_the_best_of_all_ways_to_pool_neighbouring_times(self, seed):
        # The constrained maximum is the unconstrained one of its own pooling, hence the best that does not fall.
        # Covariates that go with time make pools that have to be parted again.
        rng = np.random.default_rng(seed)
        n_times = int(rng.integers(3, 6))
        time = np.repeat(np.arange(n_times), 4)
        covariates = rng.normal(size=(4 * n_times, 1)) + 3 * rng.normal(size=n_times)[time][:, None]
        n_trials = rng.integers(2, 12, size=4 * n_times)
        trials = n_trials.astype(np.float64)
        predictor = 0.3 * rng.normal() * covariates[:, 0] + 0.5 * rng.normal(size=n_times)[time] - 0.5
        events = rng.binomial(n_trials, -np.expm1(-np.exp(predictor))).astype(np.float64)
        unpooled = np.column_stack([np.eye(n_times)[time], covariates])
        assume(events[:4].any() and (events < trials)[-4:].any() and not is_separated(unpooled, events, trials))
        best = -np.inf
        for parted in product([False, True], repeat=n_times - 1):
            block = np.concatenate([[0], np.cumsum(parted)])
            pooled = np.column_stack([np.eye(block[-1] + 1)[block[time]], covariates])
            fit = fit_cloglog(pooled, events, trials)
            if np.all(np.diff(fit.coefficients[: block[-1] + 1]) >= 0):
                best = max(best, fit.log_likelihood)
        found = fit_proportional_hazards(time, covariates, events, trials)
        assert np.all(np.diff(found.fit.coefficients[: found.block[-1] + 1]) >= 0)
        assert found.fit.log_likelihood == pytest.approx(best, abs=1e-8)

    def test_time_that_must_be_pooled_is_no_separation(self):
        # Nobody was spotted at the second time, though half were at the first: the hazard stays as it was.
        time, covariates = np.repeat(np.arange(3), 3), np.tile([-1.0, 0.0, 1.0], 3)[:, None]
        events, trials = np.array([3.0, 2, 1, 0, 0, 0, 4, 3, 3]), np.full(9, 4.0)
        found = fit_proportional_hazards(time, covariates, events, trials)
        joined = fit_cloglog(np.column_stack([np.eye(2)[[0, 0, 0, 0, 0, 0, 1, 1, 1]], covariates]), events, trials)
        assert not found.separated
        assert found.block.tolist() == [0, 0, 1]
        np.testing.assert_allclose(found.fit.coefficients, joined.coefficients, atol=1e-8)
        # The other way round: everybody was spotted at the second time, and not at the third.
        mirrored = fit_proportional_hazards(time, covariates, np.array([1.0, 2, 1, 4, 4, 4, 3, 2, 3]), trials)
        assert not mirrored.separated
        assert mirrored.block.tolist() == [0, 1, 1]

    def test_pools_of_separated_data_are_not_parted_again(self):
        # The slopes of a likelihood without a maximum, by which pools are parted, say nothing at Firth's estimate.
        time, covariates = np.repeat(np.arange(3), 2), np.array([[-1.0], [-1], [0], [1], [1], [0]])
        found = fit_proportional_hazards(time, covariates, np.array([2.0, 2, 2, 0, 0, 2]), np.full(6, 2.0))
        assert found.separated
        assert found.block.tolist() == [0, 0, 1]

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats.separation import is_separated
from spotthebot.analytics.stats.survival.cloglog import fit_cloglog
from tests.factories.known import lowest


def _simulated(seed, rows=12):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2))])
    trials = rng.integers(5, 20, size=rows).astype(np.float64)
    hazard = np.exp(design @ np.array([-0.5, 0.6, -0.4]))
    return design, rng.binomial(trials.astype(np.int64), -np.expm1(-hazard)).astype(np.float64), trials


def _log_likelihood(coefficients, design, events, trials):
    # The general optimiser strays to where a cumulative hazard is 0 or infinite in double precision.
    hazard = np.exp(np.clip(design @ coefficients, -30, 3))
    return np.sum(events * np.log(-np.expm1(-hazard)) - (trials - events) * hazard)


def _penalised(coefficients, design, events, trials):
    hazard = np.exp(np.clip(design @ coefficients, -30, 3))
    p = -np.expm1(-hazard)
    # Expected information of a binomial: (dp/dη)² / (p (1 - p)).
    weights = trials * (hazard * np.exp(-hazard)) ** 2 / (p * (1 - p))
    return (
        _log_likelihood(coefficients, design, events, trials) + np.linalg.slogdet((design.T * weights) @ design)[1] / 2
    )


class TestFitCloglog:
    @settings(max_examples=20)
    @given(seed=st.integers(0, 1000))
    @pytest.mark.parametrize(("firth", "objective"), [(False, _log_likelihood), (True, _penalised)])
    def test_finds_the_maximum_that_a_general_optimiser_finds(self, firth, objective, seed):
        data = _simulated(seed)
        assume(not is_separated(*data))
        fit = fit_cloglog(*data, firth=firth)
        found = lowest(lambda b: -objective(b, *data), np.zeros(3), tol=1e-12)
        assert fit.converged
        np.testing.assert_allclose(fit.coefficients, found.x, atol=2e-5)
        assert fit.log_likelihood == pytest.approx(_log_likelihood(fit.coefficients, *data))

    def test_score_curvature_and_information_are_the_derivatives(self):
        design, events, trials = _simulated(3)
        fit = fit_cloglog(design, events, trials)
        step = 1e-5
        for event in (0, 1):
            one = np.full(len(design), float(event))

            def likelihood(shift, one=one):
                hazard = np.exp(design @ fit.coefficients + shift)
                return one * np.log(-np.expm1(-hazard)) - (1 - one) * hazard

            slope = (likelihood(step) - likelihood(-step)) / (2 * step)
            bend = (likelihood(step) - 2 * likelihood(0) + likelihood(-step)) / step**2
            np.testing.assert_allclose(fit.score[:, event], slope, rtol=1e-6)
            np.testing.assert_allclose(fit.curvature[:, event], -bend, rtol=1e-4)
        chance = -np.expm1(-np.exp(design @ fit.coefficients))
        expected = chance * fit.curvature[:, 1] + (1 - chance) * fit.curvature[:, 0]
        np.testing.assert_allclose(fit.information, (design.T * (trials * expected)) @ design, rtol=1e-9)

    def test_firth_is_finite_where_the_likelihood_has_no_maximum(self):
        design = np.array([[1.0, -1], [1, 0], [1, 1]])
        data = (design, np.array([0.0, 0, 6]), np.array([6.0, 6, 6]))
        assert is_separated(*data)
        fit = fit_cloglog(*data, firth=True)
        found = lowest(lambda b: -_penalised(b, *data), np.zeros(2), tol=1e-12)
        assert fit.converged
        np.testing.assert_allclose(fit.coefficients, found.x, atol=2e-5)


class TestIsSeparated:
    @pytest.mark.parametrize(
        ("events", "separated"),
        [
            ([0, 0, 4, 4], True),
            ([0, 2, 4, 4], True),
            ([0, 2, 2, 4], False),
            ([1, 0, 4, 4], False),
            ([0, 0, 0, 0], True),
            ([4, 4, 4, 4], True),
            ([4, 4, 2, 0], True),
        ],
    )
    def test_a_threshold_between_events_and_non_events_separates(self, events, separated):
        design = np.column_stack([np.ones(4), np.arange(4.0)])
        assert is_separated(design, np.array(events, dtype=np.float64), np.full(4, 4.0)) is separated

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from spotthebot.analytics.stats.survival.isotonic import isotonic_shares

trials_and_events = st.lists(st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), max_size=9)


class TestIsotonicShares:
    @given(series=trials_and_events)
    def test_matches_scipy_s_pool_adjacent_violators(self, series):
        trials, events = np.array(series, dtype=np.float64).reshape(-1, 2).T
        pooled = isotonic_regression(events / trials, weights=trials).x if len(series) else np.empty(0)
        np.testing.assert_allclose(isotonic_shares(events, trials), pooled, atol=1e-12)

    @given(series=trials_and_events)
    def test_never_falls(self, series):
        trials, events = np.array(series, dtype=np.float64).reshape(-1, 2).T
        assert np.all(np.diff(isotonic_shares(events, trials)) >= 0)

    def test_times_without_trials_bind_nobody_and_have_no_share(self):
        fitted = isotonic_shares(np.array([0.0, 3.0, 0.0, 1.0, 0.0]), np.array([0.0, 4.0, 0.0, 4.0, 0.0]))
        # 3 / 4 before 1 / 4: pooled to 4 / 8.
        np.testing.assert_array_equal(fitted, [np.nan, 0.5, np.nan, 0.5, np.nan])

    def test_fits_every_series_of_a_batch_as_it_would_alone(self):
        rng = np.random.default_rng(0)
        trials = rng.integers(0, 6, size=(4, 3, 5)).astype(np.float64)
        events = rng.binomial(trials.astype(np.int64), 0.5).astype(np.float64)
        together = isotonic_shares(events, trials)
        for at in np.ndindex(4, 3):
            np.testing.assert_array_equal(together[at], isotonic_shares(events[at], trials[at]))

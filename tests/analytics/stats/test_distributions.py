"""The distributions are scipy.stats' own."""

import numpy as np
import pytest
from scipy import stats

from spotthebot.statistics.distributions import chi_square_tails, f_tails, student_quantiles, student_tails

VALUES = np.concatenate([np.linspace(0, 60, 121), [1e-300, 1e300, np.inf, np.nan]])
DEGREES = [0.5, 1, 3.7, 31, 1e6, np.inf, np.nan]


@pytest.mark.parametrize("degrees", DEGREES)
class TestDistributions:
    def test_are_those_of_scipy_stats(self, degrees: float):
        np.testing.assert_allclose(student_tails(VALUES, degrees), stats.t.sf(VALUES, degrees), rtol=1e-13)
        np.testing.assert_allclose(student_tails(-VALUES, degrees), stats.t.sf(-VALUES, degrees), rtol=1e-13)
        np.testing.assert_allclose(student_quantiles(0.975, degrees), stats.t.ppf(0.975, degrees), rtol=1e-13)
        if not np.isinf(degrees):
            np.testing.assert_allclose(f_tails(VALUES, 1.0, degrees), stats.f.sf(VALUES, 1, degrees), rtol=1e-13)
            np.testing.assert_allclose(chi_square_tails(VALUES, degrees), stats.chi2.sf(VALUES, degrees), rtol=1e-13)

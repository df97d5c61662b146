"""The bounds of labels saved, against quantiles of chi² and of the normal distribution that scipy computes."""

import numpy as np
import pytest
import scipy

from spotthebot.analytics.stats.judged.correction import Control
from spotthebot.analytics.stats.judged.saved import saved_shares
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, PooledEffects

_MANY = 1e9
"""Degrees of freedom of a variance that is known exactly."""
_TAILS = [0.03, 0.97]
"""Where only one number is uncertain, 2.5 % lies in the second of fifty equal parts, whose middle is 3 %."""


def _saved(slope_error: float, degrees: float, own_degrees: float | None = None) -> tuple[float, float, float]:
    """Return the share and its bounds for people's variance 2, Var(D) 2 and a slope of .25, without shrinkage."""
    column = np.ones(1)
    control = Control(
        difference=0 * column,
        sums=scipy.sparse.csr_array(np.sqrt([[2.0]])),
        slope=0.25 * column,
        slope_error=slope_error * column,
        used=0.25 * column,
        least=0 * column,
    )
    pooled = None
    if own_degrees is not None:
        pooled = PooledEffects(column, column, column, own_degrees * column, family=2)
    n = np.array([100])
    people = ClusteredVariance(2 * column, degrees * column, n, n, Clusters.BOTH, pooled)
    share, low, high = saved_shares(control, people, control.corrected(people), 0.95)
    return float(share[0]), float(low[0]), float(high[0])


class TestSavedShares:
    def test_is_the_part_of_the_variance_that_the_judge_explains(self):
        share, low, high = _saved(0.0, _MANY)
        # .25² * 2 / 2, and a quarter more, since people's variance is too large on average.
        assert (share, low, high) == pytest.approx((0.0625, 0.0625, 0.0625 * 1.25), rel=1e-3)

    @pytest.mark.parametrize(("degrees", "own"), [(10.0, None), (80.0, 10.0), (10.0, 80.0)])
    def test_has_bounds_by_the_smaller_degrees_of_people_s_variance(self, degrees: float, own: float | None):
        share, low, high = _saved(0.0, degrees, own)
        of_low, of_high = (scipy.stats.chi2.ppf(tail, 10) / 10 for tail in _TAILS)
        assert share == pytest.approx(0.0625)
        assert (low, high) == pytest.approx((0.0625 * of_low, 1.25 * 0.0625 * of_high), rel=1e-3)

    def test_has_bounds_by_the_error_of_the_slope_and_what_a_useless_slope_costs(self):
        share, low, high = _saved(0.05, _MANY)
        of_low, of_high = (0.25 + 0.05 * scipy.stats.norm.ppf(tail) for tail in _TAILS)
        assert share == pytest.approx(0.0625)
        assert (low, high) == pytest.approx((of_low**2 - 0.05**2, 1.25 * of_high**2), rel=1e-3)

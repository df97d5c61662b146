"""Quantiles and upper tails of the distributions that tests and intervals use.

They use functions of scipy.special, which scipy.stats uses too. The modules in `stats/` write `import scipy`, which
loads a part of scipy at its first use. So a service starts without these parts, and few results need scipy.stats.
"""

from typing import Final

import numpy as np
import scipy

from spotthebot.statistics.arrays import FloatArray

_CERTAIN_LEAD: Final = 30.0


def student_quantiles(share: float | FloatArray, degrees: float | FloatArray) -> FloatArray:
    """Return Student's quantiles. Degrees may be infinite; the quantile of NaN is NaN.

    >>> student_quantiles(0.975, np.array([10, np.inf])).round(3).tolist()  # as tables print them
    [2.228, 1.96]
    """
    return np.asarray(scipy.special.stdtrit(degrees, share), dtype=np.float64)


def student_tails(value: float | FloatArray, degrees: float | FloatArray) -> FloatArray:
    """Return the probabilities beyond `value` under Student's distribution.

    >>> student_tails(2.228, np.array([10, np.inf])).round(3).tolist()
    [0.025, 0.013]
    """
    return np.asarray(scipy.special.stdtr(degrees, -value), dtype=np.float64)


def student_power(lead: FloatArray, critical: FloatArray, degrees: FloatArray) -> FloatArray:
    """Return the power of two-sided t tests: the tails of the noncentral t beyond `critical` and below `-critical`.

    `lead` is the expected difference over its standard error, 0 or more.

    >>> student_power(np.array([0.0]), np.array([2.228]), np.array([10.0])).round(3).tolist()  # no difference
    [0.05]
    """
    near = np.minimum(lead, _CERTAIN_LEAD)
    # If the lead is certain, scipy's lower tail is NaN instead of 0.
    lower = np.nan_to_num(scipy.stats.nct.cdf(-critical, degrees, near))
    upper = scipy.stats.nct.sf(critical, degrees, near)
    # Such an extreme lead hardly varies: the estimated variance decides.
    certain = scipy.stats.chi2.cdf(degrees * (lead / critical) ** 2, degrees)
    powers: FloatArray = np.where(lead < _CERTAIN_LEAD, np.minimum(1.0, upper + lower), certain)
    return powers


def chi_square_tails(value: float | FloatArray, degrees: float | FloatArray) -> FloatArray:
    """Return the probabilities beyond `value` (0 or more) under the chi-square distribution.

    >>> chi_square_tails(3.841, 1).round(3).tolist()
    0.05
    """
    return np.asarray(scipy.special.chdtrc(degrees, value), dtype=np.float64)


def f_tails(value: float | FloatArray, numerator: float | FloatArray, denominator: float | FloatArray) -> FloatArray:
    """Return the probabilities beyond `value` (0 or more) under the F distribution with these degrees of freedom.

    >>> f_tails(4.965, 1, 10).round(3).tolist()
    0.05
    """
    return np.asarray(scipy.special.fdtrc(numerator, denominator, value), dtype=np.float64)

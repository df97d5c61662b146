"""Quantiles and upper tails of the distributions that tests and intervals use.

They are scipy.special's functions, which scipy.stats calls too. In `stats/` scipy is imported as a whole, which loads
its parts when they are first used: a service starts without them, and few results need scipy.stats.
"""

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray


def student_quantiles(share: float | FloatArray, degrees: float | FloatArray) -> FloatArray:
    """Return Student's quantiles; degrees may be infinite, and NaN has NaN.

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

"""Shares of independent observations: Wilson's interval, and whether two shares differ."""

import math
from dataclasses import dataclass
from typing import Final

import scipy

from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.stability import wilson_bounds
from spotthebot.statistics.whole_numbers import is_whole

_MAX_COUNT: Final = 2**53
"""Integers up to this one stay apart in double precision."""


@dataclass(frozen=True)
class Proportion:
    """A share of `n` observations with Wilson's bounds. Share and bounds are None without observations."""

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    confidence_level: float
    method: str


@dataclass(frozen=True)
class ProportionTest:
    """The z test of two shares. `statistic` is the first minus the second, divided by the pooled standard error.

    If the pooled share is 0 or 1, there is no standard error. Statistic and p-value are None, and `reason` says so.
    """

    difference: float | None
    statistic: float | None
    p_value: float | None
    method: str
    reason: str | None


def wilson_interval(successes: int, n: int, *, confidence_level: float = 0.95) -> Proportion:
    """Return the share of successes with Wilson's bounds (1927). They stay within 0 and 1, and are never equal.

    >>> share = wilson_interval(3, 50)
    >>> share.estimate, round(share.low, 4), round(share.high, 4)
    (0.06, 0.0206, 0.1622)
    """
    require_confidence_level(confidence_level)
    _require_counts(successes, n)
    if not n:
        return Proportion(None, None, None, 0, confidence_level, "Wilson")
    low, high = wilson_bounds(successes, n, confidence_level)
    return Proportion(successes / n, low, high, n, confidence_level, "Wilson")


def compare_proportions(first: int, n_first: int, second: int, n_second: int) -> ProportionTest:
    """Test whether two shares are equal, with the standard error of the pooled share.

    >>> test = compare_proportions(15, 50, 25, 50)  # -0.2 / sqrt(0.4 * 0.6 * 2 / 50)
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (-2.0412, 0.0412)
    """
    _require_counts(first, n_first)
    _require_counts(second, n_second)
    method = "z test with pooled standard error"
    if not n_first or not n_second:
        return ProportionTest(None, None, None, method, "one of the two has no observations")
    difference = first / n_first - second / n_second
    pooled = (first + second) / (n_first + n_second)
    if pooled in {0.0, 1.0}:
        return ProportionTest(difference, None, None, method, "both shares are 0, or both are 1")
    statistic = difference / math.sqrt(pooled * (1 - pooled) * (1 / n_first + 1 / n_second))
    return ProportionTest(difference, statistic, float(2 * scipy.special.ndtr(-abs(statistic))), method, None)


def _require_counts(successes: int, n: int) -> None:
    if not is_whole(n, 0, _MAX_COUNT):
        raise SettingOutOfRange(setting="n", allowed=f"a whole number from 0 to {_MAX_COUNT:,}", value=n)
    if not is_whole(successes, 0, n):
        raise SettingOutOfRange(setting="successes", allowed=f"a whole number from 0 to n = {n}", value=successes)

"""How the memory of a process develops in a soak: a line through samples, and how certain its slope is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

MAX_GROWTH_MIB_PER_MINUTE: Final = 0.2
"""Memory that a process may gain: 288 MiB a day, which nightly restarts would not need to make good."""
_Z = 1.959964
_LEAST_MINUTES = 10
Verdict = Literal["flat", "undecided", "grows", "too short to say"]


@dataclass(frozen=True)
class Growth:
    """MiB a minute: least squares, with a 95 % interval that allows for samples that resemble their neighbours."""

    estimate: float
    low: float
    high: float
    minutes: float
    """Between the first and the last sample."""
    n: int

    @property
    def verdict(self) -> Verdict:
        """Compare the interval with MAX_GROWTH_MIB_PER_MINUTE; caches that fill look like growth for some minutes."""
        if self.minutes < _LEAST_MINUTES:
            return "too short to say"
        if self.high <= MAX_GROWTH_MIB_PER_MINUTE:
            return "flat"
        return "grows" if self.low > MAX_GROWTH_MIB_PER_MINUTE else "undecided"


def growth(minutes: Sequence[float], mebibytes: Sequence[float]) -> Growth:
    """Return the slope of memory over time.

    The variance is that of Newey and West (1987) with Bartlett weights, of the lag floor(4 (n / 100)^(2/9)) that they
    propose in 1994. Of fewer than three samples, or all at one time, the slope is 0 and the interval has no end.
    """
    n, duration = len(minutes), minutes[-1] - minutes[0] if minutes else 0.0
    middle = sum(minutes) / n if n else 0.0
    away = [each - middle for each in minutes]
    spread = sum(each * each for each in away)
    if n < 3 or not spread:  # a line through two points has no residuals
        return Growth(0.0, -math.inf, math.inf, duration, n)
    slope = sum(x * y for x, y in zip(away, mebibytes, strict=True)) / spread
    level = sum(mebibytes) / n
    moments = [x * (y - level - slope * x) for x, y in zip(away, mebibytes, strict=True)]
    lags = math.floor(4 * (n / 100) ** (2 / 9))
    variance = sum(each * each for each in moments)
    for lag in range(1, min(lags, n - 1) + 1):
        weight = 1 - lag / (lags + 1)
        variance += 2 * weight * sum(a * b for a, b in zip(moments[lag:], moments, strict=False))
    error = math.sqrt(max(variance, 0.0)) / spread
    return Growth(slope, slope - _Z * error, slope + _Z * error, duration, n)

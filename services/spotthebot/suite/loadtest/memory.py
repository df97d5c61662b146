"""How the memory of processes develops: a line through samples, and how certain its slope is.

Memory is anonymous memory (Pss_Anon of Linux, swapped or not), that of a process's children included: what the process
made and only it can give back. Pages that forks share are divided among them. Not counted are files, which the system
drops when it needs room, and shared memory, whose size is set: PostgreSQL's buffers look like growth while they fill,
and what counts private pages (USS) counts those of them that one process has touched so far.
"""

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import psutil

from spotthebot.suite.loadtest.families import families
from spotthebot.suite.loadtest.plan import MAX_GROWTH_MIB_PER_MINUTE

_MEBIBYTE = 1024 * 1024
_ANONYMOUS: Final = re.compile(r"^(?:Pss_Anon|SwapPss):\s+(\d+) kB$", re.MULTILINE)
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


def mebibytes_of(pids: Mapping[str, int]) -> dict[str, float]:
    """Return the anonymous memory of each process with its children; one that is gone has none."""
    found = {}
    for name, family in families(pids).items():
        found[name] = 0.0
        for each in family:
            with suppress(psutil.Error, OSError):
                found[name] += _anonymous(each) / _MEBIBYTE
    return found


def _anonymous(process: psutil.Process) -> float:
    try:
        rolled = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except FileNotFoundError:  # gone, or not on Linux
        return float(process.memory_full_info().uss)
    return 1024.0 * sum(int(kibibytes) for kibibytes in _ANONYMOUS.findall(rolled))

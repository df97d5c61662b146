"""Questions asked over and over by a fixed number of askers, and what that says about speed."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

Ask = Callable[[], Awaitable[int]]
"""Asks once and returns how many replies came of it; raises where a reply is missing."""


@dataclass(frozen=True)
class Speed:
    """Replies a second, and percentiles over requests in milliseconds."""

    replies_per_second: float
    p50_ms: float
    p95_ms: float

    def __str__(self) -> str:
        return f"{self.replies_per_second:,.0f}/s, p50 {self.p50_ms:.1f} ms, p95 {self.p95_ms:.1f} ms"


@dataclass(frozen=True)
class Round:
    """What one round of load came to."""

    speed: Speed
    replies: int


async def load(ask: Ask, *, askers: int, times: int) -> Round:
    """Let each of `askers` ask so many times, each again as soon as it is answered.

    All ask equally often, so that they end together: were they to ask until a time is up, those that wait in a queue
    would still be answered when others have left.
    """
    latencies: list[float] = []

    async def keep_asking() -> int:
        replies = 0
        for _ in range(times):
            asked = time.perf_counter()
            replies += await ask()
            latencies.append(time.perf_counter() - asked)
        return replies

    began = time.perf_counter()
    replies = sum(await asyncio.gather(*(keep_asking() for _ in range(askers))))
    took = time.perf_counter() - began
    latencies.sort()
    speed = Speed(replies / took, percentile(latencies, 0.5) * 1000, percentile(latencies, 0.95) * 1000)
    return Round(speed, replies)


async def times_for(ask: Ask, *, askers: int, seconds: float) -> int:
    """Warm up, and return how many times each has to ask for a round of about so many seconds."""
    await load(ask, askers=askers, times=1)
    began = time.perf_counter()
    await load(ask, askers=askers, times=2)
    return max(1, round(seconds / (time.perf_counter() - began) * 2))


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the nearest rank of ascending values."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median_speed(rounds: Sequence[Round]) -> Speed:
    """Return the median of each figure over the rounds."""
    speeds = [each.speed for each in rounds]
    return Speed(
        replies_per_second=statistics.median(each.replies_per_second for each in speeds),
        p50_ms=statistics.median(each.p50_ms for each in speeds),
        p95_ms=statistics.median(each.p95_ms for each in speeds),
    )

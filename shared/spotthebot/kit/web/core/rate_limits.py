"""Rate limits. Each key has a token bucket in the process's memory; `RateLimit` response headers report it.

The headers follow draft-ietf-httpapi-ratelimit-headers. The policy is `q` requests in a window of `w` seconds. `r`
requests remain, and the bucket is full again in `t` seconds.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import LRUCache

from spotthebot.kit.errors import TooMany
from spotthebot.kit.waits.token_bucket import TokenBucket

_WINDOW_SECONDS = 60
_MAX_KEYS = 10_000


@dataclass(frozen=True)
class RateLimit:
    """What remains of a key's limit after one request."""

    quota: int
    remaining: int
    retry_after_seconds: int
    refill_seconds: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Policy": f'"default";q={self.quota};w={_WINDOW_SECONDS}',
            "RateLimit": f'"default";r={self.remaining};t={self.refill_seconds}',
        }

    def enforce(self) -> None:
        if self.retry_after_seconds:
            raise TooMany(retry_after_seconds=self.retry_after_seconds)


class RateLimiter:
    """Token buckets by key. Beyond ten thousand keys, the key seen longest ago is forgotten."""

    def __init__(self, requests_per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._quota = requests_per_minute
        self._rate = requests_per_minute / _WINDOW_SECONDS
        self._clock = clock
        self._buckets: LRUCache[str, TokenBucket] = LRUCache(_MAX_KEYS)

    def acquire(self, key: str) -> RateLimit:
        now = self._clock()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = TokenBucket(self._rate, self._quota)
        allowed = bucket.take(now) is not None
        tokens = max(0.0, bucket.left(now))
        wait = 0 if allowed else math.ceil((1 - tokens) / self._rate)
        return RateLimit(self._quota, math.floor(tokens), wait, math.ceil((self._quota - tokens) / self._rate))

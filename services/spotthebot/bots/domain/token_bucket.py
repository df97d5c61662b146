"""A token bucket: a bot's requests per minute, spread evenly, with bursts of a second's worth.

It is arithmetic over a monotonic clock that the caller reads, in seconds: nothing here sleeps.
"""

from dataclasses import dataclass, field


@dataclass
class TokenBucket:
    """Books requests ahead: a call learns how long to wait before it may begin."""

    per_minute: int | None
    _next: float = field(default=0.0, init=False)

    def wait_seconds(self, now: float, max_wait: float) -> float | None:
        """Book the next request and return its wait; book nothing and return None if that exceeds `max_wait`.

        One second's worth of requests may begin at once; all others are spread evenly.
        """
        if self.per_minute is None:
            return 0.0
        interval = 60.0 / self.per_minute
        burst = max(1.0, self.per_minute / 60.0)
        earliest = max(self._next, now - interval * (burst - 1))
        wait = max(0.0, earliest - now)
        if wait > max_wait:
            return None
        self._next = earliest + interval
        return wait

"""A token bucket. It reads no clock and never sleeps: callers pass the time of a clock that is never set back."""

from typing import Final

_ROUNDING: Final = 1e-6
"""A tolerance, so that a caller that waited exactly as long as required gets its token."""


class TokenBucket:
    """Gains `rate` tokens per unit of time, and holds at most `capacity` tokens. It is full at first.

    If both are infinite, there is always a token.
    """

    __slots__ = ("_capacity", "_filled_at", "_rate", "_tokens")

    def __init__(self, rate: float, capacity: float) -> None:
        self._rate, self._capacity = rate, capacity
        self._tokens, self._filled_at = capacity, 0.0

    def left(self, now: float) -> float:
        """Return the number of tokens. It is negative if callers took tokens in advance."""
        if now > self._filled_at:
            self._tokens = min(self._capacity, self._tokens + (now - self._filled_at) * self._rate)
            self._filled_at = now
        return self._tokens

    def take(self, now: float, max_wait: float = 0.0) -> float | None:
        """Take a token and return the wait until it is available.

        If the wait would exceed `max_wait`, take no token and return None.
        """
        missing = 1 - self.left(now)
        wait = 0.0
        if missing >= _ROUNDING:
            if missing > max_wait * self._rate:
                return None
            wait = missing / self._rate
        self._tokens -= 1
        return wait

"""A token bucket. It reads no clock and sleeps nowhere: callers pass the time, by a clock that never goes back."""

from typing import Final

_ROUNDING: Final = 1e-6
"""A caller that waited as long as it was asked to gets its token."""


class TokenBucket:
    """Gains `rate` tokens per unit of time and holds at most `capacity`; it is full at first.

    Both may be infinite: then there is always a token.
    """

    __slots__ = ("_capacity", "_filled_at", "_rate", "_tokens")

    def __init__(self, rate: float, capacity: float) -> None:
        self._rate, self._capacity = rate, capacity
        self._tokens, self._filled_at = capacity, 0.0

    def left(self, now: float) -> float:
        """Return how many tokens there are; fewer than none where some were taken ahead of time."""
        if now > self._filled_at:
            self._tokens = min(self._capacity, self._tokens + (now - self._filled_at) * self._rate)
            self._filled_at = now
        return self._tokens

    def take(self, now: float, max_wait: float = 0.0) -> float | None:
        """Take a token and return the wait until it is there; take none and return None if that exceeds `max_wait`."""
        missing = 1 - self.left(now)
        wait = 0.0
        if missing >= _ROUNDING:
            if missing > max_wait * self._rate:
                return None
            wait = missing / self._rate
        self._tokens -= 1
        return wait

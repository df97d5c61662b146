"""Exponential backoff: the wait doubles after each failure in a row."""

from dataclasses import dataclass
from typing import Final

_MAX_DOUBLINGS: Final = 64
"""Floats overflow after a thousand failures, as many as an hour without a database causes."""


@dataclass(frozen=True)
class Backoff:
    """Waits from `first_seconds` up to `max_seconds`.

    If many callers wait for the same thing, they add jitter themselves.
    """

    first_seconds: float
    max_seconds: float

    def seconds(self, failures: int) -> float:
        """Return the wait after `failures` failures in a row; `failures` is at least 1."""
        return min(self.first_seconds * 2.0 ** min(failures - 1, _MAX_DOUBLINGS), self.max_seconds)

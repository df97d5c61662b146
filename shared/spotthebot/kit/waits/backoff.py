"""Exponential backoff: waits that double after each failure in a row."""

from dataclasses import dataclass
from typing import Final

_MAX_DOUBLINGS: Final = 64
"""Floats overflow after a thousand failures, which a database that is away for an hour reaches."""


@dataclass(frozen=True)
class Backoff:
    """Waits from `first_seconds` to `max_seconds`; callers add jitter where many wait for the same."""

    first_seconds: float
    max_seconds: float

    def seconds(self, failures: int) -> float:
        """Return the wait after so many failures, at least one."""
        return min(self.first_seconds * 2.0 ** min(failures - 1, _MAX_DOUBLINGS), self.max_seconds)

"""How a bot is spared: requests per minute, a budget for retries, and a circuit that opens when it keeps failing.

All of it is arithmetic over a clock that the caller reads (seconds, monotonic), so that nothing here sleeps.
"""

from dataclasses import dataclass, field

FAILURES_TO_OPEN = 5
"""Failures in a row, with no reply between them, after which a bot is asked nothing but probes."""
_RETRIES_PER_REPLY = 0.1
_MAX_RETRIES_SAVED = 10.0


@dataclass
class Pace:
    """A token bucket that books ahead: each call is told how long to wait for its turn."""

    per_minute: int | None
    _next: float = field(default=0.0, init=False)

    def wait_seconds(self, now: float, longest: float) -> float | None:
        """Book the next place and return the wait; None, with nothing booked, where that were longer than `longest`.

        As many as fit into one second may come at once; beyond that they are spread evenly.
        """
        if self.per_minute is None:
            return 0.0
        interval = 60.0 / self.per_minute
        burst = max(1.0, self.per_minute / 60.0)
        earliest = max(self._next, now - interval * (burst - 1))
        wait = max(0.0, earliest - now)
        if wait > longest:
            return None
        self._next = earliest + interval
        return wait


@dataclass
class RetryBudget:
    """Retries are earned by replies, one for ten, so that a bot in trouble is not asked twice as much."""

    _saved: float = field(default=_MAX_RETRIES_SAVED, init=False)

    def earn(self) -> None:
        self._saved = min(_MAX_RETRIES_SAVED, self._saved + _RETRIES_PER_REPLY)

    def spend(self) -> bool:
        """Take one retry; False where none is left."""
        if self._saved < 1:
            return False
        self._saved -= 1
        return True


@dataclass
class Circuit:
    """Opens at the fifth failure in a row; closed again from outside, when a probe succeeded."""

    _failures: int = field(default=0, init=False)

    @property
    def is_open(self) -> bool:
        return self._failures >= FAILURES_TO_OPEN

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> bool:
        """Count a failure; True where it is the one that opens the circuit."""
        self._failures += 1
        return self._failures == FAILURES_TO_OPEN

    def close(self) -> None:
        self._failures = 0

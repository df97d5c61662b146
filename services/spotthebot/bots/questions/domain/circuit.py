"""A circuit breaker: after five failures in a row a bot gets no questions until a probe succeeds."""

from dataclasses import dataclass, field

FAILURES_TO_OPEN = 5
"""Failures in a row, with no reply between them, that open the circuit."""


@dataclass
class Circuit:
    """Counts failures in a row, and opens at the fifth failure. Its owner closes it after a successful probe."""

    _failures: int = field(default=0, init=False)

    @property
    def is_open(self) -> bool:
        return self._failures >= FAILURES_TO_OPEN

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> bool:
        """Count a failure; return True if it opens the circuit."""
        self._failures += 1
        return self._failures == FAILURES_TO_OPEN

    def close(self) -> None:
        self._failures = 0

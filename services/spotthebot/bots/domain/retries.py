"""Retries of one question to a bot: how many attempts, how long to back off between them, and within which budget."""

import random
from dataclasses import dataclass, field

MAX_ATTEMPTS = 4
"""Attempts for one question, the first one included."""
_FIRST_WAIT_SECONDS = 0.1
_RETRIES_PER_REPLY = 0.1
_MAX_RETRIES_SAVED = 10.0
_jitter = random.SystemRandom()


def backoff_seconds(attempts: int) -> float:
    """Return the wait after so many failed attempts: doubled for each, with jitter between half and all of it."""
    return _jitter.uniform(0.5, 1.0) * _FIRST_WAIT_SECONDS * 2.0 ** (attempts - 1)


@dataclass
class RetryBudget:
    """Ten replies earn one retry, up to ten retries, so that a bot in trouble gets few more requests than usual."""

    _saved: float = field(default=_MAX_RETRIES_SAVED, init=False)

    def earn(self) -> None:
        self._saved = min(_MAX_RETRIES_SAVED, self._saved + _RETRIES_PER_REPLY)

    def spend(self) -> bool:
        """Spend one retry; return False if none is left."""
        if self._saved < 1:
            return False
        self._saved -= 1
        return True

"""Retries of one question to a bot: the number of attempts, the backoff between them, and the budget for retries."""

import random
from typing import Final

from spotthebot.kit.waits.backoff import Backoff
from spotthebot.kit.waits.token_bucket import TokenBucket

MAX_ATTEMPTS = 4
"""The number of attempts for one question, including the first."""
_BACKOFF: Final = Backoff(first_seconds=0.1, max_seconds=0.4)
_RETRIES_PER_REPLY = 0.1
_MAX_RETRIES_SAVED = 10.0
_jitter = random.SystemRandom()


def backoff_seconds(attempts: int) -> float:
    """Return the seconds to wait after this many failed attempts.

    The wait doubles with each attempt. Then it is drawn at random between half of this time and all of it.
    """
    return _jitter.uniform(0.5, 1.0) * _BACKOFF.seconds(attempts)


class RetryBudget:
    """Ten replies earn one retry; at most ten retries are saved. So a bot in trouble gets few additional requests."""

    def __init__(self) -> None:
        self._retries = TokenBucket(_RETRIES_PER_REPLY, _MAX_RETRIES_SAVED)
        self._replies = 0
        """The bucket's clock."""

    def earn(self) -> None:
        self._replies += 1

    def spend(self) -> bool:
        """Spend one retry; return False if none is left."""
        return self._retries.take(self._replies) is not None

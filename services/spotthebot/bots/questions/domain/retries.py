"""When a bot is asked: rate, retries with their backoff and budget, pauses that its server requests, an open circuit.

All times are seconds of a monotonic clock that the caller reads; this module never sleeps.
"""

import math
import random
from dataclasses import dataclass, field
from typing import Final

from spotthebot.kit.waits.backoff import Backoff
from spotthebot.kit.waits.token_bucket import TokenBucket

MAX_ATTEMPTS = 4
"""The number of attempts for one question, including the first."""
_BACKOFF: Final = Backoff(first_seconds=0.1, max_seconds=0.4)
_RETRIES_PER_REPLY = 0.1
_MAX_RETRIES_SAVED = 10.0
_jitter = random.SystemRandom()
FAILURES_TO_OPEN = 5
"""Failures in a row, with no reply between them, that open the circuit."""
_UNNAMED: Final = Backoff(first_seconds=1.0, max_seconds=60.0)


@dataclass
class Pause:
    """The pause of one bot: as long as its server says; else doubled for each rate limit in a row, up to a minute."""

    in_doubt: bool = field(default=False, init=False)
    """Whether a single request should find out if the limit still holds."""
    _until: float = field(default=0.0, init=False)
    _unnamed: int = field(default=0, init=False)

    def left(self, now: float) -> float:
        """Return how long the pause still lasts; 0 without a pause."""
        return max(0.0, self._until - now)

    def begin(self, now: float, seconds: float) -> bool:
        """Begin a pause; return whether the new pause ends at least a second later than the present pause."""
        is_longer = now + seconds >= max(self._until, now) + 1
        self._until = max(self._until, now + seconds)
        return is_longer

    def unnamed_seconds(self, now: float) -> float:
        """Return the seconds of the pause for a rate limit whose answer states no duration.

        Requests that were pending together met the same limit, so it counts once.
        """
        if self.left(now):
            return self.left(now)
        self._unnamed += 1
        return _UNNAMED.seconds(self._unnamed)

    def answered(self, *, is_reply: bool) -> None:
        """Record an answer other than a rate limit."""
        self.in_doubt = False
        if is_reply:
            self._unnamed = 0


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


def request_bucket(per_minute: int | None) -> TokenBucket:
    """Return a bucket with a token for each request that may begin; its clock counts seconds. None means no limit."""
    per_second = math.inf if per_minute is None else per_minute / 60
    return TokenBucket(per_second, max(1.0, per_second))

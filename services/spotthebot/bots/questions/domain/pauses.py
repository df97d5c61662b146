"""Pauses that a bot's server requests: during a pause no question reaches the bot.

All times are seconds of a monotonic clock that the caller reads; this module never sleeps.
"""

from dataclasses import dataclass, field
from typing import Final

from spotthebot.kit.waits.backoff import Backoff

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

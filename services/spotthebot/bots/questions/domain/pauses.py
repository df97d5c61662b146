"""Pauses that a bot's server asks for: while one lasts, no conversation's question reaches the bot.

It is arithmetic over a monotonic clock that the caller reads, in seconds: nothing here sleeps.
"""

from dataclasses import dataclass, field
from typing import Final

from spotthebot.kit.waits.backoff import Backoff

_UNNAMED: Final = Backoff(first_seconds=1.0, max_seconds=60.0)


@dataclass
class Pause:
    """The pause of one bot: as long as its server says, else doubled for each rate limit in a row, up to a minute."""

    in_doubt: bool = field(default=False, init=False)
    """Whether one request alone should find out if the limit still holds."""
    _until: float = field(default=0.0, init=False)
    _unnamed: int = field(default=0, init=False)

    def left(self, now: float) -> float:
        """Return how long the pause still lasts; 0 where there is none."""
        return max(0.0, self._until - now)

    def begin(self, now: float, seconds: float) -> bool:
        """Pause for so long; returns whether that is longer than the present pause, by a second at least."""
        is_longer = now + seconds >= max(self._until, now) + 1
        self._until = max(self._until, now + seconds)
        return is_longer

    def unnamed_seconds(self, now: float) -> float:
        """Return the pause for a rate limit whose server does not say how long it lasts.

        Requests that were under way together met the same limit: it counts once.
        """
        if self.left(now):
            return self.left(now)
        self._unnamed += 1
        return _UNNAMED.seconds(self._unnamed)

    def answered(self, *, is_reply: bool) -> None:
        """Note an answer that is no rate limit."""
        self.in_doubt = False
        if is_reply:
            self._unnamed = 0

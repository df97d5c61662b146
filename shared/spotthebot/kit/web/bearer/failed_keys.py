"""A limit on requests without a valid API key, by address.

Every key is looked up before it is counted as failed, and look-ups go to the database in batches, two at a time: a
flood of made-up keys costs the database little. So a valid key behind the same address is never refused.
"""

from spotthebot.kit.errors import TooMany
from spotthebot.kit.serving.connections import network_of
from spotthebot.kit.web.core.rate_limits import RateLimiter


class TooManyFailedKeys(TooMany):
    """Too many requests without a valid API key came from this address: try again in {retry_after_seconds} s."""


class FailedKeys:
    """Counts failures by address; of more than ten thousand addresses those seen least recently are forgotten."""

    def __init__(self, per_minute: int) -> None:
        self._limiter = RateLimiter(per_minute)

    def count(self, host: str) -> None:
        """Count a failure; raises TooManyFailedKeys beyond the limit."""
        wait = self._limiter.acquire(network_of(host)).retry_after_seconds
        if wait:
            raise TooManyFailedKeys(retry_after_seconds=wait)

"""Limits the requests without a valid API key from each address.

A key counts as failed only after its look-up, so a valid key from the same address is never refused. Look-ups go to the
database in batches, at most two at a time, so a flood of invented keys costs the database little.
"""

from spotthebot.kit.errors import TooMany
from spotthebot.kit.serving.connections import network_of
from spotthebot.kit.web.core.rate_limits import RateLimiter


class TooManyFailedKeys(TooMany):
    """Too many requests without a valid API key came from this address: try again in {retry_after_seconds} s."""


class FailedKeys:
    """Counts failures by address. Beyond ten thousand addresses, the address seen longest ago is forgotten."""

    def __init__(self, per_minute: int) -> None:
        self._limiter = RateLimiter(per_minute)

    def count(self, host: str) -> None:
        """Count a failure; raises TooManyFailedKeys beyond the limit."""
        wait = self._limiter.acquire(network_of(host)).retry_after_seconds
        if wait:
            raise TooManyFailedKeys(retry_after_seconds=wait)

"""The limit on a bot's requests per minute: spread evenly; the requests of one second may begin at once."""

import math

from spotthebot.kit.waits.token_bucket import TokenBucket


def request_bucket(per_minute: int | None) -> TokenBucket:
    """Return a bucket with a token for each request that may begin; its clock counts seconds. None means no limit."""
    per_second = math.inf if per_minute is None else per_minute / 60
    return TokenBucket(per_second, max(1.0, per_second))

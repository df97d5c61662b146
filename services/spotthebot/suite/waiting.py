"""Waits for what a service does in the background."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from spotthebot.kit.client import ServiceClient
from spotthebot.kit.errors import Unavailable

_PAUSE_SECONDS = 0.2


class NoProgress(Unavailable):
    """{what} has not moved for {seconds} s: the logs of the services say why."""


async def until(
    client: ServiceClient,
    path: str,
    done: Callable[[dict[str, Any]], bool],
    what: str,
    *,
    told: Callable[[dict[str, Any]], None] | None = None,
    patience_seconds: float = 300,
) -> dict[str, Any]:
    """Read a resource until it is done; raises NoProgress when it stays the same for too long."""
    last: dict[str, Any] = {}
    moved = time.monotonic()
    while True:
        found: dict[str, Any] = await client.get(path)
        if told is not None:
            told(found)
        if done(found):
            return found
        if found != last:
            last, moved = found, time.monotonic()
        if time.monotonic() - moved > patience_seconds:
            raise NoProgress(what=what, seconds=patience_seconds)
        await asyncio.sleep(_PAUSE_SECONDS)

"""Polls a service until its work in the background is done."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from spotthebot.kit.client import ServiceClient
from spotthebot.kit.errors import Unavailable

_PAUSE_SECONDS = 0.2


class NoProgress(Unavailable):
    """{what} made no progress for {seconds} s: the logs of the services say why."""


async def poll_until(
    client: ServiceClient,
    path: str,
    done: Callable[[dict[str, Any]], bool],
    what: str,
    *,
    on_progress: Callable[[dict[str, Any]], None] | None = None,
    patience_seconds: float = 300,
) -> dict[str, Any]:
    """Read a resource until it is done; raises NoProgress when it stays the same for too long."""
    last: dict[str, Any] = {}
    moved = time.monotonic()
    while True:
        found: dict[str, Any] = await client.get(path)
        if on_progress is not None:
            on_progress(found)
        if done(found):
            return found
        if found != last:
            last, moved = found, time.monotonic()
        if time.monotonic() - moved > patience_seconds:
            raise NoProgress(what=what, seconds=patience_seconds)
        await asyncio.sleep(_PAUSE_SECONDS)

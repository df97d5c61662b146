"""Endless loops that run beside a block and end when they are cancelled, even where a library loses the cancellation.

`asyncio.wait_for` of Python 3.11, in psycopg's pool, drops a cancellation that comes as its work ends. A task that
lost one goes on, and what waits for its end waits for ever.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


def raise_if_cancelled() -> None:
    """Raise CancelledError where the present task was cancelled before, whether or not anything raised it then."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def pause(seconds: float) -> None:
    """Sleep between two rounds of an endless loop; raises CancelledError, also for a cancellation that was lost."""
    raise_if_cancelled()
    await asyncio.sleep(seconds)


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run a loop while the block lasts, then cancel it; raises at the end what ended the loop before."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

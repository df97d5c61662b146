"""Runs endless loops next to a block. They end when they are cancelled, even if a library loses the cancellation.

In Python 3.11 `asyncio.wait_for`, which psycopg's pool uses, drops a cancellation that arrives just when its work ends.
A task that lost its cancellation continues, and code that waits for the task's end waits for ever.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


def raise_if_cancelled() -> None:
    """Raise CancelledError if the current task was ever cancelled, even if a library lost this cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def pause(seconds: float) -> None:
    """Sleep between two rounds of an endless loop. Raises CancelledError, even if a library lost the cancellation."""
    raise_if_cancelled()
    await asyncio.sleep(seconds)


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run a loop while the block runs, and cancel it at the end. If the loop has failed before, raise its error."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

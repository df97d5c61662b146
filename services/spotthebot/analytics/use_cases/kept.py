"""Answers that are kept for some seconds, for askers who could else make a service work without end."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

_Answer = TypeVar("_Answer")


class Kept(Generic[_Answer]):
    """One answer, asked for again after some seconds at the earliest; who asks meanwhile waits for the same."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._asked: asyncio.Task[_Answer] | None = None
        self._asked_at = 0.0

    async def get(self, ask: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
        """Return the kept answer, or ask for one; one that failed is not kept."""
        if self._asked is None or self._is_over(self._asked):
            self._asked = asyncio.create_task(ask())
            self._asked_at = self._clock()
        # Others wait for the same answer when one of them gives up.
        return await asyncio.shield(self._asked)

    def _is_over(self, asked: asyncio.Task[_Answer]) -> bool:
        if not asked.done():
            return False
        has_failed = asked.cancelled() or asked.exception() is not None
        return has_failed or self._clock() - self._asked_at >= self._seconds

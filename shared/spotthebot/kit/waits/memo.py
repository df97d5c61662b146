"""Answers that are kept for some time, so that many who ask cost no more than one."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

from cachetools import TTLCache

_Key = TypeVar("_Key", bound=Hashable)
_Answer = TypeVar("_Answer")


class Memo(Generic[_Key, _Answer]):
    """Keeps an answer for `seconds` from when it came, and the `max_kept` that were asked for last.

    Callers that ask for a key at the same time wait for one answer, however long it takes; a caller that gives up ends
    nothing. An answer that failed is not kept: all who wait get the error, and the next caller asks again.
    """

    def __init__(self, *, seconds: float, max_kept: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: TTLCache[_Key, _Answer] = TTLCache(max_kept, seconds, clock)
        self._asked: dict[_Key, asyncio.Task[_Answer]] = {}

    def __contains__(self, key: _Key) -> bool:
        """Return whether a caller would get an answer that is there or was asked for already."""
        return key in self._asked or key in self._kept

    async def get(self, key: _Key, ask: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
        """Return the answer for a key, by `ask` where there is none; raises what that raises."""
        with suppress(KeyError):
            return self._kept[key]
        if key not in self._asked:
            self._asked[key] = task = asyncio.create_task(ask())
            task.add_done_callback(partial(self._answered, key))
        return await asyncio.shield(self._asked[key])

    async def cancel(self) -> None:
        """Cancel all questions that have no answer yet."""
        asked = list(self._asked.values())
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    def _answered(self, key: _Key, task: asyncio.Task[_Answer]) -> None:
        del self._asked[key]
        if not task.cancelled() and task.exception() is None:
            self._kept[key] = task.result()

"""Cached answers. If many callers ask for the same thing at the same time, it is computed only once."""

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
    """Caches each answer for `seconds` after it arrived. Keeps the `max_kept` answers that were used most recently.

    Callers that ask for the same key at the same time wait for one answer, however long it takes. A caller that is
    cancelled does not cancel the computation. A failure is not cached: all waiting callers get the error, and the next
    caller asks again.
    """

    def __init__(self, *, seconds: float, max_kept: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: TTLCache[_Key, _Answer] = TTLCache(max_kept, seconds, clock)
        self._asked: dict[_Key, asyncio.Task[_Answer]] = {}

    def __contains__(self, key: _Key) -> bool:
        """Return whether the answer for a key is cached or being fetched."""
        return key in self._asked or key in self._kept

    async def get(self, key: _Key, ask: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
        """Return the cached answer for a key.

        If there is none, return the result of `ask`; raises the errors of `ask`.
        """
        with suppress(KeyError):
            return self._kept[key]
        if key not in self._asked:
            self._asked[key] = task = asyncio.create_task(ask())
            task.add_done_callback(partial(self._answered, key))
        return await asyncio.shield(self._asked[key])

    async def cancel(self) -> None:
        """Cancel all calls of `ask` that are still running."""
        asked = list(self._asked.values())
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    def _answered(self, key: _Key, task: asyncio.Task[_Answer]) -> None:
        del self._asked[key]
        if not task.cancelled() and task.exception() is None:
            self._kept[key] = task.result()

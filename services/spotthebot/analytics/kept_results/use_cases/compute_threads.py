"""Threads that compute results and draw figures, off the event loop.

A computation needs many times the memory of its result. glibc would keep most of this memory in a heap of the thread,
until the thread ends. So freed memory is returned to the system.
"""

import asyncio
import contextvars
import ctypes
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from spotthebot.analytics.kept_results.errors import TooManyResults
from spotthebot.kit.database.pool_shares import pool_user

_P = ParamSpec("_P")
_Found = TypeVar("_Found")
_THREADS: Final = 2
"""More threads compute nothing sooner, since they share one lock, and each needs memory at the same time."""
_SHARE: Final = 1
"""The limit of threads for the computations of one API key, so that one is left for the other keys."""
_MAX_WAITING: Final = 100
"""The limit of computations of one API key that wait for a thread."""
_MALLOC_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""A function of glibc; other C libraries lack it."""


class ComputeThreads:
    """A few threads. Each API key may use a share of them, and waiting keys take turns."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="compute")
        self._running = Counter[str | None]()
        self._waiting: OrderedDict[str | None, deque[asyncio.Future[None]]] = OrderedDict()
        self._started: set[asyncio.Task[Any]] = set()

    async def run(self, function: Callable[_P, _Found], *args: _P.args, **kwargs: _P.kwargs) -> _Found:
        """Call a function in one of the threads, in the caller's context, and return its result.

        A call that is cancelled leaves the queue. Once a thread has started the function, the function runs to its end.
        Raises TooManyResults if too many calls of the same API key wait.
        """
        user = pool_user.get()
        name = None if user is None else user.name
        await self._take_thread(name)
        context, loop = contextvars.copy_context(), asyncio.get_running_loop()

        def compute() -> _Found:
            try:
                return context.run(function, *args, **kwargs)
            finally:
                if _MALLOC_TRIM is not None:
                    _MALLOC_TRIM(0)

        if (task := asyncio.current_task()) is not None:
            self._started.add(task)
            task.add_done_callback(self._started.discard)
        found = self._threads.submit(compute)
        found.add_done_callback(lambda _: loop.call_soon_threadsafe(self._give_back, name))
        return await asyncio.wrap_future(found)

    def has_started(self, task: asyncio.Task[Any]) -> bool:
        """Return whether a thread has started to compute for a task. From then on it can't be cancelled."""
        return task in self._started

    def close(self) -> None:
        """Start no further computations."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _take_thread(self, name: str | None) -> None:
        waiting = self._waiting.setdefault(name, deque())
        if name is not None and len(waiting) >= _MAX_WAITING:
            raise TooManyResults(waiting=len(waiting), retry_after_seconds=5)
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        self._grant()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(name)
            else:
                self._leave(name, turn)
            raise

    def _leave(self, name: str | None, turn: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(name, deque())
        if turn in waiting:  # unless its place in the queue came up before the loop told the call that it is cancelled
            waiting.remove(turn)
            if not waiting:
                del self._waiting[name]

    def _give_back(self, name: str | None) -> None:
        self._running[name] -= 1
        self._grant()

    def _grant(self) -> None:
        """Assign free threads to waiting keys that use less than their share, in turns.

        The suite's own services have no limit.
        """
        for name in [*self._waiting]:
            if self._running.total() >= _THREADS:
                return
            if name is not None and self._running[name] >= _SHARE:
                continue
            if (turn := self._next_turn(name)) is not None:
                self._running[name] += 1
                turn.set_result(None)

    def _next_turn(self, name: str | None) -> asyncio.Future[None] | None:
        """Take a key's next turn out of the queue, and put the key behind all others. Cancelled turns are dropped."""
        waiting = self._waiting.pop(name)
        while waiting and waiting[0].cancelled():
            waiting.popleft()
        turn = waiting.popleft() if waiting else None
        if waiting:
            self._waiting[name] = waiting
        return turn

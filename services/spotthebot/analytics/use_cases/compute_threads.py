"""Threads in which results are computed and figures drawn, off the event loop.

A computation takes many times the memory of what it finds. glibc would keep most of it for later, in a heap of each
thread that only its end could shrink; here it goes back to the system.
"""

import asyncio
import contextvars
import ctypes
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from spotthebot.kit.database.pool_shares import pool_user
from spotthebot.kit.errors import TooMany

_P = ParamSpec("_P")
_Found = TypeVar("_Found")
_THREADS: Final = 2
"""More would compute nothing sooner, since they share one lock, and each needs its own memory at the same time."""
_SHARE: Final = 1
"""Threads that the computations of one API key hold at most: a thread stays for the other keys."""
_MAX_WAITING: Final = 100
"""Computations of one API key that wait for a thread."""
_MALLOC_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""glibc's own; other C libraries have none."""


class TooManyResults(TooMany):
    """{waiting} results wait for this API key already: try again in {retry_after_seconds} s."""


class ComputeThreads:
    """A few threads, of which each API key has a share; the keys that wait take turns."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="compute")
        self._running = Counter[str | None]()
        self._waiting: OrderedDict[str | None, deque[asyncio.Future[None]]] = OrderedDict()
        self._started: set[asyncio.Task[Any]] = set()

    async def run(self, function: Callable[_P, _Found], *args: _P.args, **kwargs: _P.kwargs) -> _Found:
        """Return what a function returns that is called in one of the threads, in the caller's context.

        A cancelled call leaves the queue; once a thread runs the function, it runs to its end. Raises TooManyResults.
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
        """Return whether a thread has started to compute for a task, which can't be taken back."""
        return task in self._started

    def close(self) -> None:
        """Begin nothing more."""
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
        self._waiting[name].remove(turn)
        if not self._waiting[name]:
            del self._waiting[name]

    def _give_back(self, name: str | None) -> None:
        self._running[name] -= 1
        self._grant()

    def _grant(self) -> None:
        """Give free threads to keys below their share, each in its turn; our own services have no share."""
        for name in [*self._waiting]:
            if self._running.total() >= _THREADS:
                return
            if name is not None and self._running[name] >= _SHARE:
                continue
            turn = self._waiting[name].popleft()
            self._waiting.move_to_end(name)
            if not self._waiting[name]:
                del self._waiting[name]
            self._running[name] += 1
            turn.set_result(None)

"""Computations that several callers share, in threads off the event loop.

Each runs once, and is cancelled when its last caller leaves. A computation needs many times the memory of its result.
glibc would keep most of this memory in a heap of the thread, until the thread ends. So freed memory is returned to the
system.
"""

import asyncio
import contextvars
import ctypes
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Generic, ParamSpec, TypeVar

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
_Key = TypeVar("_Key", bound=Hashable)
_Answer = TypeVar("_Answer")


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


class SharedTasks(Generic[_Key, _Answer]):
    """Runs one task for each key at a time.

    A task is cancelled when all its callers have left. If a thread is already computing, the task continues instead,
    and later callers find the stored result.
    """

    def __init__(self, threads: ComputeThreads) -> None:
        self._threads = threads
        self._tasks: dict[_Key, asyncio.Task[_Answer]] = {}
        self._waiters = Counter[asyncio.Task[_Answer]]()

    def begin(self, key: _Key, work: Callable[[], Coroutine[Any, Any, _Answer]]) -> asyncio.Task[_Answer]:
        """Return the task of a key. If no such task is running, start one.

        The task continues even if no caller waits for it.
        """
        if key not in self._tasks:
            task = self._tasks[key] = asyncio.create_task(work())
            task.add_done_callback(lambda done: self._end(key, done))
        return self._tasks[key]

    async def get(self, key: _Key, work: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
        """Return the result of the key's task; raises the task's errors."""
        task = self.begin(key, work)
        self._waiters[task] += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiters[task] -= 1
            if not self._waiters[task]:
                del self._waiters[task]
                if not (task.done() or self._threads.has_started(task)):
                    self._forget(key, task)
                    task.cancel()

    def _end(self, key: _Key, done: asyncio.Task[_Answer]) -> None:
        self._forget(key, done)
        if not done.cancelled():
            done.exception()  # retrieved here, since no caller may be waiting for it

    def _forget(self, key: _Key, task: asyncio.Task[_Answer]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

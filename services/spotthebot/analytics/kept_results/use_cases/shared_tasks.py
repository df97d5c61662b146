"""Computations that several callers share. Each runs once, and is cancelled when its last caller leaves."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads

_Key = TypeVar("_Key", bound=Hashable)
_Answer = TypeVar("_Answer")


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

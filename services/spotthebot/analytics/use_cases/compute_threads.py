"""Threads in which results are computed and figures drawn, off the event loop.

A computation takes many times the memory of what it finds. glibc would keep most of it for later, in a heap of each
thread that only its end could shrink; here it goes back to the system.
"""

import asyncio
import contextvars
import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

_P = ParamSpec("_P")
_Found = TypeVar("_Found")
_THREADS: Final = 2
"""More would compute nothing sooner, since they share one lock, and each needs its own memory at the same time."""
_MALLOC_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""glibc's own; other C libraries have none."""


class ComputeThreads:
    """A few threads; what is to be computed waits for a free one, first come, first served."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="compute")

    async def run(self, function: Callable[_P, _Found], *args: _P.args, **kwargs: _P.kwargs) -> _Found:
        """Return what a function returns that is called in one of the threads, in the caller's context."""
        context = contextvars.copy_context()

        def compute() -> _Found:
            try:
                return context.run(function, *args, **kwargs)
            finally:
                if _MALLOC_TRIM is not None:
                    _MALLOC_TRIM(0)

        return await asyncio.get_running_loop().run_in_executor(self._threads, compute)

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

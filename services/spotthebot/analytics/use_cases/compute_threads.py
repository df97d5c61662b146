"""Threads in which results are computed and figures drawn, off the event loop."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

_P = ParamSpec("_P")
_Found = TypeVar("_Found")
_THREADS: Final = 2
"""More would compute nothing sooner, since they share one lock, and each needs its own memory at the same time."""


class ComputeThreads:
    """A few threads; what is to be computed waits for a free one, first come, first served."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="compute")

    async def run(self, function: Callable[_P, _Found], *args: _P.args, **kwargs: _P.kwargs) -> _Found:
        """Return what a function returns that is called in one of the threads, in the caller's context."""
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: context.run(function, *args, **kwargs)
        )

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

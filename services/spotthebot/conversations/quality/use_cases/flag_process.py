"""A separate process that computes flags from texts, so that models use memory only while they are needed.

The worker's event loop stays free for the turn loop.
"""

import asyncio
import multiprocessing
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager

from spotthebot.conversations.quality.domain.flags import TextFlags

FlagTexts = Callable[[Sequence[Sequence[str]]], Awaitable[list[TextFlags]]]


@asynccontextmanager
async def flag_process() -> AsyncIterator[FlagTexts]:
    """Yield the function that flags texts in another process, which runs from the first call to the end of the block.

    The process also ends when its parent ends in any way. The function raises BrokenProcessPool if the process itself
    dies.
    """
    context = multiprocessing.get_context("spawn")  # a fork would take the worker's connections along
    pool = ProcessPoolExecutor(max_workers=1, mp_context=context, initializer=_end_with_parent)

    async def flag(texts: Sequence[Sequence[str]]) -> list[TextFlags]:
        return await asyncio.get_running_loop().run_in_executor(pool, _flag, texts)

    try:
        yield flag
    finally:
        await asyncio.shield(asyncio.to_thread(pool.shutdown, cancel_futures=True))


def _flag(texts: Sequence[Sequence[str]]) -> list[TextFlags]:
    from spotthebot.conversations.quality.domain.flag_texts import flag_texts  # noqa: PLC0415 - its models stay there

    return flag_texts(texts)


def _end_with_parent() -> None:
    """End this process when its parent ends. The queue of calls does not report that the parent was killed."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

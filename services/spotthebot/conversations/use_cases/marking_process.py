"""A process of its own for what texts say: it holds its models only while they are needed.

The worker's loop is left to the conversations that are being held.
"""

import asyncio
import multiprocessing
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager

from spotthebot.conversations.domain.quality.noted import TextMarks

MarkTexts = Callable[[Sequence[Sequence[str]]], Awaitable[list[TextMarks]]]


@asynccontextmanager
async def marking_process() -> AsyncIterator[MarkTexts]:
    """Give what marks texts in another process, which starts with the first of them and ends with the block.

    It ends with this process too, however that ends; raises BrokenProcessPool where it dies itself.
    """
    context = multiprocessing.get_context("spawn")  # a fork would take the worker's connections along
    pool = ProcessPoolExecutor(max_workers=1, mp_context=context, initializer=_end_with_parent)

    async def mark(texts: Sequence[Sequence[str]]) -> list[TextMarks]:
        return await asyncio.get_running_loop().run_in_executor(pool, _mark, texts)

    try:
        yield mark
    finally:
        await asyncio.shield(asyncio.to_thread(pool.shutdown, cancel_futures=True))


def _mark(texts: Sequence[Sequence[str]]) -> list[TextMarks]:
    from spotthebot.conversations.domain.quality.text_marks import mark_texts  # noqa: PLC0415 - its models stay there

    return mark_texts(texts)


def _end_with_parent() -> None:
    """Watch the parent: when it is killed, the queue that this process waits at would never say so."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

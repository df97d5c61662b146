"""What one API key asks for keeps no thread and no worker from the others, and nothing is computed for who has left."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spotthebot.analytics.kept_results.errors import TooManyResults
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads, SharedTasks
from spotthebot.kit.database.pool_shares import PoolUser, pool_user


@contextmanager
def _as(name: str | None) -> Iterator[None]:
    token = pool_user.set(None if name is None else PoolUser(name))
    yield
    pool_user.reset(token)


class _Work:
    """Computations that note when they begin, and last until they may end."""

    def __init__(self) -> None:
        self.threads = ComputeThreads()
        self.started: list[str] = []
        self.may_end = threading.Event()

    def begin(self, key: str | None, label: str) -> asyncio.Task[None]:
        with _as(key):
            return asyncio.create_task(self.threads.run(self.compute, label))

    def compute(self, label: str) -> None:
        self.started.append(label)
        assert self.may_end.wait(20)


async def _settled() -> None:
    """Let tasks and threads begin what they can."""
    await asyncio.sleep(0.2)


class TestComputeThreads:
    async def test_leave_a_thread_for_a_key_that_comes_while_another_fills_the_queue(self):
        work = _Work()
        tasks = [work.begin("flood", f"flood {number}") for number in range(60)]
        await _settled()
        tasks.append(work.begin("admin", "admin"))
        await _settled()
        assert work.started == ["flood 0", "admin"]
        work.may_end.set()
        await asyncio.gather(*tasks)
        assert len(work.started) == 61

    async def test_give_keys_that_wait_their_turns(self):
        work = _Work()
        held = [work.begin(None, "ours"), work.begin(None, "ours")]
        await _settled()
        tasks = [work.begin(key, key) for key in ("a", "a", "a", "b", "c")]
        await _settled()
        assert work.started == ["ours", "ours"]
        work.may_end.set()
        await asyncio.gather(*held, *tasks)
        assert set(work.started[2:4]) == {"a", "b"}

    async def test_lose_no_thread_to_a_call_that_is_cancelled_as_its_turn_comes(self):
        """The thread's end is in the loop's queue before the cancelled call's own end is."""
        work = _Work()
        first, second = work.begin("a", "first"), work.begin("a", "second")
        await _settled()
        work.may_end.set()
        time.sleep(0.3)  # noqa: ASYNC251 - the loop must not come to the thread's end before the next line
        second.cancel()
        ended = await asyncio.gather(first, second, return_exceptions=True)
        assert ended[0] is None
        assert isinstance(ended[1], asyncio.CancelledError)
        async with asyncio.timeout(10):
            await work.begin("a", "third")
        assert work.started == ["first", "third"]

    async def test_never_begin_what_was_cancelled_while_it_waited(self):
        work = _Work()
        first, *others = [work.begin("a", f"a {number}") for number in range(5)]
        await _settled()
        for task in others[:3]:
            task.cancel()
        await _settled()
        work.may_end.set()
        await asyncio.gather(first, others[3])
        assert work.started == ["a 0", "a 4"]

    async def test_keep_the_thread_of_a_cancelled_computation_until_it_has_ended(self):
        work = _Work()
        task = work.begin("a", "first")
        await _settled()
        task.cancel()
        second = work.begin("a", "second")
        await _settled()
        assert work.started == ["first"]
        work.may_end.set()
        await second

    async def test_refuse_a_key_that_waits_for_a_hundred_results(self):
        work = _Work()
        tasks = [work.begin("a", "a") for _ in range(101)]
        await _settled()
        with pytest.raises(TooManyResults):
            await work.begin("a", "one more")
        other = work.begin("b", "b")
        work.may_end.set()
        await asyncio.gather(*tasks, other)


class TestSharedTasks:
    async def test_end_with_the_last_who_waits_while_nothing_is_computed(self):
        work = _Work()
        shared = SharedTasks[str, None](work.threads)
        holder = work.begin("a", "holder")
        await _settled()

        async def compute() -> None:
            await work.threads.run(work.started.append, "shared")

        with _as("a"):
            waiters = [asyncio.create_task(shared.get("key", compute)) for _ in range(2)]
        await _settled()
        waiters[0].cancel()
        await _settled()
        assert set(shared._tasks) == {"key"}
        waiters[1].cancel()
        await _settled()
        assert not shared._tasks
        work.may_end.set()
        await holder
        assert work.started == ["holder"]

    async def test_go_on_once_a_thread_computes(self):
        work = _Work()
        shared = SharedTasks[str, str](work.threads)
        kept: list[str] = []

        async def compute() -> str:
            await work.threads.run(work.compute, "computed")
            kept.append("computed")
            return "answer"

        waiter = asyncio.create_task(shared.get("key", compute))
        await _settled()
        waiter.cancel()
        await _settled()
        work.may_end.set()
        async with asyncio.timeout(20):
            assert await shared.get("key", compute) == "answer"
        assert kept == ["computed"]

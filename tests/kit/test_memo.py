"""Answers that are kept: how long, how many, and who shares one."""

import asyncio
import math

import pytest

from spotthebot.kit.waits.memo import Memo


class Asked:
    """Counts the questions; each has its number as the answer, once the test lets it."""

    def __init__(self) -> None:
        self.questions = 0
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def __call__(self) -> int:
        self.questions += 1
        number = self.questions
        await self.go_on.wait()
        return number


class TestMemo:
    async def test_asks_again_when_the_time_is_over(self):
        now = 0.0
        memo, ask = Memo[str, int](seconds=5.0, clock=lambda: now), Asked()
        assert await memo.get("a", ask) == 1
        now = 4.9
        assert await memo.get("a", ask) == 1
        now = 5.1
        assert await memo.get("a", ask) == 2

    async def test_keeps_from_when_the_answer_came(self):
        now = 0.0
        memo, ask = Memo[str, int](seconds=5.0, clock=lambda: now), Asked()
        ask.go_on.clear()
        first = asyncio.create_task(memo.get("a", ask))
        await asyncio.sleep(0)
        now = 8.0
        second = asyncio.create_task(memo.get("a", ask))
        await asyncio.sleep(0)
        ask.go_on.set()
        assert [await first, await second, await memo.get("a", ask)] == [1, 1, 1]

    async def test_shares_one_question_that_nobody_keeps(self):
        memo, ask = Memo[str, int](seconds=0), Asked()
        assert await asyncio.gather(*(memo.get("a", ask) for _ in range(3))) == [1, 1, 1]
        assert await memo.get("a", ask) == 2

    async def test_goes_on_when_the_first_caller_gives_up(self):
        memo, ask = Memo[str, int](seconds=math.inf), Asked()
        ask.go_on.clear()
        first, second = (asyncio.create_task(memo.get("a", ask)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        ask.go_on.set()
        assert await second == 1

    async def test_raises_for_all_who_wait_and_keeps_no_error(self):
        memo, ask = Memo[str, int](seconds=math.inf), Asked()

        async def fail() -> int:
            raise LookupError

        failed = await asyncio.gather(*(memo.get("a", fail) for _ in range(2)), return_exceptions=True)
        assert [type(each) for each in failed] == [LookupError] * 2
        assert await memo.get("a", ask) == 1

    async def test_forgets_the_least_recently_used(self):
        memo, ask = Memo[str, int](seconds=math.inf, max_kept=2), Asked()
        for key in ("a", "b", "a", "c"):
            await memo.get(key, ask)
        assert [key in memo for key in "abc"] == [True, False, True]

    async def test_ends_what_is_asked_when_it_is_cancelled(self):
        memo, ask = Memo[str, int](seconds=math.inf), Asked()
        ask.go_on.clear()
        waiting = asyncio.create_task(memo.get("a", ask))
        await asyncio.sleep(0)
        await memo.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert "a" not in memo

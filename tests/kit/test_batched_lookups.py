import asyncio
from collections.abc import Mapping, Sequence

import pytest

from spotthebot.kit.database.statement_pool import BatchedLookup


class Answers:
    """Answers batches of keys when it is released, and notes them."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.release = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, keys: Sequence[int]) -> Mapping[int, str]:
        self.batches.append(list(keys))
        await self.release.wait()
        if self.error is not None:
            raise self.error
        return {key: f"row {key}" for key in keys if key}


async def _rest() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class TestBatches:
    async def test_join_keys_that_are_asked_for_at_the_same_time(self):
        answers = Answers()
        answers.release.set()
        lookup = BatchedLookup(answers)
        assert await asyncio.gather(*map(lookup.find, [1, 2, 1, 0])) == ["row 1", "row 2", "row 1", None]
        assert answers.batches == [[1, 2, 0]]

    async def test_take_no_more_keys_once_they_were_sent(self):
        """Else a key that was revoked before a request came could still let it in."""
        answers = Answers()
        lookup = BatchedLookup(answers)
        first = asyncio.create_task(lookup.find(1))
        await _rest()
        second = asyncio.create_task(lookup.find(1))
        await _rest()
        assert answers.batches == [[1], [1]]
        answers.release.set()
        assert list(await asyncio.gather(first, second)) == ["row 1", "row 1"]

    async def test_wait_for_one_another_beyond_two_at_once(self):
        answers = Answers()
        lookup = BatchedLookup(answers)
        waiting = []
        for key in range(1, 6):
            waiting.append(asyncio.create_task(lookup.find(key)))
            await _rest()
        assert answers.batches == [[1], [2]]
        answers.release.set()
        assert await asyncio.gather(*waiting) == [f"row {key}" for key in range(1, 6)]
        assert answers.batches == [[1], [2], [3, 4, 5]]

    async def test_fail_for_everyone_in_them_and_nobody_else(self):
        answers = Answers()
        answers.error = LookupError("gone")
        answers.release.set()
        lookup = BatchedLookup(answers)
        ended = await asyncio.gather(lookup.find(1), lookup.find(2), return_exceptions=True)
        assert list(ended) == [answers.error] * 2
        answers.error = None
        assert await lookup.find(1) == "row 1"

    async def test_go_on_where_one_caller_leaves(self):
        answers = Answers()
        lookup = BatchedLookup(answers)
        leaving, staying = (asyncio.create_task(lookup.find(1)) for _ in range(2))
        await _rest()
        leaving.cancel()
        answers.release.set()
        assert await staying == "row 1"

    async def test_fail_for_those_who_stay_where_one_caller_leaves(self):
        answers = Answers()
        answers.error = LookupError("gone")
        lookup = BatchedLookup(answers)
        leaving, staying = (asyncio.create_task(lookup.find(1)) for _ in range(2))
        await _rest()
        leaving.cancel()
        answers.release.set()
        with pytest.raises(LookupError):
            await asyncio.wait_for(staying, 5)

    async def test_are_of_limited_size(self):
        answers = Answers()
        answers.release.set()
        lookup = BatchedLookup(answers)
        found = await asyncio.gather(*map(lookup.find, range(1, 502)))
        assert found == [f"row {key}" for key in range(1, 502)]
        assert [len(batch) for batch in answers.batches] == [200, 200, 101]

    async def test_cancel_their_callers_when_they_are_cancelled(self):
        async def stop(_keys: Sequence[int]) -> Mapping[int, str]:
            raise asyncio.CancelledError

        ended = await asyncio.wait_for(asyncio.gather(BatchedLookup(stop).find(1), return_exceptions=True), 5)
        assert [type(each) for each in ended] == [asyncio.CancelledError]

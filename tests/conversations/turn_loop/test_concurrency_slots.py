"""Concurrency slots keep all processes within a bot's concurrency, however their transactions overlap."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from sqlalchemy import text

from spotthebot.conversations.turn_loop.domain import SlotRequest
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.kit.database.sessions import Database
from tests.factories.databases import DatabaseUrls

JOB = 7


@pytest.fixture
async def database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    opened = Database(database_urls.app["conversations"], pool_size=8)
    yield opened
    await opened.close()


class TestRelease:
    async def test_batches_that_commit_at_once_release_every_slot_of_one_acquisition(self, database: Database):
        bots = [uuid4(), uuid4()]
        async with database.write() as session:
            acquired = await concurrency_slots_store.acquire(
                session, JOB, {bot: SlotRequest(40, limit=40, seconds=60) for bot in bots}
            )

        async def release(slots: int, *, backwards: bool) -> None:
            async with database.write() as session:
                order = sorted(acquired.values(), key=lambda each: each.id, reverse=backwards)
                await concurrency_slots_store.release(session, {each.id: slots for each in order})
                await asyncio.sleep(0.05)  # so that the others find the rows locked

        async with asyncio.timeout(20):
            await asyncio.gather(*(release(slots, backwards=slots % 2 == 0) for slots in (1, 2, 3, 34)))
        async with database.read() as reading:
            left = await reading.scalar(text("SELECT count(*) FROM conversations.concurrency_slots"))
        assert left == 0

    async def test_released_slots_can_be_acquired_again(self, database: Database):
        bot = uuid4()
        request = {bot: SlotRequest(3, limit=3, seconds=60)}
        async with database.write() as session:
            first = (await concurrency_slots_store.acquire(session, JOB, request))[bot]
            assert await concurrency_slots_store.acquire(session, JOB, request) == {}
            await concurrency_slots_store.release(session, {first.id: 2})
            assert (await concurrency_slots_store.acquire(session, JOB, request))[bot].slots == 2

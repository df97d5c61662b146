"""What is counted for metrics: rows on both sides of each condition."""

from datetime import timedelta

from sqlalchemy import func, insert

from spotthebot.conversations.collections.tables import TurnCountRow
from spotthebot.conversations.metrics import store as metrics_store
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")


class TestMetrics:
    async def test_waiting_turns_are_those_that_collecting_collections_have_planned_and_lack(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            before = await metrics_store.count(session)
            planned = {
                "conversations": 9,
                "complete": 2,
                "failed": 1,
                "cancelled": 1,
                "turns": 30,
                "turns_planned": 100,
            }
            mine = await store_collection(session, SIDES, created_at=func.now() - timedelta(hours=2), **planned)
            await store_collection(session, SIDES, mode="human_bot", **planned)
            await store_collection(session, SIDES, state="paused", **planned)
            counted = await metrics_store.count(session)
            for seconds, turns in ((30, 7), (100, 11)):
                at = func.now() - timedelta(seconds=seconds)
                await session.execute(insert(TurnCountRow).values(collection_id=mine, begins_at=at, turns=turns))
            just_now = {"state": "complete", "finished_at": func.now() - timedelta(seconds=5)}
            ended = await store_collection(session, SIDES, **just_now)
            at = func.now() - timedelta(seconds=40)
            await session.execute(insert(TurnCountRow).values(collection_id=ended, begins_at=at, turns=2))
            said = await metrics_store.count(session)
        assert counted.conversations_open - before.conversations_open == 9 - 2 - 1 - 1
        assert (counted.turns.waiting, counted.turns.oldest_seconds) == (100 - 30, 2 * 3600)
        assert (counted.turns_last_minute, said.turns_last_minute) == (0, 7 + 2)
        assert said.turns.oldest_seconds == 30
        assert counted.collections["paused"] - before.collections.get("paused", 0) == 1

    async def test_nothing_waits_where_every_conversation_has_ended(self, stored: SavepointDatabase):
        async with stored.write() as session:
            ended = {"conversations": 1, "failed": 1, "turns": 3, "turns_planned": 10}
            await store_collection(session, SIDES, created_at=func.now() - timedelta(hours=2), **ended)
            counted = await metrics_store.count(session)
        assert (counted.turns.waiting, counted.turns.oldest_seconds) == (0, 0)

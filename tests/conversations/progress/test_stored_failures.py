"""What the store counts of conversations that failed: rows on both sides of each condition."""

from spotthebot.conversations.progress import store as progress_store
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_conversations

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")


class TestFailures:
    async def test_are_counted_by_reason_and_by_the_bot_that_was_to_speak(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            for turns, failure in ((("a",), "x"), ((), "x"), (("a", "b"), "x"), ((), "y")):
                await store_conversations(session, mine, 1, turns=turns, state="failed", failure=failure)
            await store_conversations(session, mine, 1, state="cancelled", failure="x")
            found = await progress_store.list_failures(session, mine, offset=0, limit=9)
        assert [(each.bot, each.reason, each.conversations) for each in found] == [
            ("one", "x", 2),
            ("one", "y", 1),
            ("two", "x", 1),
        ]

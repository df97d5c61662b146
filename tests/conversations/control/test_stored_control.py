"""What the store changes where a collection is cancelled: rows on both sides of each condition."""

from spotthebot.conversations.control import store as control_store
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_conversations, value_of

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")


class TestCollections:
    async def test_cancelling_ends_what_runs_in_one_alone(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES) for _ in range(2)]
            running = await store_conversations(session, mine, 2, next_bot=ONE, runner_job_id=7)
            (complete,) = await store_conversations(session, mine, 1, state="complete")
            (elsewhere,) = await store_conversations(session, others, 1)
            assert await control_store.cancel_conversations(session, mine) == 2
            states = [await value_of(session, ConversationRow.state, each) for each in (*running, complete, elsewhere)]
            assert states == ["cancelled", "cancelled", "complete", "running"]
            assert await value_of(session, ConversationRow.runner_job_id, running[0]) is None
            assert await value_of(session, ConversationRow.next_bot, running[0]) is None

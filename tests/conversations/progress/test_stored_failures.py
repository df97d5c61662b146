"""What the store counts of conversations that failed: rows on both sides of each condition."""

from datetime import UTC, datetime, timedelta

from spotthebot.conversations.progress import store as progress_store
from spotthebot.conversations.progress.api import failure_out
from spotthebot.conversations.turn_loop.store.unavailable_bots import mark_unavailable
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

    async def test_include_the_paused_bots_that_conversations_wait_for_and_when_they_are_asked_again(
        self, stored: SavepointDatabase
    ):
        soon, later = (datetime.now(UTC) + timedelta(minutes=minutes) for minutes in (5, 6))
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            await store_conversations(session, mine, 1, next_bot=ONE, not_before=later)
            await store_conversations(session, mine, 1, next_bot=ONE, not_before=soon)
            await store_conversations(session, mine, 1, next_bot=ONE)
            await store_conversations(session, mine, 1, next_bot=ONE, not_before=later - timedelta(hours=1))
            await store_conversations(session, mine, 1, next_bot=ONE, not_before=later, attempts=1)  # it failed once
            await store_conversations(session, mine, 1, turns=("a",), next_bot=TWO, not_before=later)
            await mark_unavailable(session, TWO, name="two", reason="down")
            waiting, paused = sorted(
                await progress_store.list_failures(session, mine, offset=0, limit=9),
                key=lambda each: each.conversations,
            )
        assert (waiting.state, waiting.bot, waiting.conversations) == ("waiting", "two", 1)
        assert waiting.since is not None
        assert failure_out(waiting, 60.0).until == waiting.since + timedelta(minutes=1)
        assert (paused.state, paused.bot, paused.conversations) == ("paused", "one", 2)
        assert failure_out(paused, 60.0).until == soon

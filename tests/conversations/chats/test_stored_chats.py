"""What the store selects and changes of chats: rows on both sides of each condition."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, text

from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.conversations.chats.domain.chats import PERSON, BotProgress
from spotthebot.conversations.chats.errors import NoSuchChat
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import progress as progress_store
from spotthebot.conversations.chats.tables import ChatRow
from spotthebot.conversations.collections.tables import CollectionRow
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_chats, store_collection, store_conversations, value_of

ONE, TWO, THREE = new_ids(3)
SIDES = bot(ONE, "one"), bot(TWO, "two")
_DAY = timedelta(days=1)


class TestChats:
    async def test_one_that_is_not_there_is_named(self, stored: SavepointDatabase):
        async with stored.write() as session:
            for find in (chats_store.get_chat, chats_store.lock_chat):
                with pytest.raises(NoSuchChat, match=str(ONE)):
                    await find(session, ONE)

    async def test_one_of_several_is_the_one_that_was_asked_for(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, mode="human_bot")
            chats = await store_chats(session, mine, 2)
            for find in (chats_store.get_chat, chats_store.lock_chat):
                assert [(await find(session, each)).id for each in chats] == chats

    async def test_idle_ones_and_those_of_an_ended_collection_are_found(self, stored: SavepointDatabase):
        plan = {"abandoned_after_seconds": 60}
        async with stored.write() as session:
            open_, ended = [
                await store_collection(session, SIDES, mode="human_bot", plan=plan, state=state)
                for state in ("collecting", "complete")
            ]
            now = (await session.execute(select(func.now()))).scalar_one()
            idle, _ = [
                (await store_chats(session, open_, 1, last_turn_at=now - timedelta(seconds=seconds)))[0]
                for seconds in (61, 59)
            ]
            await store_chats(session, open_, 1, state="rated", last_turn_at=now - timedelta(hours=1))
            (left,) = await store_chats(session, ended, 1, last_turn_at=now)
            assert await chats_store.list_idle(session, limit=9) == sorted([idle, left])
            assert await chats_store.list_idle(session, limit=1) == [min(idle, left)]

    async def test_turns_that_people_wait_for_are_the_bots_the_longest_waits_first(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, (PERSON, SIDES[0]), mode="human_bot")
            awaited = await store_conversations(session, mine, 2, turns=("a",))
            (said,) = await store_conversations(session, mine, 1, turns=("a", "b"))
            (ended,) = await store_conversations(session, mine, 1, turns=("a",), state="cancelled")
            at = datetime(2026, 1, 1, tzinfo=UTC)
            chats = [
                (await store_chats(session, mine, 1, conversations=[ended, each], last_turn_at=at - number * _DAY))[0]
                for number, each in enumerate(awaited)
            ]
            await store_chats(session, mine, 1, conversations=[awaited[0], said])
            await store_chats(session, mine, 1, conversations=[ended])
            await store_chats(session, mine, 1, conversations=[awaited[0]], state="rating")
            found = await chats_store.list_unanswered(session)
        assert [(each.chat_id, each.conversation_id, each.turns) for each in found] == [
            (chats[1], awaited[1], 1),
            (chats[0], awaited[0], 1),
        ]

    async def test_turns_that_people_wait_for_may_be_the_first(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, (SIDES[0], PERSON), mode="human_bot")
            (started,) = await store_conversations(session, mine, 1)
            (said,) = await store_conversations(session, mine, 1, turns=("a",))
            (chat,) = await store_chats(session, mine, 1, conversations=[started])
            await store_chats(session, mine, 1, conversations=[said])
            found = await chats_store.list_unanswered(session)
        assert [(each.chat_id, each.conversation_id, each.turns) for each in found] == [(chat, started, 0)]

    async def test_a_persons_are_theirs_in_one_collection_and_draws_leave_out_the_abandoned(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES, mode="human_bot") for _ in range(2)]
            ids = await store_chats(session, mine, 2, bots=[ONE, TWO])
            await store_chats(session, mine, 1, bots=[TWO, ONE], interactor="bob", state="rated")
            await store_chats(session, mine, 1, bots=[THREE], interactor="bob", state="abandoned")
            await store_chats(session, others, 1, bots=[THREE])
            found = await chats_store.list_chats_of(session, mine, "ann")
            assert [each.id for each in found] == ids
            assert await chats_store.count_draws(session, mine) == {frozenset({ONE, TWO}): 3}
            assert [each.id for each in await chats_store.lock_chatting(session, mine)] == ids

    async def test_bots_have_the_conversations_that_people_rate_or_will_rate(self, stored: SavepointDatabase):
        rating = {"conversations": [{"number": 2, "scores": {"quality": 4}}]}
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES, mode="human_bot") for _ in range(2)]
            complete = await store_conversations(session, mine, 1, state="complete")
            failed = await store_conversations(session, mine, 1, state="failed")
            cancelled = await store_conversations(session, mine, 1, state="cancelled")
            running = await store_conversations(session, mine, 1)
            pair = {"bots": [ONE, TWO]}
            await store_chats(
                session, mine, 1, conversations=[*failed, *complete], ratings=rating, state="rated", **pair
            )
            await store_chats(session, mine, 1, conversations=running, **pair)  # the second bot is yet to come
            await store_chats(session, mine, 1, conversations=cancelled, state="abandoned", bots=[TWO, THREE])
            await store_chats(session, others, 1, **pair)
            held = await progress_store.count_held(session, mine)
            by_bot = await progress_store.count_by_bot(session, mine)
        assert held == {ONE: 1, TWO: 2}  # ONE: the running one; TWO: the complete one and the one to come
        assert by_bot == {
            ONE: BotProgress({"failed": 1, "running": 1}, rated=0),
            TWO: BotProgress({"complete": 1, "cancelled": 1}, rated=1),
        }

    async def test_a_conversation_is_cancelled_and_counted_once(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES, mode="human_bot", cancelled=5) for _ in range(2)]
            running, other = await store_conversations(session, mine, 2)
            for _ in range(2):
                await chats_store.cancel_conversation(session, running, "left")
            states = [await value_of(session, ConversationRow.state, each) for each in (running, other)]
            counts = [
                await session.scalar(select(CollectionRow.cancelled).where(CollectionRow.id == each))
                for each in (mine, others)
            ]
        assert states == [ConversationState.CANCELLED, ConversationState.RUNNING]
        assert counts == [6, 5]

    async def test_events_are_numbered_from_one_in_each(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, mode="human_bot")
            first, second = await store_chats(session, mine, 2)
            for each in (first, second, first):
                await chats_store.add_event(session, each, "turn", {"of": str(each)})
            events = await chats_store.list_events(session, first, after=0, limit=9)
            assert [(each.number, each.data) for each in events] == [(n, {"of": str(first)}) for n in (1, 2)]
            assert await chats_store.count_events(session, [first]) == {first: 2}

    async def test_a_change_of_one_leaves_the_others(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, mode="human_bot")
            first, second = await store_chats(session, mine, 2, last_turn_at=datetime(2026, 1, 1, tzinfo=UTC))
            await chats_store.touch(session, first)
            times = [
                await session.scalar(select(ChatRow.last_turn_at).where(ChatRow.id == each)) for each in (first, second)
            ]
            now = (await session.execute(text("SELECT now()"))).scalar_one()
        assert times == [now, datetime(2026, 1, 1, tzinfo=UTC)]

"""What the store selects and changes of collections, checks and chats: rows on both sides of each condition."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import func, insert, select, text

from spotthebot.contracts.conversations import CollectionState, ConversationState, QualityCheckState
from spotthebot.conversations.chats.errors import NoSuchChat
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.tables import ChatRow
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.tables import CollectionRow, TurnCountRow
from spotthebot.conversations.control import store as control_store
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.corpora.domain.held_out import (
    ALWAYS,
    HeldOutExchange,
    PeoplesConversation,
    exchange_numbers,
)
from spotthebot.conversations.exports import store as exports_store
from spotthebot.conversations.imports import store as imports_store
from spotthebot.conversations.metrics import store as metrics_store
from spotthebot.conversations.quality.errors import NoQualityCheck
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.tables import QualityCheckRow
from spotthebot.kit.ids import new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import (
    bot,
    store_chats,
    store_collection,
    store_conversations,
    store_pairs,
    value_of,
)

ONE, TWO, THREE = new_ids(3)
SIDES = bot(ONE, "one"), bot(TWO, "two")
_DAY = timedelta(days=1)


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

    async def test_counts_and_priority_are_of_one_alone(self, stored: SavepointDatabase):
        counts = {"conversations": 6, "complete": 1, "failed": 2, "cancelled": 3, "turns": 4, "turns_planned": 5}
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES, **dict.fromkeys(counts, 10)) for _ in range(2)]
            await collections_store.count_in(session, mine, **counts)
            await collections_store.change_priority(session, mine, 3)
            found = [await collections_store.get_collection(session, each) for each in (mine, others)]
        assert [{name: getattr(each, name) for name in counts} for each in found] == [
            {name: 10 + count for name, count in counts.items()},
            dict.fromkeys(counts, 10),
        ]
        assert [each.priority for each in found] == [3, 0]

    async def test_has_the_priority_0_unless_another_is_given(self, stored: SavepointDatabase):
        given: dict[str, Any] = {
            "domain": "everyday",
            "mode": "import",
            "plan": {},
            "state": CollectionState.COLLECTING,
        }
        async with stored.write() as session:
            plain = await collections_store.add_collection(session, name="plain", **given)
            second = await collections_store.add_collection(session, name="second", priority=2, **given)
            found = [await collections_store.get_collection(session, each) for each in (plain, second)]
        assert [each.priority for each in found] == [0, 2]

    async def test_has_a_rate_over_the_last_minute_while_it_collects(self, stored: SavepointDatabase):
        async with stored.write() as session:
            now = (await session.execute(select(func.now()))).scalar_one()
            rates = []
            for state, seconds in (("collecting", 59.5), ("collecting", 60.5), ("paused", 30)):
                mine = await store_collection(session, SIDES, state=state)
                row = {"collection_id": mine, "begins_at": now - timedelta(seconds=seconds), "turns": 600}
                await session.execute(insert(TurnCountRow).values(row))
                rates.append((await collections_store.get_collection(session, mine)).rate_turns_per_second)
        assert 0 < (rates[0] or 0) <= 600 / 59.5
        assert rates[1:] == [None, None]

    async def test_has_an_end_only_once_it_has_ended(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            for state, has_ended in ((CollectionState.PAUSED, False), (CollectionState.COMPLETE, True)):
                assert await collections_store.change_state(session, [mine], state) == [mine]
                found = await collections_store.get_collection(session, mine)
                assert (found.finished_at is not None) is has_ended
            assert await collections_store.change_state(session, [mine], CollectionState.PAUSED) == []

    async def test_pairs_are_numbered_on_from_those_that_are_known(self, stored: SavepointDatabase):
        other = (bot(TWO, "two"), bot(THREE, "three"))
        async with stored.write() as session:
            others, mine = [await store_collection(session, SIDES) for _ in range(2)]
            await store_pairs(session, others, other, numbers=[1])
            numbers = await conversations_store.number_pairs(session, mine, [other, SIDES, other])
            assert numbers == {SIDES: 0, other: 1}
            assert await conversations_store.number_pairs(session, mine, [other]) == numbers
            assert await exports_store.list_participants(session, mine) == [*SIDES, other[1]]


class TestQualityChecks:
    async def test_a_later_request_waits_whatever_the_one_before_comes_to(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES) for _ in range(2)]
            with pytest.raises(NoQualityCheck):
                await checks_store.start_check(session, mine)
            for each in (mine, others):
                await checks_store.request_check(session, each)
            first = await checks_store.start_check(session, mine)
            await checks_store.request_check(session, mine)
            await checks_store.move_check(session, first, QualityCheckState.COMPARING)
            await checks_store.fail_check(session, mine, "broken")
            found = await checks_store.get_check(session, mine)
            assert (found.state, found.failure) == (QualityCheckState.WAITING, None)
            second = await checks_store.start_check(session, mine)
            await checks_store.move_check(session, second, QualityCheckState.COMPARING)
            assert not await checks_store.is_done(session, mine)
            await checks_store.move_check(session, second, QualityCheckState.DONE)
            assert await checks_store.is_done(session, mine)
            elsewhere = await checks_store.get_check(session, others)
        assert elsewhere.state is QualityCheckState.WAITING

    async def test_a_failure_is_kept_as_far_as_there_is_room(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            await checks_store.request_check(session, mine)
            await checks_store.start_check(session, mine)
            await checks_store.fail_check(session, mine, 1001 * "x")
            found = await checks_store.get_check(session, mine)
        assert (found.state, found.failure) == (QualityCheckState.FAILED, 1000 * "x")

    async def test_those_not_ended_count_as_lost_a_minute_after_their_request(self, stored: SavepointDatabase):
        async with stored.write() as session:
            requests = {}
            for seconds in (30, 90, 150):
                for state in QualityCheckState:
                    requests[seconds, state] = await store_collection(session, SIDES)
                    requested_at = func.clock_timestamp() - timedelta(seconds=seconds)
                    row = {"collection_id": requests[seconds, state], "state": state, "requested_at": requested_at}
                    await session.execute(insert(QualityCheckRow).values(row))
            lost = await checks_store.list_unfinished(session)
        unfinished = {QualityCheckState.WAITING, QualityCheckState.FLAGGING, QualityCheckState.COMPARING}
        assert set(lost) == {requests[seconds, state] for seconds in (90, 150) for state in unfinished}
        assert set(lost[:3]) == {requests[150, state] for state in unfinished}


class TestHeldOut:
    async def test_the_earliest_and_the_strictest_hold(self, stored: SavepointDatabase):
        early, late = new_ids(2)
        (number,) = exchange_numbers(["Hi.", "Hello."])
        short, long = ["Hi.", "Hello."], ["Hi.", "Hello.", "Bye."]
        async with stored.write() as session:
            for turns, since, suffices, expected in (
                (long, late, False, late),
                (long, early, False, early),
                (short, late, True, early),
                (long, late, True, early),
            ):
                await corpora_store.hold_out(session, [PeoplesConversation(turns, since)])
                found = await corpora_store.find_held_out(session, [number])
                assert found == {number: [HeldOutExchange(number, expected, suffices=suffices)]}
            await corpora_store.hold_out(session, [PeoplesConversation(long, ALWAYS)])
            both = await corpora_store.find_held_out(session, [number])
        assert {(each.since, each.suffices) for each in both[number]} == {(early, True), (ALWAYS, False)}

    async def test_people_are_counted_in_imports_and_plans_with_people(self, stored: SavepointDatabase):
        async with stored.write() as session:
            assert await corpora_store.count_people(session) == 0
            await store_collection(session, SIDES, mode="import", conversations=1)
            await store_collection(session, SIDES, plan={"humans": {}}, conversations=10)
            await store_collection(session, SIDES, plan={"humans": None}, conversations=100)
            await store_collection(session, SIDES, conversations=1000)
            assert await corpora_store.count_people(session) == 11


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
            mine = await store_collection(session, SIDES, mode="human_bot")
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


async def test_a_source_is_the_collection_as_it_stands(stored: SavepointDatabase):
    async with stored.write() as session:
        plain = await store_collection(session, SIDES)
        held = await store_collection(session, SIDES, mode="import", plan={"held_as": "human_bot"}, state="cancelled")
        await store_conversations(session, held, 2)
        found = [await collections_store.get_source(session, each) for each in (plain, held)]
        counts = [await exports_store.count_conversations(session, each) for each in (plain, held)]
        modes = [await imports_store.claim_mode(session, each, "self_play") for each in (plain, held)]
    assert [(each.exported_mode, each.is_cancelled) for each in found] == [("self_play", False), ("human_bot", True)]
    assert counts == [0, 2]
    assert modes == ["self_play", "human_bot"]


async def test_what_nobody_requested_has_no_quality_check(stored: SavepointDatabase):
    async with stored.read() as reading:
        with pytest.raises(NoQualityCheck):
            await checks_store.get_check(reading, uuid4())


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

"""What the store makes of steps and of whole conversations."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, text

from spotthebot.contracts.conversations.collections import CollectionState, StopRules
from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.contracts.conversations.ids import CollectionId, ConversationId
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.tables import TurnCountRow
from spotthebot.conversations.conversations.domain import Conversation, Step
from spotthebot.conversations.conversations.errors import NoSuchConversation
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.store import turns as turns_store
from spotthebot.conversations.conversations.store.turns import CommittedSteps
from spotthebot.conversations.conversations.tables import ConversationRow, TurnRow
from spotthebot.conversations.exports import store as exports_store
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_conversations

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")
JOB = 7
COMPLETE, FAILED, RUNNING = ConversationState.COMPLETE, ConversationState.FAILED, ConversationState.RUNNING


def _said(before: Conversation, turn: str, **changes: Any) -> Step:
    after = replace(before, turns=(*before.turns, turn), **changes)
    return Step(before, after, text=turn, raw=f"{turn}<eos>", latency_ms=1.5)


class TestSteps:
    async def test_are_written_to_their_conversations_and_counted_in_their_collections(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES, conversations=number, turns=10) for number in (9, 1)]
            values: dict[str, Any] = {"next_bot": TWO, "runner_job_id": JOB, "turns": ("Hi.",)}
            ids = [*await store_conversations(session, mine, 4, **values)]
            ids += await store_conversations(session, others, 1, **values)
            going, failing, waiting, late, last = [
                await conversations_store.get_conversation(session, each) for each in ids
            ]
            steps = [
                _said(going, "Fine."),
                Step(failing, replace(failing, state=FAILED, failure="no", attempts=3)),
                Step(waiting, replace(waiting, attempts=1), wait_seconds=60),
                _said(replace(late, turns=("Hi.", "Hey.")), "Too late."),
                _said(last, "Bye.", state=COMPLETE, ended_by=Ending.FAREWELL),
            ]
            done = await turns_store.commit_steps(session, steps)
            assert done.conversations == frozenset([*ids[:3], ids[4]])
            assert done.collections == {mine: CollectionState.COLLECTING, others: CollectionState.COMPLETE}
            assert done.finished == frozenset({others})
            row = ConversationRow
            columns = row.turns_said, row.state, row.attempts, row.runner_job_id, row.next_bot
            held, idle = {"runner_job_id": JOB, "next_bot": TWO}, {"runner_job_id": None, "next_bot": None}
            for each, expected in zip(
                ids,
                (
                    {"turns_said": 2, "state": "running", "attempts": 0} | held,
                    {"turns_said": 1, "state": "failed", "attempts": 3} | idle,
                    {"turns_said": 1, "state": "running", "attempts": 1} | held | {"runner_job_id": None},
                    {"turns_said": 1, "state": "running", "attempts": 0} | held,
                    {"turns_said": 2, "state": "complete", "attempts": 0} | idle,
                ),
                strict=True,
            ):
                stored_row = (await session.execute(select(*columns).where(row.id == each))).mappings().one()
                assert dict(stored_row) == expected
            now = (await session.execute(text("SELECT now()"))).scalar_one()
            until = [await session.scalar(select(row.not_before).where(row.id == each)) for each in ids]
            assert until == [None, None, now + timedelta(seconds=60), None, None]
            turns = select(TurnRow.position, TurnRow.text, TurnRow.raw, TurnRow.latency_ms, TurnRow.said_at)
            in_order = turns.where(TurnRow.conversation_id == ids[0]).order_by(TurnRow.position)
            before, said = (await session.execute(in_order)).mappings().all()
            unknown = {"raw": None, "latency_ms": None, "said_at": None}
            assert dict(before) == {"position": 0, "text": "Hi."} | unknown
            assert dict(said) == {
                "position": 1,
                "text": "Fine.",
                "raw": "Fine.<eos>",
                "latency_ms": 1.5,
                "said_at": now,
            }
            found = [await collections_store.get_collection(session, each) for each in (mine, others)]
            assert [(each.complete, each.failed, each.turns) for each in found] == [(0, 1, 11), (1, 0, 11)]
            ended = await conversations_store.get_conversation(session, ids[4])
            assert (ended.state, ended.ended_by, ended.turns) == (COMPLETE, Ending.FAREWELL, ("Hi.", "Bye."))
            assert await turns_store.commit_steps(session, steps[-1:]) == CommittedSteps(frozenset(), {}, frozenset())

    async def test_those_of_ten_seconds_are_one_count_and_none_is_made_of_no_turn(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES, conversations=9) for _ in range(2)]
            ids = await store_conversations(session, mine, 2)
            (silent,) = await store_conversations(session, others, 1)
            found = [await conversations_store.get_conversation(session, each) for each in (*ids, silent)]
            await turns_store.commit_steps(session, [_said(found[0], "a"), _said(found[1], "b")])
            again = await conversations_store.get_conversation(session, ids[0])
            await turns_store.commit_steps(session, [_said(again, "c"), Step(found[2], found[2], wait_seconds=1)])
            counts = (await session.execute(select(TurnCountRow.collection_id, TurnCountRow.turns))).all()
        assert [tuple(each) for each in counts] == [(mine, 3)]


class TestConversations:
    async def test_are_stored_once_under_their_external_id(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, mode="import", plan={"stop": {"repeated": 3}})
            plain = await store_collection(session, SIDES)
            given = Conversation(
                id=ConversationId(new_id()),
                collection_id=CollectionId(mine),
                external_id="c1",
                state=COMPLETE,
                failure=None,
                participants=SIDES,
                opening=("Hm.",),
                opening_shown=True,
                turns=("Hi.", "Hello."),
                turns_planned=2,
                seed=5,
                domain="small-talk",
                round=1,
                stop=StopRules(repeated=3),
            )
            known = replace(given, id=ConversationId(new_id()), turns=("Other.",))
            silent = replace(given, id=ConversationId(new_id()), external_id=None, turns=(), stop=StopRules())
            silent = replace(silent, collection_id=CollectionId(plain), state=RUNNING)
            assert await conversations_store.add_conversations(session, [given]) == [given.id]
            assert await conversations_store.add_conversations(session, [known, silent]) == [silent.id]
            found = await conversations_store.list_by_ids(session, [given.id, known.id])
            assert found == [given]
            assert await conversations_store.get_conversation(session, silent.id) == silent
            with pytest.raises(NoSuchConversation):
                await conversations_store.get_conversation(session, known.id)
            assert await exports_store.count_conversations(session, mine) == 1

    async def test_those_of_a_runner_are_listed_in_their_order(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            ids = await store_conversations(session, mine, 2, runner_job_id=JOB, turns=("a", "b"))
            await store_conversations(session, mine, 1, runner_job_id=JOB + 1)
            await store_conversations(session, mine, 1)
            found = await conversations_store.list_claimed(session, JOB)
        assert [(each.id, each.turns) for each in found] == [(each, ("a", "b")) for each in ids]

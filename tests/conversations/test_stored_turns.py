"""What the store makes of steps, of whole conversations and of chats' tokens."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text

from spotthebot.contracts.conversations import (
    CollectionId,
    CollectionState,
    ConversationId,
    ConversationState,
    Ending,
    Participant,
    ParticipantKind,
    StopRules,
)
from spotthebot.conversations.chats.errors import ChatTokenExpired, NoSuchChat, NoSuchChatToken
from spotthebot.conversations.chats.store import tokens as tokens_store
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.tables import TurnCountRow
from spotthebot.conversations.conversations.domain import Conversation, Step
from spotthebot.conversations.conversations.errors import NoSuchConversation
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.store import turns as turns_store
from spotthebot.conversations.conversations.store.turns import CommittedSteps
from spotthebot.conversations.conversations.tables import ConversationRow, TurnRow
from spotthebot.conversations.exports import store as exports_store
from spotthebot.conversations.mixes import store as mixes_store
from spotthebot.conversations.mixes.domain import MixedPair
from spotthebot.kit.database import Database
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.databases import DatabaseUrls
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import (
    NOON,
    bot,
    store_chats,
    store_collection,
    store_conversations,
    store_pairs,
)

ONE, TWO = new_ids(2)
SIDES = bot(ONE, "one"), bot(TWO, "two")
PEOPLE = (Participant(kind=ParticipantKind.HUMAN, name="HU"),) * 2
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
            states = [tuple((await session.execute(select(*columns).where(row.id == each))).one()) for each in ids]
            assert states == [
                (2, "running", 0, JOB, TWO),
                (1, "failed", 3, None, None),
                (1, "running", 1, None, TWO),
                (1, "running", 0, JOB, TWO),
                (2, "complete", 0, None, None),
            ]
            now = (await session.execute(text("SELECT now()"))).scalar_one()
            until = [await session.scalar(select(row.not_before).where(row.id == each)) for each in ids]
            assert until == [None, None, now + timedelta(seconds=60), None, None]
            turns = select(TurnRow.position, TurnRow.text, TurnRow.raw, TurnRow.latency_ms, TurnRow.said_at)
            said = (await session.execute(turns.where(TurnRow.conversation_id == ids[0]))).all()
            assert sorted(map(tuple, said)) == [(0, "Hi.", None, None, None), (1, "Fine.", "Fine.<eos>", 1.5, now)]
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

    async def test_those_of_bots_are_compared_whole_and_of_people_by_their_first_two_exchanges(
        self, stored: SavepointDatabase
    ):
        same, longer = ("b", "c", "d", "e"), ("b", "c", "d", "x", "y")
        async with stored.write() as session:
            bots, people = [await store_collection(session, sides, name=sides[0].name) for sides in (SIDES, PEOPLE)]
            await store_pairs(session, people, (SIDES[1], PEOPLE[0]), numbers=[1])
            opened = {"state": "complete", "opening": ["a"]}
            for collection in (bots, people):
                await store_conversations(session, collection, 1, turns=same, **opened, opening_shown=True)
                await store_conversations(session, collection, 1, turns=longer, **opened, external_id="long")
                await store_conversations(session, collection, 1, turns=same)
            await store_conversations(session, people, 1, turns=same, **opened, pair=1)
            found = await mixes_store.list_mixed(session, [people, bots])
            speakers = await mixes_store.list_bots(session, [people, bots])
        pairs = MixedPair.of(PEOPLE), MixedPair.of((SIDES[1], PEOPLE[0])), MixedPair.of(SIDES)
        assert [(each.collection_id, each.external_id, each.pair) for each in found] == [
            (people, None, pairs[0]),
            (people, "long", pairs[0]),
            (people, None, pairs[1]),
            (bots, None, pairs[2]),
            (bots, "long", pairs[2]),
        ]
        assert [(each.exchanges, each.shown_opening) for each in found] == [(2, 1), (2, 0), (2, 0), (2, 1), (2, 0)]
        of_people, longer_of_people, of_both, of_bots, longer_of_bots = [each.words for each in found]
        assert of_people == longer_of_people != of_bots
        assert of_both == of_bots != longer_of_bots
        assert speakers == [
            (f"HU ({people})", SIDES[1]),
            (f"one ({bots})", SIDES[0]),
            (f"one ({bots})", SIDES[1]),
        ]


class TestExports:
    async def test_begin_with_the_opening_that_ends_with_the_second_side(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, name="study")
            first, second = [
                (await store_conversations(session, mine, 1, turns=("c",), opening=opening, external_id=name))[0]
                for name, opening in (("one", ["a", "b", "x"]), (None, []))
            ]
            source = await collections_store.get_source(session, mine)
            rows = await exports_store.list_rows(session, source, after=None, limit=9)
            named = await exports_store.list_rows(session, source, after=None, limit=9, ids=["one", "two"])
        assert [row.id for row in rows] == [first, second]
        assert [row.conversation.id for row in rows] == ["one", str(second)]
        opening = [(turn.speaker, turn.text) for turn in rows[0].conversation.opening]
        assert opening == [("B", "a"), ("A", "b"), ("B", "x")]
        (turn,) = rows[1].conversation.turns
        assert (turn.speaker, turn.text, turn.said_at) == ("A", "c", None)
        assert [row.id for row in named] == [first]


class TestTokens:
    async def test_open_their_own_chat_until_they_expire_or_another_replaces_them(self, database_urls: DatabaseUrls):
        database = Database(database_urls.app["conversations"], pool_size=1)
        at, moment = datetime(2026, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
        check = tokens_store.check_token

        async def is_refused(token: str, chat: UUID) -> bool:
            with pytest.raises(NoSuchChatToken):
                await check(database.lookups, token, str(chat), NOON - timedelta(days=1))
            return True

        async with database.write() as session:
            mine = await store_collection(session, SIDES, mode="human_bot")
            first, second, bare = await store_chats(session, mine, 3)
            old = await tokens_store.replace_token(session, first, at)
            token = await tokens_store.replace_token(session, first, at)
            other = await tokens_store.replace_token(session, second, at)
            with pytest.raises(NoSuchChat):
                await tokens_store.replace_token(session, new_id(), at)
        for path in (str(first), str(first).upper()):
            assert await check(database.lookups, token, path, at - moment) == (first, at)
        with pytest.raises(ChatTokenExpired):
            await check(database.lookups, token, str(first), at)
        unknown = token.replace(first.hex, bare.hex), token.replace(first.hex, ONE.hex)
        for given, chat in (
            (old, first),
            (other, first),
            (token, second),
            (unknown[0], bare),
            (unknown[1], ONE),
            (f"{token[:-1]}{'a' if token[-1] != 'a' else 'b'}", first),
            ("token", first),
        ):
            assert await is_refused(given, chat)
        await database.close()
        assert [tokens_store.is_chat_token(each) for each in (token, "stb_admin_x")] == [True, False]

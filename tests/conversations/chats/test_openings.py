"""Who begins a chat's conversations, and with which words: what people see, what bots are asked, what is stored."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.kit.database.sessions import Database
from tests.factories.bot_servers import bot, well_behaved
from tests.factories.frontends import (
    advance,
    all_events,
    answered,
    conversations_of,
    exchange,
    open_chats,
    rate,
    ratings,
    say,
    start,
    webhook_bot,
)
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot


def _speakers(chat: dict[str, Any], number: int = 1) -> str:
    """The speakers of a conversation's turns: y for the person, p for the partner."""
    return "".join(turn["speaker"][0] for turn in chat["conversations"][number - 1]["turns"])


class TestOpenings:
    @pytest.mark.parametrize(
        ("opening", "before", "whole", "sides"),
        [
            ({}, "", "ypypyp", ["HU", "ours"]),
            ({"first_words": "Hi!"}, "yp", "ypypyp", ["ours", "HU"]),
            ({"begins": "bot"}, "p", "pypyp", ["ours", "HU"]),
            ({"begins": "bot", "first_words": "Hi!"}, "p", "pypyp", ["HU", "ours"]),
        ],
    )
    async def test_let_the_named_side_begin_and_the_bot_have_the_last_turn(
        self, suite: RunningSuite, opening: dict[str, str], before: str, whole: str, sides: list[str]
    ):
        """Six turns of both together are the most, first words included: five if the bot begins."""
        async with bot(well_behaved) as (served, url):
            ours = await webhook_bot(suite, url, name="ours")
            collection_id = await open_chats(suite, [ours], bots_per_chat=1, opening=opening)
            chat = await answered(suite, await start(suite, collection_id))
            assert _speakers(chat) == before
            assert (chat["may_advance"], chat["conversations"][0]["opening"]) == (
                before == "yp",
                int("Hi!" in opening.values()),
            )
            while chat["state"] == "chatting":
                chat = await exchange(suite, chat)
            assert (chat["state"], _speakers(chat)) == ("rating", whole)
            shown = [turn["text"] for turn in chat["conversations"][0]["turns"]]
            asked = [[turn["text"] for turn in each["turns"]] for each in served.asked]
            assert shown[:-1] in asked, "the bot was asked with every word that the person saw"
        (held,) = await conversations_of(suite, collection_id)
        first_words = [opening["first_words"]] if "first_words" in opening else []
        assert [turn["text"] for turn in held["opening"]] == first_words
        assert [turn["text"] for turn in held["turns"]] == shown[len(first_words) :]
        assert [side["name"] for side in held["participants"]] == sides
        assert held["opening_shown"] is bool(first_words)
        assert (await rate(suite, chat, ratings(1))).status_code == 200
        analyst = await suite.client("conversations", "analyst")
        collection = (await analyst.get(f"/v1/collections/{collection_id}")).json()
        assert collection["turns"] == collection["turns_planned"] == len(whole) - len(first_words)
        (rated,) = (await analyst.get(f"/v1/collections/{collection_id}/ratings")).json()["items"]
        assert rated["conversations"][0]["participant"]["name"] == "ours"
        assert (await analyst.get(f"/v1/collections/{collection_id}/plan")).json()["opening"] is None

    async def test_in_which_a_bot_speaks_are_left_to_the_chat_by_runners(self, suite: RunningSuite, outbox: Database):
        """A runner that claimed the conversation would add the bot's turn without its event."""
        bots = [await add_bot(suite, "dull")]
        collection_id = await open_chats(suite, bots, bots_per_chat=1, opening={"begins": "bot"})
        await start(suite, collection_id)
        async with outbox.read() as session:
            statement = select(ConversationRow.next_bot, ConversationRow.runner_job_id)
            found = (await session.execute(statement.where(ConversationRow.collection_id == UUID(collection_id)))).all()
        assert [tuple(each) for each in found] == [(None, None)]

    async def test_come_as_events_with_each_partner(self, suite: RunningSuite):
        async with bot(well_behaved) as (_, url):
            bots = [await webhook_bot(suite, url, name=name) for name in ("one", "two")]
            collection_id = await open_chats(suite, bots, opening={"first_words": "Hi!"})
            chat = await answered(suite, await start(suite, collection_id))
            assert (await say(suite, chat, "Good.", number=2)).status_code == 409
            assert (await advance(suite, chat)).status_code == 200
            await answered(suite, chat)
            assert (await advance(suite, chat)).status_code == 200
            events = await all_events(suite, chat)
        one = [("turn", "you", 0), ("typing", None, None), ("turn", "partner", 1)]
        found = [(kind, data.get("speaker"), data.get("position")) for _, kind, data in events]
        assert found == [*one, ("next", None, None), *one, ("done", None, None)]
        assert [data["number"] for _, kind, data in events if kind == "turn"] == [1, 1, 2, 2]
        assert events[0][2]["text"] == "Hi!"

    async def test_break_the_conversation_off_if_the_bot_can_not_begin(self, suite: RunningSuite):
        is_dead = asyncio.Event()

        def die(question: dict[str, Any]) -> Any:
            return (500, {"error": "dead"}) if is_dead.is_set() else well_behaved(question)

        async with bot(die) as (_, url):
            bots = [await webhook_bot(suite, url)]
            collection_id = await open_chats(suite, bots, bots_per_chat=1, opening={"begins": "bot"})
            is_dead.set()
            chat = await start(suite, collection_id)
            assert chat["awaits_reply"]
            found = await answered(suite, chat)
        assert (found["state"], found["conversations"][0]["broken_off"]) == ("rating", True)

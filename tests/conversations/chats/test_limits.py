"""How many conversations one person may begin in a collection: what counts, what is refused, and at once."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from spotthebot.contracts.conversations.chats import ChatState, HumanBotIn
from spotthebot.contracts.conversations.ids import CollectionId
from spotthebot.conversations.chats.domain.chats import Chat, allowance
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.frontends import advance, chats_of, exchange, open_chats, rate, ratings, start, talk, two_bots
from tests.factories.running_suite import RunningSuite
from tests.factories.stored_collections import NOON

BOTS = tuple(new_ids(2))


def _chat(state: ChatState, started: int) -> Chat:
    return Chat(
        id=new_id(),
        collection_id=CollectionId(UUID(int=1)),
        interactor="ann",
        link=None,
        state=state,
        bots=BOTS,
        conversations=tuple(new_ids(started)),
        events=0,
        ratings=None,
        created_at=NOON,
        last_turn_at=NOON,
        rated_at=None,
    )


class TestAllowance:
    @pytest.mark.parametrize(
        ("most", "chats", "started", "left"),
        [
            (None, [("rated", 2)] * 50, 100, None),
            (18, [], 0, 9),  # ABC-Eval: 18 conversations are 9 pairs
            (18, [("rated", 2)] * 8, 16, 1),
            (18, [("rated", 2)] * 9, 18, 0),
            (5, [("rated", 2)] * 2, 4, 0),  # a pair does not fit into one place
            (4, [("abandoned", 1)], 1, 1),  # 3 places are left
            (4, [("abandoned", 1)] * 3, 3, 0),
            (4, [("chatting", 1)], 1, 1),  # the open chat takes both its places
            (3, [("chatting", 1)], 1, 0),
        ],
    )
    def test_counts_what_started_and_keeps_places_for_the_open_chat(
        self, most: int | None, chats: list[tuple[str, int]], started: int, left: int | None
    ):
        plan = HumanBotIn(mode="human_bot", name="x", domain="x", bots=BOTS, conversations_per_person=most)
        found = allowance(plan, [_chat(ChatState(state), number) for state, number in chats])
        assert (found.started, found.chats_left) == (started, left)


async def _terms(suite: RunningSuite, collection_id: str, person: str = "p1") -> dict[str, Any]:
    frontend = await suite.client("conversations", "annotation")
    answer = await frontend.get(f"/v1/collections/{collection_id}/chat-terms", params={"interactor": person})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def _begin(suite: RunningSuite, collection_id: str, times: int) -> list[tuple[int, str]]:
    """Begin chats of one person at once, and return each status with the chat or the reason."""
    frontend = await suite.client("conversations", "annotation")
    body = {"collection_id": collection_id, "interactor": "p1"}
    answers = await asyncio.gather(*(frontend.post("/v1/chats", json=body) for _ in range(times)))
    return [(each.status_code, each.json().get("id") or each.json()["type"].rpartition(":")[2]) for each in answers]


class TestConversationsPerPerson:
    async def test_are_never_exceeded_by_chats_that_start_at_once(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), conversations_per_person=4)
        for _ in range(2):
            started = await _begin(suite, collection_id, 5)
            assert len(set(started)) == 1, "one chat, which all requests get"
            chat = {"id": started[0][1]}
            await talk(suite, chat)
            assert (await rate(suite, chat, ratings(1, 2))).status_code == 200
        assert await _begin(suite, collection_id, 5) == [(409, "no-conversations-left")] * 5
        assert [len(each["conversations"]) for each in await chats_of(suite, collection_id)] == [2, 2]
        assert (await start(suite, collection_id, "p2"))["state"] == "chatting"

    async def test_count_those_that_were_abandoned(self, suite: RunningSuite):
        collection_id = await open_chats(
            suite, await two_bots(suite), conversations_per_person=2, abandoned_after_seconds=1
        )
        terms = await _terms(suite, collection_id)
        assert terms == {
            "partners": 2,
            "minimum_turns": 2,
            "instructions": "",
            "consent": None,
            "pay_per_chat": None,
            "currency": None,
            "conversations_per_person": 2,
            "conversations_started": 0,
            "chats_left": 1,
        }
        await start(suite, collection_id)
        async with asyncio.timeout(30):
            while (await chats_of(suite, collection_id))[0]["state"] != "abandoned":
                await asyncio.sleep(0.1)
        terms = await _terms(suite, collection_id)
        assert (terms["conversations_started"], terms["chats_left"]) == (1, 0)
        assert await _begin(suite, collection_id, 1) == [(409, "no-conversations-left")]

    async def test_let_the_person_finish_the_chat_that_is_open(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), conversations_per_person=2)
        chat = await start(suite, collection_id)
        assert (await _terms(suite, collection_id))["chats_left"] == 0
        await exchange(suite, chat)
        assert len((await advance(suite, chat)).json()["conversations"]) == 2
        assert await _begin(suite, collection_id, 1) == [(201, chat["id"])]

    async def test_are_read_by_frontends_in_collections_of_chats(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        frontend, analyst = [await suite.client("conversations", role) for role in ("annotation", "analyst")]
        path = f"/v1/collections/{collection_id}/chat-terms"
        assert (await analyst.get(path, params={"interactor": "p1"})).status_code == 403
        assert (await frontend.get(path)).status_code == 422
        unknown = f"/v1/collections/{new_id()}/chat-terms"
        assert (await frontend.get(unknown, params={"interactor": "p1"})).status_code == 404

"""Erasure of people who chat: their ratings stay, they are found nowhere."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from tests.factories.databases import Databases
from tests.factories.frontends import (
    answered,
    exchange,
    get,
    open_chats,
    rate,
    ratings,
    say,
    start,
    talk,
    two_bots,
)
from tests.factories.gates import locks_awaited
from tests.factories.held_texts import tables_that_hold
from tests.factories.running_suite import RunningSuite

PERSON = "p-anna.7|x"
WORDS = "I am called Anna and live in Überlingen."


async def people(suite: RunningSuite, collection_id: str) -> list[dict[str, Any]]:
    admin = await suite.client("conversations", "admin")
    return (await admin.get(f"/v1/collections/{collection_id}/chat-people")).json()["items"]


async def erase(suite: RunningSuite, collection_id: str, person: dict[str, Any], **query: str) -> dict[str, Any]:
    admin = await suite.client("conversations", "admin")
    path = f"/v1/collections/{collection_id}/chat-people/{person['id']}/erase"
    answer = await admin.post(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def turns_of(suite: RunningSuite, collection_id: str) -> list[list[str]]:
    admin = await suite.client("conversations", "admin")
    exported = await admin.get(f"/v1/collections/{collection_id}/export")
    return [[turn["text"] for turn in json.loads(line)["turns"]] for line in exported.text.splitlines()]


async def consent(suite: RunningSuite, person: str) -> None:
    """Note a consent as if the person had given one."""
    with psycopg.connect(suite.database.owner["conversations"]) as connection:
        connection.execute(
            "UPDATE conversations.chat_people SET consent_sha256 = repeat('0', 64), consented_at = now()"
            " WHERE interactor = %s",
            [person],
        )


async def may_chat_by_token(suite: RunningSuite, chat: dict[str, Any], token: str) -> bool:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=suite.urls["conversations"], headers=headers) as browser:
        return (await browser.get(f"/v1/chats/{chat['id']}")).status_code == 200


class TestErasure:
    async def test_leaves_the_person_and_their_words_nowhere_and_their_ratings_as_they_were(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        rated = await start(suite, collection_id, PERSON)
        await talk(suite, rated)
        assert (await rate(suite, rated, ratings(1, 2))).status_code == 200
        running = await start(suite, collection_id, PERSON)
        assert (await say(suite, running, WORDS, key=f"turn-of-{PERSON}")).status_code == 202
        await answered(suite, running)
        await consent(suite, PERSON)
        frontend = await suite.client("conversations", "annotation")
        token = (await frontend.put(f"/v1/chats/{running['id']}/token")).json()["token"]
        assert await may_chat_by_token(suite, running, token)
        await exchange(suite, await start(suite, collection_id, "bob"), "I am Bob.")
        assert {"chats", "chat_people", "idempotency_keys"} <= tables_that_hold(suite, "conversations", PERSON)
        assert {"turns", "chat_events"} <= tables_that_hold(suite, "conversations", WORDS)
        admin = await suite.client("conversations", "admin")
        path = f"/v1/collections/{collection_id}/ratings"
        before = (await admin.get(path)).json()["items"]
        ann, bob = await people(suite, collection_id)

        erased = await erase(suite, collection_id, ann)

        assert tables_that_hold(suite, "conversations", PERSON) == set()
        assert tables_that_hold(suite, "conversations", WORDS) == set()
        assert erased["person"].startswith("erased-")
        assert (erased["consent_sha256"], erased["consented_at"]) == (None, None)
        assert erased["erased_at"] is not None
        assert (erased["conversations_started"], erased["chats_rated"]) == (3, 1)
        assert await people(suite, collection_id) == [erased, bob]
        after = (await admin.get(path)).json()["items"]
        unnamed = [{key: value for key, value in each.items() if key != "interactor"} for each in after]
        assert unnamed == [{key: value for key, value in each.items() if key != "interactor"} for each in before]
        assert after[0]["interactor"] == erased["interactor"] != before[0]["interactor"]
        assert (await get(suite, running))["state"] == "abandoned"
        assert (await say(suite, running, WORDS)).status_code == 409
        assert not await may_chat_by_token(suite, running, token)
        assert "I am Bob." in json.dumps(await turns_of(suite, collection_id))

    async def test_replaces_what_the_person_said_and_no_reply_of_a_bot(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        chat = await start(suite, collection_id, PERSON)
        await talk(suite, chat)
        before = await turns_of(suite, collection_id)
        assert all(len(turns) >= 2 for turns in before)
        await erase(suite, collection_id, (await people(suite, collection_id))[0])
        expected = [["erased" if at % 2 == 0 else turn for at, turn in enumerate(turns)] for turns in before]
        assert await turns_of(suite, collection_id) == expected

    async def test_keeps_words_on_request_until_a_repeat_erases_them(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        chat = await start(suite, collection_id, PERSON)
        await exchange(suite, chat, WORDS)
        (person,) = await people(suite, collection_id)
        kept = await erase(suite, collection_id, person, submitted_texts="keep")
        assert tables_that_hold(suite, "conversations", PERSON) == set()
        assert tables_that_hold(suite, "conversations", WORDS) == {"turns"}
        assert await erase(suite, collection_id, person) == kept
        assert tables_that_hold(suite, "conversations", WORDS) == set()

    async def test_lets_the_person_come_again_as_somebody_new(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        first = await start(suite, collection_id, PERSON)
        (person,) = await people(suite, collection_id)
        await erase(suite, collection_id, person)
        assert (await start(suite, collection_id, PERSON))["id"] != first["id"]
        assert [each["person"] == PERSON for each in await people(suite, collection_id)] == [False, True]

    async def test_waits_for_a_chat_that_begins(self, suite: RunningSuite, databases: Databases):
        """Otherwise the chat that begins is stored under the old name, after the person got another."""
        collection_id = await open_chats(suite, await two_bots(suite))
        await start(suite, collection_id, PERSON)
        (person,) = await people(suite, collection_id)
        with psycopg.connect(suite.database.owner["conversations"]) as beginning:
            key = f"draws/{collection_id}"  # what every start of a chat holds until it is stored
            beginning.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])
            erasure = asyncio.create_task(erase(suite, collection_id, person))
            await locks_awaited(databases.admin_url(suite.database), 1)
            beginning.execute(
                "INSERT INTO conversations.chats (id, collection_id, interactor, state, bots, conversations)"
                " SELECT gen_random_uuid(), collection_id, interactor, 'abandoned', bots, '{}' FROM conversations.chats"
            )
        assert (await erasure)["erased_at"] is not None
        assert tables_that_hold(suite, "conversations", PERSON) == set()

    @pytest.mark.parametrize("role", ["analyst", "annotation", "service"])
    async def test_is_for_administrators(self, suite: RunningSuite, role: str):
        collection_id = await open_chats(suite, await two_bots(suite))
        await start(suite, collection_id, PERSON)
        (person,) = await people(suite, collection_id)
        client = await suite.client("conversations", role)
        answer = await client.post(f"/v1/collections/{collection_id}/chat-people/{person['id']}/erase")
        assert answer.status_code == 403
        assert [each["person"] for each in await people(suite, collection_id)] == [PERSON]

    async def test_refuses_unknown_people(self, suite: RunningSuite):
        bots = await two_bots(suite)
        ours, theirs = [await open_chats(suite, bots, name=name) for name in ("ours", "theirs")]
        await start(suite, theirs, PERSON)
        (person,) = await people(suite, theirs)
        admin = await suite.client("conversations", "admin")
        for person_id in (person["id"], uuid4()):  # of another collection, of none
            answer = await admin.post(f"/v1/collections/{ours}/chat-people/{person_id}/erase")
            assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (404, "no-such-chat-person")
            assert "chat-people" in answer.json()["detail"]
        assert [each["person"] for each in await people(suite, theirs)] == [PERSON]

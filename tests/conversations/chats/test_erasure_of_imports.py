"""Erasure of people whose chats and ratings were imported: they are listed, and found nowhere afterwards."""

import asyncio
import json
from typing import Any

import httpx
import psycopg

from spotthebot.contracts.conversations.exports import ExportedConversation
from tests.conversations.transfers import lines_of, upload
from tests.factories.chat_studies import import_chats
from tests.factories.databases import Databases
from tests.factories.gates import locks_awaited
from tests.factories.held_texts import tables_that_hold
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

PERSON = "p-anna.7|x"
WORDS = "I am called Anna and live in Überlingen."


def chats_of_anna() -> list[ExportedConversation]:
    """Return the chats of three people, two each; the first is Anna, who says who she is, once as it was cleaned."""
    found = exported_chats(3)
    for at, chat in enumerate(found[:2]):
        rating = chat.rating and chat.rating.model_copy(update={"interactor": PERSON})
        first = chat.turns[0].model_copy(update={"text": WORDS, "raw": f"  {WORDS}"})
        found[at] = chat.model_copy(update={"rating": rating, "turns": (first, *chat.turns[1:])})
    return found


async def people(suite: RunningSuite, collection_id: str) -> list[dict[str, Any]]:
    admin = await suite.client("conversations", "admin")
    return (await admin.get(f"/v1/collections/{collection_id}/chat-people")).json()["items"]


async def erase(suite: RunningSuite, collection_id: str, person: dict[str, Any], **query: str) -> httpx.Response:
    admin = await suite.client("conversations", "admin")
    return await admin.post(f"/v1/collections/{collection_id}/chat-people/{person['id']}/erase", params=query)


async def rated(suite: RunningSuite, collection_id: str) -> list[dict[str, Any]]:
    admin = await suite.client("conversations", "admin")
    return (await admin.get(f"/v1/collections/{collection_id}/ratings")).json()["items"]


async def turns_of(suite: RunningSuite, collection_id: str) -> list[list[str]]:
    admin = await suite.client("conversations", "admin")
    exported = await admin.get(f"/v1/collections/{collection_id}/export")
    return [[turn["text"] for turn in json.loads(line)["turns"]] for line in exported.text.splitlines()]


class TestErasure:
    async def test_leaves_the_person_and_their_words_nowhere_and_their_ratings_as_they_were(self, suite: RunningSuite):
        collection_id = await import_chats(suite, chats_of_anna())
        anna, *others = await people(suite, collection_id)
        assert [each["person"] for each in (anna, *others)] == [PERSON, "person-01", "person-02"]
        assert (anna["conversations_started"], anna["chats_rated"], anna["pay"]) == (2, 1, None)
        assert tables_that_hold(suite, "conversations", PERSON) == {"imported_ratings", "chat_people"}
        assert "turns" in tables_that_hold(suite, "conversations", WORDS)
        before, said = await rated(suite, collection_id), await turns_of(suite, collection_id)

        answer = await erase(suite, collection_id, anna)

        erased = answer.json()
        assert answer.status_code == 200
        assert tables_that_hold(suite, "conversations", PERSON) == set()
        assert tables_that_hold(suite, "conversations", WORDS) == set()
        assert erased["person"].startswith("erased-")
        assert (erased["conversations_started"], erased["chats_rated"]) == (2, 1)
        assert await people(suite, collection_id) == [erased, *others]
        after = await rated(suite, collection_id)
        assert [each | {"interactor": ""} for each in after] == [each | {"interactor": ""} for each in before]
        assert [each["interactor"] for each in after[1:]] == [each["interactor"] for each in before[1:]]
        expected = [["erased" if at % 2 == 0 else turn for at, turn in enumerate(turns)] for turns in said[:2]]
        assert await turns_of(suite, collection_id) == [*expected, *said[2:]]

    async def test_keeps_words_on_request_until_a_repeat_erases_them(self, suite: RunningSuite):
        collection_id = await import_chats(suite, chats_of_anna())
        anna = (await people(suite, collection_id))[0]
        kept = (await erase(suite, collection_id, anna, submitted_texts="keep")).json()
        assert tables_that_hold(suite, "conversations", PERSON) == set()
        assert "turns" in tables_that_hold(suite, "conversations", WORDS)
        assert (await erase(suite, collection_id, anna)).json() == kept
        assert tables_that_hold(suite, "conversations", WORDS) == set()

    async def test_is_not_undone_by_the_same_file(self, suite: RunningSuite):
        collection_id = await import_chats(suite, chats_of_anna())
        await erase(suite, collection_id, (await people(suite, collection_id))[0])
        admin = await suite.client("conversations", "admin")
        again = await admin.post(f"/v1/collections/{collection_id}/uploads", content=lines_of(*chats_of_anna()))
        assert again.json()["stored"] == 0
        assert {1, 2} <= {each["line"] for each in again.json()["rejected"]["first"]}
        assert tables_that_hold(suite, "conversations", WORDS) == set()

    async def test_waits_for_ratings_that_are_being_imported(self, suite: RunningSuite, databases: Databases):
        """Otherwise they are stored under the old name, after the person got another."""
        first, second, *_ = chats_of_anna()
        collection_id = await import_chats(suite, [first])
        (anna,) = await people(suite, collection_id)
        with psycopg.connect(suite.database.owner["conversations"]) as importing:
            key = f"draws/{collection_id}"
            importing.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])
            upload_now = asyncio.create_task(upload(suite, collection_id, lines_of(second)))
            await locks_awaited(databases.admin_url(suite.database), 1)
        await upload_now
        assert (await erase(suite, collection_id, anna)).status_code == 200
        assert tables_that_hold(suite, "conversations", PERSON) == set()

    async def test_is_for_imports_of_chats_with_people(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        body = {"mode": "import", "name": "bots", "domain": "everyday", "held_as": "all_play_all"}
        collection_id = (await created(admin, "/v1/collections", body))["id"]
        answer = await admin.get(f"/v1/collections/{collection_id}/chat-people")
        assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (409, "not-for-chats")

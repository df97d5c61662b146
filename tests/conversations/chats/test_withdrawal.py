"""People who chat withdraw their consent: their open chat ends, nothing more is taken, their rated chats stay."""

import asyncio
import hashlib
from typing import Any

import httpx
import psycopg
import pytest

from tests.factories.databases import Databases
from tests.factories.frontends import (
    advance,
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
from tests.factories.running_suite import RunningSuite

TEXT = "I am an adult."
SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()
TERMS = {"consent": TEXT, "pay_per_chat": "2.50", "currency": "EUR"}


async def begin(suite: RunningSuite, collection_id: str, **more: Any) -> httpx.Response:
    frontend = await suite.client("conversations", "annotation")
    return await frontend.post("/v1/chats", json={"collection_id": collection_id, "interactor": "ann"} | more)


async def withdraw(
    suite: RunningSuite, collection_id: str, *, person: str = "ann", role: str = "annotation"
) -> httpx.Response:
    client = await suite.client("conversations", role)
    return await client.post(f"/v1/collections/{collection_id}/consents/withdraw", json={"interactor": person})


async def listed(suite: RunningSuite, collection_id: str) -> dict[str, Any]:
    admin = await suite.client("conversations", "admin")
    (person,) = (await admin.get(f"/v1/collections/{collection_id}/chat-people")).json()["items"]
    return person


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


class TestWithdrawal:
    async def test_ends_the_open_chat_and_leaves_rated_chats_and_their_pay(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), **TERMS)
        rated = (await begin(suite, collection_id, consent_sha256=SHA256)).json()
        assert rated["asks_consent"]
        await talk(suite, rated)
        assert (await rate(suite, rated, ratings(1, 2))).status_code == 200
        running = (await begin(suite, collection_id)).json()
        await exchange(suite, running)
        admin = await suite.client("conversations", "admin")
        before = (await admin.get(f"/v1/collections/{collection_id}/ratings")).json()["items"]

        answer = await withdraw(suite, collection_id)

        found = answer.json()
        assert (answer.status_code, found["interactor"], found["sha256"]) == (200, "ann", None)
        assert found["consented_at"] < found["withdrawn_at"]
        person = await listed(suite, collection_id)
        assert (person["consent_sha256"], person["consent_withdrawn_at"]) == (None, found["withdrawn_at"])
        assert (person["chats_rated"], person["pay"]) == (1, "2.50")
        assert (await get(suite, running))["state"] == "abandoned"
        assert refusal(await say(suite, running)) == (409, "chat-is-over")
        assert refusal(await advance(suite, running)) == (409, "chat-is-over")
        assert (await admin.get(f"/v1/collections/{collection_id}/ratings")).json()["items"] == before
        assert (await withdraw(suite, collection_id)).json() == found, "a repeat changes nothing"

    async def test_refuses_ratings_and_chats_until_the_person_consents_again(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), **TERMS)
        chat = (await begin(suite, collection_id, consent_sha256=SHA256)).json()
        await talk(suite, chat)
        await withdraw(suite, collection_id)
        frontend = await suite.client("conversations", "annotation")
        terms = await frontend.get(f"/v1/collections/{collection_id}/chat-terms", params={"interactor": "ann"})
        assert terms.json()["consent"] == {"text": TEXT, "sha256": SHA256}
        assert (await get(suite, chat))["state"] == "rating", "its conversations are over"
        assert refusal(await rate(suite, chat, ratings(1, 2))) == (403, "consent-required")
        assert refusal(await begin(suite, collection_id)) == (403, "consent-required")

        again = await begin(suite, collection_id, consent_sha256=SHA256)

        assert (again.status_code, again.json()["id"]) == (201, chat["id"])
        person = await listed(suite, collection_id)
        assert (person["consent_sha256"], person["consent_withdrawn_at"]) == (SHA256, None)
        assert (await rate(suite, chat, ratings(1, 2))).status_code == 200

    async def test_does_not_let_earlier_ratings_be_replaced(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), **TERMS)
        chat = (await begin(suite, collection_id, consent_sha256=SHA256)).json()
        await talk(suite, chat)
        assert (await rate(suite, chat, ratings(1, 2))).status_code == 200
        await withdraw(suite, collection_id)
        assert refusal(await rate(suite, chat, ratings(1, 2))) == (403, "consent-required")

    async def test_changes_nothing_where_no_consent_was_asked_for(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        chat = await start(suite, collection_id, "ann")
        assert not chat["asks_consent"]
        assert (await withdraw(suite, collection_id)).json()["withdrawn_at"] is None
        assert (await answered(suite, chat))["state"] == "chatting"

    async def test_waits_for_a_chat_that_begins(self, suite: RunningSuite, databases: Databases):
        """Otherwise the chat that begins goes on after the withdrawal."""
        collection_id = await open_chats(suite, await two_bots(suite), **TERMS)
        chat = (await begin(suite, collection_id, consent_sha256=SHA256)).json()
        with psycopg.connect(suite.database.owner["conversations"]) as beginning:
            key = f"draws/{collection_id}"  # what every start of a chat holds until it is stored
            beginning.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])
            withdrawal = asyncio.create_task(withdraw(suite, collection_id))
            await locks_awaited(databases.admin_url(suite.database), 1)
            assert (await get(suite, chat))["state"] == "chatting"
        assert (await withdrawal).status_code == 200
        assert (await get(suite, chat))["state"] == "abandoned"

    async def test_is_erased_with_the_person(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), **TERMS)
        await begin(suite, collection_id, consent_sha256=SHA256)
        await withdraw(suite, collection_id)
        person = await listed(suite, collection_id)
        admin = await suite.client("conversations", "admin")
        erased = (await admin.post(f"/v1/collections/{collection_id}/chat-people/{person['id']}/erase")).json()
        assert (erased["consented_at"], erased["consent_withdrawn_at"]) == (None, None)

    @pytest.mark.parametrize("role", ["analyst", "service", "team"])
    async def test_is_for_frontends_and_administrators(self, suite: RunningSuite, role: str):
        collection_id = await open_chats(suite, await two_bots(suite), **TERMS)
        await begin(suite, collection_id, consent_sha256=SHA256)
        assert (await withdraw(suite, collection_id, role=role)).status_code == 403
        assert (await listed(suite, collection_id))["consent_sha256"] == SHA256

    async def test_refuses_strangers_collections_without_chats_and_ids_that_are_none(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), **TERMS)
        assert refusal(await withdraw(suite, collection_id)) == (404, "no-such-chat-person")
        assert (await withdraw(suite, collection_id, person="")).status_code == 422
        missing = "00000000-0000-0000-0000-000000000001"
        assert refusal(await withdraw(suite, missing)) == (404, "no-such-collection")

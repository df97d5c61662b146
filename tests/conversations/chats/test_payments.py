"""The files by which people who chat are paid."""

import csv
import hashlib
import io
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.factories.frontends import advance, exchange, open_chats, rate, ratings, start, two_bots
from tests.factories.running_suite import RunningSuite

PAY: dict[str, Any] = {"bots_per_chat": 1, "pay_per_chat": "1.67", "currency": "USD"}


async def rate_chats(suite: RunningSuite, collection_id: str, person: str, chats: int) -> None:
    for _ in range(chats):
        chat = await start(suite, collection_id, person)
        await exchange(suite, chat)
        assert (await advance(suite, chat)).status_code == 200
        assert (await rate(suite, chat, ratings(1))).status_code == 200


async def download(suite: RunningSuite, collection_id: str, role: str = "admin", **query: str) -> httpx.Response:
    client = await suite.client("conversations", role)
    return await client.get(f"/v1/collections/{collection_id}/chat-payments/file", params=query)


async def rows(suite: RunningSuite, collection_id: str, kind: str, **query: str) -> list[list[str]]:
    answer = await download(suite, collection_id, kind=kind, **query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="{kind}.csv"'
    return list(csv.reader(io.StringIO(answer.text)))


class TestFiles:
    async def test_pay_each_person_for_the_chats_that_they_rated(self, suite: RunningSuite):
        """Ann rated two chats, Bob one, Cem none: 2 x 1.67 = 3.34 and 1.67, of which the panel may pay 1.67 itself."""
        collection_id = await open_chats(suite, await two_bots(suite), **PAY)
        await rate_chats(suite, collection_id, "=ann", 2)
        await rate_chats(suite, collection_id, "bob", 1)
        await start(suite, collection_id, "cem")
        header, *table = await rows(suite, collection_id, "payments")
        assert header == ["person", "chats", "pay", "reward", "currency"]
        assert table == [["'=ann", "2", "3.34", "0.00", "USD"], ["bob", "1", "1.67", "0.00", "USD"]]
        assert await rows(suite, collection_id, "approvals") == [["'=ann"], ["bob"]]
        assert await rows(suite, collection_id, "bonuses") == [["'=ann", "3.34"], ["bob", "1.67"]]
        assert await rows(suite, collection_id, "bonuses", first_is_reward="true") == [["'=ann", "1.67"]]
        rewarded = (await rows(suite, collection_id, "payments", first_is_reward="true"))[1:]
        beside = sum(Decimal(row[2]) - Decimal(row[3]) for row in rewarded)
        assert beside == Decimal("1.67"), "reward and bonuses together are the pay"

    async def test_leave_an_erased_person_out_of_those_for_panels(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), **PAY)
        await rate_chats(suite, collection_id, "ann", 1)
        admin = await suite.client("conversations", "admin")
        (person,) = (await admin.get(f"/v1/collections/{collection_id}/chat-people")).json()["items"]
        await admin.post(f"/v1/collections/{collection_id}/chat-people/{person['id']}/erase")
        for kind in ("approvals", "bonuses"):
            assert await rows(suite, collection_id, kind) == []
        ((name, *amounts),) = (await rows(suite, collection_id, "payments"))[1:]
        assert name.startswith("erased-")
        assert amounts == ["1", "1.67", "0.00", "USD"]

    async def test_pay_people_who_withdrew_their_consent(self, suite: RunningSuite):
        text = "I am an adult."
        collection_id = await open_chats(suite, await two_bots(suite), **PAY, consent=text)
        frontend = await suite.client("conversations", "annotation")
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        body = {"collection_id": collection_id, "interactor": "ann", "consent_sha256": sha256}
        chat = (await frontend.post("/v1/chats", json=body)).json()
        await exchange(suite, chat)
        await advance(suite, chat)
        await rate(suite, chat, ratings(1))
        path = f"/v1/collections/{collection_id}/consents/withdraw"
        assert (await frontend.post(path, json={"interactor": "ann"})).status_code == 200
        assert await rows(suite, collection_id, "bonuses") == [["ann", "1.67"]]

    async def test_need_a_kind_and_a_collection_that_pays(self, suite: RunningSuite):
        unpaid = await open_chats(suite, await two_bots(suite))
        answer = await download(suite, unpaid, kind="payments")
        assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (409, "chats-pay-nothing")
        assert "pay_per_chat" in answer.json()["detail"]
        for query in ({}, {"kind": "wages"}, {"kind": "bonuses", "first_is_reward": "perhaps"}):
            assert (await download(suite, unpaid, **query)).status_code == 422

    @pytest.mark.parametrize("role", ["analyst", "annotation", "service", "team"])
    async def test_are_for_administrators(self, suite: RunningSuite, role: str):
        collection_id = await open_chats(suite, await two_bots(suite), **PAY)
        assert (await download(suite, collection_id, role, kind="payments")).status_code == 403

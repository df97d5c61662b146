"""What people read and agree to before they chat, and what administrators see of it: consent, work and pay."""

import hashlib
from typing import Any

from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from tests.factories.frontends import advance, exchange, open_chats, rate, ratings, start, talk, two_bots
from tests.factories.running_suite import RunningSuite

TEXT = "I am an adult, and my words may be published. Überall."
SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()
TERMS = {"instructions": "Talk as you like.", "consent": TEXT, "pay_per_chat": "1.67", "currency": "USD"}


async def _begin(suite: RunningSuite, collection_id: str, person: str, **more: Any) -> tuple[int, str]:
    frontend = await suite.client("conversations", "annotation")
    answer = await frontend.post("/v1/chats", json={"collection_id": collection_id, "interactor": person} | more)
    return answer.status_code, answer.json().get("id") or answer.json()["type"].rpartition(":")[2]


class TestTerms:
    async def test_are_read_before_a_chat_and_ask_for_consent_once(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), **TERMS)
        frontend = await suite.client("conversations", "annotation")

        async def terms() -> dict[str, Any]:
            path = f"/v1/collections/{collection_id}/chat-terms"
            return (await frontend.get(path, params={"interactor": "ann"})).json()

        found = await terms()
        assert (found["instructions"], found["pay_per_chat"], found["currency"]) == ("Talk as you like.", "1.67", "USD")
        assert found["consent"] == {"text": TEXT, "sha256": SHA256}
        assert await _begin(suite, collection_id, "ann") == (403, "consent-required")
        other = hashlib.sha256(b"another text").hexdigest()
        assert await _begin(suite, collection_id, "ann", consent_sha256=other) == (409, "consent-to-another-text")
        assert (await _begin(suite, collection_id, "ann", consent_sha256="x"))[0] == 422
        status, chat = await _begin(suite, collection_id, "ann", consent_sha256=SHA256)
        assert status == 201
        assert (await terms())["consent"] is None
        await talk(suite, {"id": chat})
        assert (await rate(suite, {"id": chat}, ratings(1, 2))).status_code == 200
        assert (await _begin(suite, collection_id, "ann"))[0] == 201, "a second chat needs no second consent"
        assert await _begin(suite, collection_id, "bob") == (403, "consent-required")

    async def test_without_a_text_take_no_consent(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        assert await _begin(suite, collection_id, "ann", consent_sha256=SHA256) == (409, "consent-to-another-text")
        assert (await _begin(suite, collection_id, "ann"))[0] == 201


class TestPeople:
    async def test_are_listed_with_their_consent_work_and_pay_for_administrators(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite), bots_per_chat=1, **TERMS)
        for number in range(3):
            _, chat = await _begin(suite, collection_id, "ann", consent_sha256=SHA256)
            if number < 2:  # the third chat goes on
                await exchange(suite, {"id": chat})
                assert (await advance(suite, {"id": chat})).status_code == 200
                assert (await rate(suite, {"id": chat}, ratings(1))).status_code == 200
        await _begin(suite, collection_id, "bob", consent_sha256=SHA256)
        admin, analyst, frontend = [
            await suite.client("conversations", role) for role in ("admin", "analyst", "annotation")
        ]
        path = f"/v1/collections/{collection_id}/chat-people"
        first = (await admin.get(path, params={"limit": 1})).json()
        second = (await admin.get(path, params={"cursor": first["next_cursor"]})).json()
        listed: list[dict[str, Any]] = first["items"] + second["items"]
        ann, bob = listed
        assert [each["person"] for each in (ann, bob)] == ["ann", "bob"]
        assert is_pseudonym(ann["interactor"])
        assert [(each["conversations_started"], each["chats_rated"]) for each in (ann, bob)] == [(3, 2), (1, 0)]
        assert [(each["pay"], each["currency"]) for each in (ann, bob)] == [
            ("3.34", "USD"),
            ("0.00", "USD"),
        ]  # 2 x 1.67
        assert all(each["consent_sha256"] == SHA256 and each["consented_at"] for each in (ann, bob))
        for client in (analyst, frontend):
            assert (await client.get(path)).status_code == 403

    async def test_have_no_pay_and_no_consent_where_there_is_none(self, suite: RunningSuite):
        collection_id = await open_chats(suite, await two_bots(suite))
        await start(suite, collection_id, "ann")
        admin = await suite.client("conversations", "admin")
        (ann,) = (await admin.get(f"/v1/collections/{collection_id}/chat-people")).json()["items"]
        assert [ann[name] for name in ("pay", "currency", "consent_sha256", "consented_at")] == [None] * 4

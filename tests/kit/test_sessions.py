import asyncio

import httpx
import psycopg

from tests.kit.conftest import Edge


class TestTheOrder:
    """The commit comes before the response: whoever reads 201 can rely on it."""

    async def test_a_commit_that_fails_is_not_answered_as_done(self, edge: Edge, admin: httpx.AsyncClient):
        first = await admin.post("/things", json={"name": "one", "twin": "x"})
        second = await admin.post("/things", json={"name": "two", "twin": "x"})  # the constraint is checked at commit
        assert (first.status_code, second.status_code) == (201, 500)
        assert edge.rows() == 1

    async def test_the_row_is_there_when_the_answer_is(self, edge: Edge, admin: httpx.AsyncClient):
        for number in range(1, 6):
            assert (await admin.post("/things", json={"name": str(number)})).status_code == 201
            assert edge.rows() == number

    async def test_raising_rolls_back(self, edge: Edge, admin: httpx.AsyncClient):
        assert (await admin.post("/things/raising", json={"name": "one"})).status_code == 409
        assert edge.rows() == 0

    async def test_a_read_session_cannot_write(self, edge: Edge, admin: httpx.AsyncClient):
        assert (await admin.post("/things/while-reading", json={"name": "one"})).status_code == 500
        assert edge.rows() == 0


class TestIdempotency:
    async def test_a_repeat_gets_the_same_answer_and_creates_nothing(self, edge: Edge, admin: httpx.AsyncClient):
        answers = [
            await admin.post("/things", json={"name": "one"}, headers={"Idempotency-Key": "k1"}) for _ in range(3)
        ]
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.text for answer in answers}) == 1
        assert [answer.headers.get("idempotency-replayed") for answer in answers] == [None, "true", "true"]
        assert edge.rows() == 1

    async def test_another_body_under_the_same_key_is_refused(self, edge: Edge, admin: httpx.AsyncClient):
        headers = {"Idempotency-Key": "k1"}
        await admin.post("/things", json={"name": "one"}, headers=headers)
        answer = await admin.post("/things", json={"name": "two"}, headers=headers)
        assert answer.status_code == 422
        assert answer.json()["type"].endswith("idempotency-key-reused")
        assert edge.rows() == 1

    async def test_two_at_once_create_one(self, edge: Edge, admin: httpx.AsyncClient):
        headers = {"Idempotency-Key": "k1"}
        both = await asyncio.gather(*(admin.post("/things", json={"name": "one"}, headers=headers) for _ in range(6)))
        assert {answer.status_code for answer in both} == {201}
        assert len({answer.json()["id"] for answer in both}) == 1
        assert edge.rows() == 1

    async def test_a_failed_request_does_not_use_the_key_up(self, edge: Edge, admin: httpx.AsyncClient):
        headers = {"Idempotency-Key": "k1"}
        await admin.post("/things/raising", json={"name": "one"}, headers=headers)
        again = await admin.post("/things/raising", json={"name": "other"}, headers=headers)
        assert again.status_code == 409  # and not 422: the first left nothing behind
        assert edge.rows() == 0

    async def test_a_key_is_forgotten_after_a_day(self, edge: Edge, admin: httpx.AsyncClient):
        headers = {"Idempotency-Key": "k1"}
        await admin.post("/things", json={"name": "one"}, headers=headers)
        with psycopg.connect(edge.owner_url) as connection:
            connection.execute("UPDATE bots.idempotency_keys SET created_at = now() - interval '25 hours'")
        answer = await admin.post("/things", json={"name": "two"}, headers=headers)
        assert answer.status_code == 201
        assert edge.rows() == 2

    async def test_keys_of_different_callers_do_not_meet(self, edge: Edge, admin: httpx.AsyncClient):
        headers = {"Idempotency-Key": "k1"}
        await admin.post("/things", json={"name": "one"}, headers=headers)
        async with await edge.client() as other:
            assert (await other.post("/things", json={"name": "two"}, headers=headers)).status_code == 201
        assert edge.rows() == 2


class TestPages:
    async def test_all_rows_come_once_while_rows_are_added(self, admin: httpx.AsyncClient):
        for number in range(7):
            await admin.post("/things", json={"name": str(number)})
        seen: list[str] = []
        cursor: str | None = None
        while True:
            params = {"limit": 3} | ({"cursor": cursor} if cursor else {})
            page = (await admin.get("/things", params=params)).json()
            seen += [item["name"] for item in page["items"]]
            cursor = page["next_cursor"]
            if len(seen) == 3:
                await admin.post("/things", json={"name": "late"})
            if cursor is None:
                break
        assert seen == [*map(str, range(7)), "late"]

    async def test_a_made_up_cursor_is_refused(self, admin: httpx.AsyncClient):
        for cursor in ("nonsense", "ÄÖÜ", "AAAA", "%00"):
            answer = await admin.get("/things", params={"cursor": cursor})
            assert answer.status_code == 422, cursor
            assert "next_cursor" in answer.json()["detail"]

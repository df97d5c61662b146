import asyncio

import httpx
import pytest

from tests.factories.clock import MovableClock
from tests.kit.conftest import Edge

HEADERS = {"Idempotency-Key": "k1"}


class TestIdempotency:
    async def test_a_repeat_gets_the_same_answer_and_creates_nothing(self, edge: Edge, admin: httpx.AsyncClient):
        answers = [await admin.post("/things", json={"name": "one"}, headers=HEADERS) for _ in range(3)]
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.text for answer in answers}) == 1
        assert [answer.headers.get("idempotency-replayed") for answer in answers] == [None, "true", "true"]
        assert edge.rows() == 1

    async def test_without_a_key_every_request_creates(self, edge: Edge, admin: httpx.AsyncClient):
        for _ in range(2):
            await admin.post("/things", json={"name": "one"})
        assert edge.rows() == 2

    async def test_another_body_under_the_same_key_is_refused(self, edge: Edge, admin: httpx.AsyncClient):
        await admin.post("/things", json={"name": "one"}, headers=HEADERS)
        answer = await admin.post("/things", json={"name": "two"}, headers=HEADERS)
        assert answer.status_code == 422
        assert answer.json()["type"].endswith("idempotency-key-reused")
        assert edge.rows() == 1

    async def test_the_same_key_and_body_on_another_path_is_another_request(self, admin: httpx.AsyncClient):
        await admin.post("/things", json={"name": "one"}, headers=HEADERS)
        answer = await admin.post("/things/raising", json={"name": "one"}, headers=HEADERS)
        assert (answer.status_code, answer.headers.get("idempotency-replayed")) == (409, None)

    async def test_many_at_once_create_one(self, edge: Edge, admin: httpx.AsyncClient):
        """Those that come while the first one runs are told when to come back for its answer."""
        posts = (admin.post("/things", json={"name": "slow"}, headers=HEADERS) for _ in range(6))
        answers = sorted(await asyncio.gather(*posts), key=lambda answer: answer.status_code)
        assert [answer.status_code for answer in answers] == [201, *[409] * 5]
        assert {answer.headers["Retry-After"] for answer in answers[1:]} == {"1"}
        assert {answer.json()["type"].rpartition(":")[2] for answer in answers[1:]} == {"request-under-way"}
        repeat = await admin.post("/things", json={"name": "slow"}, headers=HEADERS)
        assert (repeat.json(), repeat.headers["idempotency-replayed"]) == (answers[0].json(), "true")
        assert edge.rows() == 1

    @pytest.mark.parametrize("query", [{"dry": "true"}, {"dry": "false"}])
    async def test_another_query_under_the_same_key_is_refused(
        self, edge: Edge, admin: httpx.AsyncClient, query: dict[str, str]
    ):
        await admin.post("/things/dry", json={"name": "one"}, headers=HEADERS)
        answer = await admin.post("/things/dry", json={"name": "one"}, headers=HEADERS, params=query)
        assert answer.status_code == 422
        assert answer.json()["type"].endswith("idempotency-key-reused")
        assert edge.rows() == 1

    async def test_another_method_under_the_same_key_is_refused(self, edge: Edge, admin: httpx.AsyncClient):
        await admin.post("/things", json={"name": "one"}, headers=HEADERS)
        answer = await admin.put("/things", json={"name": "one"}, headers=HEADERS)
        assert answer.status_code == 422
        assert edge.rows() == 1

    async def test_a_path_of_any_length_has_keys(self, edge: Edge, admin: httpx.AsyncClient):
        for number, length in enumerate((500, 501, 2000), 1):
            path = "/things/of/".ljust(length, "x")
            answers = [await admin.post(path, json={"name": "one"}, headers=HEADERS) for _ in range(2)]
            assert [answer.status_code for answer in answers] == [201, 201]
            assert edge.rows() == number

    async def test_a_key_has_two_hundred_characters_at_most(self, edge: Edge, admin: httpx.AsyncClient):
        headers = {"Idempotency-Key": 200 * "k"}
        answers = [await admin.post("/things", json={"name": "one"}, headers=headers) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert edge.rows() == 1

    async def test_a_key_is_forgotten_after_a_day(self, edge: Edge, admin: httpx.AsyncClient, clock: MovableClock):
        await admin.post("/things", json={"name": "one"}, headers=HEADERS)
        clock.advance(hours=23)
        assert (await admin.post("/things", json={"name": "two"}, headers=HEADERS)).status_code == 422
        clock.advance(hours=2)
        assert (await admin.post("/things", json={"name": "two"}, headers=HEADERS)).status_code == 201
        assert edge.rows() == 2

    async def test_keys_of_different_callers_do_not_meet(self, edge: Edge, admin: httpx.AsyncClient):
        await admin.post("/things", json={"name": "one"}, headers=HEADERS)
        async with await edge.client() as other:
            assert (await other.post("/things", json={"name": "two"}, headers=HEADERS)).status_code == 201
        assert edge.rows() == 2

    @pytest.mark.parametrize("key", ["", "k" * 201, "two words", "k\u00e9"])
    async def test_a_malformed_key_is_refused(self, edge: Edge, admin: httpx.AsyncClient, key: str):
        headers = [(b"Idempotency-Key", key.encode())]
        answer = await admin.post("/things", json={"name": "one"}, headers=headers)
        assert answer.status_code == 422
        assert [fault["parameter"] for fault in answer.json()["errors"]] == ["idempotency-key"]
        assert edge.rows() == 0


class TestFailure:
    """What left no effect leaves no key behind."""

    async def test_a_refused_request_does_not_use_the_key_up(self, edge: Edge, admin: httpx.AsyncClient):
        await admin.post("/things/raising", json={"name": "one"}, headers=HEADERS)
        again = await admin.post("/things/raising", json={"name": "other"}, headers=HEADERS)
        assert again.status_code == 409  # and not 422
        assert edge.rows() == 0

    async def test_a_body_that_did_not_validate_does_not_use_the_key_up(self, edge: Edge, admin: httpx.AsyncClient):
        assert (await admin.post("/things", json={"name": ""}, headers=HEADERS)).status_code == 422
        assert (await admin.post("/things", json={"name": "one"}, headers=HEADERS)).status_code == 201
        assert edge.rows() == 1

    async def test_a_commit_that_fails_does_not_use_the_key_up(self, edge: Edge, admin: httpx.AsyncClient):
        await admin.post("/things", json={"name": "one", "twin": "x"})
        assert (await admin.post("/things", json={"name": "two", "twin": "x"}, headers=HEADERS)).status_code == 500
        assert (await admin.post("/things", json={"name": "two", "twin": "y"}, headers=HEADERS)).status_code == 201
        assert edge.rows() == 2

    async def test_a_repeat_of_a_failed_request_runs_itself(self, edge: Edge, admin: httpx.AsyncClient):
        await admin.post("/things", json={"name": "one", "twin": "x"})
        posts = (admin.post("/things", json={"name": "slow", "twin": "x"}, headers=HEADERS) for _ in range(3))
        assert {answer.status_code for answer in await asyncio.gather(*posts)} <= {409, 500}
        assert (await admin.post("/things", json={"name": "slow", "twin": "x"}, headers=HEADERS)).status_code == 500
        assert edge.rows() == 1

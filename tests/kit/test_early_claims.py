"""Claims of an Idempotency-Key that are committed before the answer is known."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse

from spotthebot.bots.metadata import IDEMPOTENCY
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.ids import new_id
from spotthebot.kit.web.database.claims import Claim, IdempotencyKeyReused, KeyClaimed, Replay, RequestUnderWay
from spotthebot.kit.web.database.idempotency import early_claim
from spotthebot.kit.web.database.resources import DatabaseResources, RunningRequests
from tests.factories.clock import MovableClock
from tests.factories.databases import DatabaseUrls

KEPT = timedelta(hours=24)
IDENTITY = {"principal": uuid4(), "path": "/things", "key": "once"}


@pytest.fixture
async def database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    opened = Database(database_urls.app["bots"], pool_size=2)
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


class TestEarlyClaim:
    async def test_says_to_a_repeat_what_was_created_until_there_is_an_answer(
        self, database: Database, clock: MovableClock
    ) -> None:
        first, repeat, created_id = _claim(database, clock), _claim(database, clock), new_id()
        assert await first.find_created() is None
        async with database.write() as session:
            await first.commit_with(session, created_id)
        clock.advance(minutes=2)
        created = await repeat.find_created()
        assert created is not None
        assert created.id == created_id
        assert timedelta(minutes=2) <= created.age < timedelta(minutes=3)
        await first.store(JSONResponse({"answer": 1}, 201))
        with pytest.raises(Replay) as replay:
            await repeat.find_created()
        assert (replay.value.response.status_code, replay.value.response.body) == (201, b'{"answer":1}')
        assert replay.value.response.headers["idempotency-replayed"] == "true"

    async def test_refuses_another_body(self, database: Database, clock: MovableClock) -> None:
        async with database.write() as session:
            await _claim(database, clock).commit_with(session, new_id())
        with pytest.raises(IdempotencyKeyReused):
            await _claim(database, clock, body=b"other").find_created()

    async def test_lets_one_of_two_requests_create(self, database: Database, clock: MovableClock) -> None:
        async with database.write() as session:
            await _claim(database, clock).commit_with(session, new_id())
        with pytest.raises(KeyClaimed):
            async with database.write() as session:
                await _claim(database, clock).commit_with(session, new_id())

    async def test_leaves_nothing_of_a_request_that_was_refused(self, database: Database, clock: MovableClock) -> None:
        with pytest.raises(ZeroDivisionError):
            async with database.write() as session:
                await _claim(database, clock).commit_with(session, new_id())
                raise ZeroDivisionError
        assert await _claim(database, clock).find_created() is None

    async def test_gives_all_requests_the_answer_that_was_stored_first(
        self, database: Database, clock: MovableClock
    ) -> None:
        first, repeat = _claim(database, clock), _claim(database, clock)
        async with database.write() as session:
            await first.commit_with(session, new_id())
        assert await repeat.find_created() is not None
        response = JSONResponse({"answer": "the repeat's"}, 201)
        await repeat.store(response)
        assert response.headers["idempotency-replayed"] == "true"
        with pytest.raises(Replay) as replay:
            await first.store(JSONResponse({"answer": "the first's"}, 201))
        assert replay.value.response.body == response.body

    async def test_stores_no_answer_that_is_left_open(self, database: Database, clock: MovableClock) -> None:
        first, repeat = _claim(database, clock), _claim(database, clock)
        async with database.write() as session:
            await first.commit_with(session, new_id())
        repeat.leave_open()
        await repeat.store(JSONResponse({"answer": "not yet"}, 201))
        assert await repeat.find_created() is not None

    async def test_ends_after_a_day(self, database: Database, clock: MovableClock) -> None:
        for _ in range(2):
            claim = _claim(database, clock)
            assert await claim.find_created() is None
            async with database.write() as session:
                await claim.commit_with(session, new_id())
            clock.advance(hours=23, minutes=59)
            assert await claim.find_created() is not None
            clock.advance(minutes=2)

    async def test_holds_to_the_last_moment_of_a_day(self, database: Database) -> None:
        made = datetime(2026, 1, 1, tzinfo=UTC)
        for after, is_held in ((timedelta(), False), (timedelta(hours=24), True), (timedelta(hours=24, days=1), False)):
            claim = Claim(database, IDEMPOTENCY, partial(_as_it_is, made + after), IDENTITY, b"body", KEPT)
            created = await claim.find_created()
            assert (created is not None) is is_held
            if is_held:
                assert created is not None
                assert created.age == after
                with pytest.raises(KeyClaimed):
                    async with database.write() as session:
                        await claim.commit_with(session, new_id())
            else:
                async with database.write() as session:
                    await claim.commit_with(session, new_id())

    async def test_refuses_a_request_while_another_creates(self, database: Database, clock: MovableClock) -> None:
        async with database.write() as session:
            await _claim(database, clock).commit_with(session, new_id())
            with pytest.raises(RequestUnderWay) as refused:
                async with database.write() as other:
                    await _claim(database, clock).commit_with(other, new_id())
        assert refused.value.facts == {"retry_after_seconds": 1}

    async def test_stores_no_answer_of_a_request_that_created_nothing(
        self, database: Database, clock: MovableClock
    ) -> None:
        claim = _claim(database, clock)
        response = JSONResponse({}, 201)
        await claim.store(response)
        assert "idempotency-replayed" not in response.headers
        assert await claim.find_created() is None

    @pytest.mark.parametrize("key", ["once", None])
    async def test_is_of_the_caller_the_path_and_the_key_of_a_request(
        self, database: Database, clock: MovableClock, key: str | None
    ) -> None:
        held = DatabaseResources(database, IDEMPOTENCY, KEPT, RunningRequests())
        app = SimpleNamespace(state=SimpleNamespace(core=SimpleNamespace(clock=clock), database=held))

        class Caller:
            key_id = IDENTITY["principal"]

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"body"}

        scope = {"type": "http", "method": "POST", "path": "/things", "query_string": b"", "headers": [], "app": app}
        request = Request(scope, receive)
        made: Claim = await early_claim(Caller)(request, database, Caller(), key)
        assert made.identity == (None if key is None else IDENTITY)
        assert request.state.idempotency is made

    async def test_does_nothing_without_a_key(self, database: Database, clock: MovableClock) -> None:
        for _ in range(2):
            claim = Claim(database, IDEMPOTENCY, clock, None, b"body", KEPT)
            assert await claim.find_created() is None
            async with database.write() as session:
                await claim.commit_with(session, new_id())
            await claim.store(JSONResponse({}))


def _as_it_is(moment: datetime) -> datetime:
    return moment


def _claim(database: Database, clock: MovableClock, body: bytes = b"body") -> Claim:
    return Claim(database, IDEMPOTENCY, clock, IDENTITY, body, KEPT)

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import psycopg
import pytest
from sqlalchemy import ARRAY, Integer, String, bindparam, column, func, literal, select, text
from sqlalchemy.types import TypeEngine

from spotthebot.kit.database.lookups import BatchedLookup, Lookups
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.database.statements import KeyedStatement, Statement
from tests.factories.databases import DatabaseUrls, PostgresServer

_NAME = "lookups-under-test"
_PID = Statement(select(func.pg_backend_pid().label("pid")))
_SLOW = Statement(select(func.pg_sleep(30)))
_WRITE = Statement(text("DELETE FROM bots.bots RETURNING id"))


@pytest.fixture
async def opened(database_urls: DatabaseUrls) -> AsyncIterator[Lookups]:
    found = Lookups(database_urls.app["bots"], application_name=_NAME)
    yield found
    await found.close()


class TestLookups:
    async def test_use_a_connection_again(self, opened: Lookups):
        pids = [(await opened.fetch(_PID, {}))[0].pid for _ in range(3)]
        assert len(set(pids)) == 1

    async def test_open_no_more_connections_than_they_may(self, opened: Lookups):
        rows = await asyncio.gather(*(opened.fetch(_PID, {}) for _ in range(50)))
        assert 1 <= len({row.pid for (row,) in rows}) <= 4

    async def test_are_refused_to_write_by_postgresql(self, opened: Lookups):
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            await opened.fetch(_WRITE, {})

    async def test_replace_connections_that_died_while_idle(self, opened: Lookups, cluster: PostgresServer):
        before = await opened.fetch(_PID, {})
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            ending = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
            assert admin.execute(ending, [_NAME]).fetchall() == [(True,)]
        assert await opened.fetch(_PID, {}) != before

    async def test_go_on_after_one_was_cancelled(self, opened: Lookups):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(opened.fetch(_SLOW, {}), 0.2)
        assert len(await opened.fetch(_PID, {})) == 1

    async def test_take_the_parameters_of_the_call_beside_the_constants_of_the_statement(self, opened: Lookups):
        both = Statement(select(bindparam("given", type_=Integer).label("given"), literal(7).label("constant")))
        assert await opened.fetch(both, {"given": 3}) == [(3, 7)]
        assert await opened.fetch(both, {"given": 4}) == [(4, 7)]

    async def test_leave_no_transaction_open(self, opened: Lookups):
        now = Statement(select(func.now().label("at"), func.pg_backend_pid().label("pid")))
        (before,), (after,) = await opened.fetch(now, {}), await opened.fetch(now, {})
        assert before.pid == after.pid
        assert before.at < after.at  # in one transaction they would be equal

    async def test_keep_the_options_of_the_url(self, database_urls: DatabaseUrls):
        url = f"{database_urls.app['bots']}?options=-c%20statement_timeout%3D4321"
        configured = Lookups(url, application_name=_NAME)
        timeout = Statement(select(func.current_setting("statement_timeout")))
        assert await configured.fetch(timeout, {}) == [("4321ms",)]
        await configured.close()

    async def test_close_their_connections(self, opened: Lookups, cluster: PostgresServer):
        await asyncio.gather(*(opened.fetch(_PID, {}) for _ in range(3)))
        await opened.close()
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            counting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
            async with asyncio.timeout(10):
                while admin.execute(counting, [_NAME]).fetchone() != (0,):
                    await asyncio.sleep(0.02)

    async def test_give_up_a_server_that_accepts_and_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            silent = Lookups(f"postgresql://nobody@127.0.0.1:{port}/none", application_name=_NAME)
            with pytest.raises(psycopg.OperationalError):
                await asyncio.wait_for(silent.fetch(_PID, {}), 15)

    async def test_raise_where_no_database_answers(self):
        lost = Lookups("postgresql://nobody@127.0.0.1:1/none", application_name=_NAME)
        with pytest.raises(psycopg.OperationalError):
            await lost.fetch(_PID, {})


def _squares() -> KeyedStatement:
    """Return a look-up of positive numbers' squares by a number and a word."""
    parts: dict[str, TypeEngine[Any]] = {"number_of": Integer(), "word": String()}
    keys = (
        func.unnest(*(bindparam(name, type_=ARRAY(each)) for name, each in parts.items()))
        .table_valued(*(column(name, each) for name, each in parts.items()), with_ordinality="number")
        .render_derived(name="key")
    )
    found = select(keys.c.number, (keys.c.number_of * keys.c.number_of).label("square"), keys.c.word)
    return KeyedStatement(found.where(keys.c.number_of > 0).order_by(keys.c.number.desc()), *parts)


class TestKeys:
    async def test_each_find_their_own_row_or_none_in_a_look_up_of_all(self, opened: Lookups):
        keys = [(number, word) for number in range(-1, 4) for word in ("a", "b")]
        squares = _squares()
        found = await asyncio.gather(*(opened.find(squares, key) for key in keys))
        assert [row and (row.square, row.word) for row in found] == [
            (number**2, word) if number > 0 else None for number, word in keys
        ]

    async def test_are_found_as_well_by_a_session_inside_its_transaction(self, database_urls: DatabaseUrls):
        database = Database(database_urls.app["bots"], application_name=_NAME)
        squares = _squares()
        async with database.write() as session:
            found = await session.find(squares, (3, "c"))
            assert ((found.square, found.word), await session.find(squares, (0, "c"))) == ((9, "c"), None)
        await database.close()


class Answers:
    """Answers batches of keys when it is released, and notes them."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.release = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, keys: Sequence[int]) -> Mapping[int, str]:
        self.batches.append(list(keys))
        await self.release.wait()
        if self.error is not None:
            raise self.error
        return {key: f"row {key}" for key in keys if key}


async def _rest() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class TestBatches:
    async def test_join_keys_that_are_asked_for_at_the_same_time(self):
        answers = Answers()
        answers.release.set()
        lookup = BatchedLookup(answers)
        assert await asyncio.gather(*map(lookup.find, [1, 2, 1, 0])) == ["row 1", "row 2", "row 1", None]
        assert answers.batches == [[1, 2, 0]]

    async def test_take_no_more_keys_once_they_were_sent(self):
        """Else a key that was revoked before a request came could still let it in."""
        answers = Answers()
        lookup = BatchedLookup(answers)
        first = asyncio.create_task(lookup.find(1))
        await _rest()
        second = asyncio.create_task(lookup.find(1))
        await _rest()
        assert answers.batches == [[1], [1]]
        answers.release.set()
        assert list(await asyncio.gather(first, second)) == ["row 1", "row 1"]

    async def test_wait_for_one_another_beyond_two_at_once(self):
        answers = Answers()
        lookup = BatchedLookup(answers)
        waiting = []
        for key in range(1, 6):
            waiting.append(asyncio.create_task(lookup.find(key)))
            await _rest()
        assert answers.batches == [[1], [2]]
        answers.release.set()
        assert await asyncio.gather(*waiting) == [f"row {key}" for key in range(1, 6)]
        assert answers.batches == [[1], [2], [3, 4, 5]]

    async def test_fail_for_everyone_in_them_and_nobody_else(self):
        answers = Answers()
        answers.error = LookupError("gone")
        answers.release.set()
        lookup = BatchedLookup(answers)
        ended = await asyncio.gather(lookup.find(1), lookup.find(2), return_exceptions=True)
        assert list(ended) == [answers.error] * 2
        answers.error = None
        assert await lookup.find(1) == "row 1"

    async def test_go_on_where_one_caller_leaves(self):
        answers = Answers()
        lookup = BatchedLookup(answers)
        leaving, staying = (asyncio.create_task(lookup.find(1)) for _ in range(2))
        await _rest()
        leaving.cancel()
        answers.release.set()
        assert await staying == "row 1"

    async def test_fail_for_those_who_stay_where_one_caller_leaves(self):
        answers = Answers()
        answers.error = LookupError("gone")
        lookup = BatchedLookup(answers)
        leaving, staying = (asyncio.create_task(lookup.find(1)) for _ in range(2))
        await _rest()
        leaving.cancel()
        answers.release.set()
        with pytest.raises(LookupError):
            await asyncio.wait_for(staying, 5)

    async def test_are_of_limited_size(self):
        answers = Answers()
        answers.release.set()
        lookup = BatchedLookup(answers)
        found = await asyncio.gather(*map(lookup.find, range(1, 502)))
        assert found == [f"row {key}" for key in range(1, 502)]
        assert [len(batch) for batch in answers.batches] == [200, 200, 101]

    async def test_cancel_their_callers_when_they_are_cancelled(self):
        async def stop(_keys: Sequence[int]) -> Mapping[int, str]:
            raise asyncio.CancelledError

        ended = await asyncio.wait_for(asyncio.gather(BatchedLookup(stop).find(1), return_exceptions=True), 5)
        assert [type(each) for each in ended] == [asyncio.CancelledError]

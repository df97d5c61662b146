import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Literal

import psycopg
import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import InternalError

from spotthebot.kit.database.pool_shares import PoolShares, PoolUser, pool_user
from spotthebot.kit.database.sessions import LONG_STATEMENT_SECONDS, Database
from spotthebot.kit.database.statements import KeyedStatement, Statement, constant
from spotthebot.kit.events.domain import DeliveryState
from tests.factories.databases import DatabaseUrls, PostgresServer

_NAME = f"test-{os.getpid()}"
"""Of this process alone: tests that run beside it share the server."""
_PID = Statement(select(func.pg_backend_pid()))
_ADD = Statement(
    text("INSERT INTO bots.idempotency_keys VALUES (gen_random_uuid(), :path, 'k', '', 200, '', now()) RETURNING path")
)
_COUNT = text("SELECT count(*) FROM bots.idempotency_keys")


@pytest.fixture
async def database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    opened = Database(database_urls.app["bots"], pool_size=2, application_name=_NAME)
    yield opened
    await opened.close()


class TestReading:
    async def test_is_refused_to_write_by_postgresql(self, database: Database):
        async with database.read() as session:
            with pytest.raises(InternalError, match="read-only transaction"):
                await session.execute(text("DELETE FROM bots.bots"))

    async def test_sees_in_each_statement_what_was_committed_before_it(self, database: Database):
        delete = text("DELETE FROM bots.idempotency_keys")
        add = text("INSERT INTO bots.idempotency_keys VALUES (gen_random_uuid(), '/', 'k', '', 200, '', now())")
        count = text("SELECT count(*) FROM bots.idempotency_keys")
        async with database.read() as session:
            seen = [await session.scalar(count)]
            for change in (add, delete):
                async with database.write() as writing:
                    await writing.execute(change)
                seen.append(await session.scalar(count))
        assert seen == [0, 1, 0]


class TestPools:
    @pytest.mark.parametrize(("kind", "connections"), [("read", 2), ("write", 4)])
    async def test_lend_as_many_connections_for_reading_as_the_setting_says_and_twice_as_many_for_writing(
        self, database: Database, kind: Literal["read", "write"], connections: int
    ):
        async def connect(stack: AsyncExitStack) -> None:
            session = await stack.enter_async_context(database.read() if kind == "read" else database.write())
            await session.execute(text("SELECT 1"))

        async with AsyncExitStack() as held:
            for _ in range(connections):
                await connect(held)
            async with AsyncExitStack() as waiting:
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(connect(waiting), 0.2)

    @pytest.mark.parametrize(("life_seconds", "connections"), [(0, 3), (300, 1)])
    @pytest.mark.parametrize("kind", ["read", "write"])
    async def test_replace_connections_of_some_age_before_they_are_used_again(
        self, database_urls: DatabaseUrls, life_seconds: int, connections: int, kind: Literal["read", "write"]
    ):
        database = Database(database_urls.app["bots"], pool_size=1, life_seconds=life_seconds)
        pids = set()
        for _ in range(3):
            async with database.read() if kind == "read" else database.write() as session:
                pids.add(await session.scalar(select(func.pg_backend_pid())))
        await database.close()
        assert len(pids) == connections


class TestSingleStatements:
    async def test_are_committed_when_their_rows_are_there(self, database: Database):
        added = await database.fetch(_ADD, {"path": "/single"})
        assert [row.path for row in added] == ["/single"]
        async with database.read() as session:
            assert await session.scalar(_COUNT) == 1
        assert await database.fetch(Statement(text("DELETE FROM bots.idempotency_keys")), {}) == []

    async def test_run_inside_the_transaction_of_a_session_that_is_given_them(self, database: Database):
        with pytest.raises(ZeroDivisionError):
            async with database.write() as session:
                await session.fetch(_ADD, {"path": "/undone"})
                assert await session.scalar(_COUNT) == 1
                raise ZeroDivisionError
        async with database.read() as reading:
            assert await reading.scalar(_COUNT) == 0

    async def test_go_on_after_one_failed_and_one_was_cancelled(self, database: Database):
        with pytest.raises(psycopg.errors.UndefinedTable):
            await database.fetch(Statement(text("SELECT FROM bots.nothing")), {})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(database.fetch(Statement(text("SELECT pg_sleep(30)")), {}), 0.2)
        assert len(await database.fetch(_PID, {})) == 1

    async def test_replace_connections_that_died_while_idle(self, database: Database, cluster: PostgresServer):
        before = await database.fetch(_PID, {})
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            ending = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
            assert admin.execute(ending, [_NAME]).fetchall() == [(True,)]
        await asyncio.sleep(0.3)
        assert await database.fetch(_PID, {}) != before

    async def test_leave_connections_to_other_users(self, database: Database):
        sleep = Statement(text("SELECT pg_sleep(30)"))
        wide = Database(database.engine.url.render_as_string(hide_password=False), pool_size=4)
        greedy = [asyncio.create_task(_fetch_as(wide, "greedy", sleep)) for _ in range(8)]
        await asyncio.sleep(0.5)
        await asyncio.wait_for(_fetch_as(wide, "other", _PID), 10)
        for task in greedy:
            task.cancel()
        await asyncio.gather(*greedy, return_exceptions=True)
        await wide.close()


class TestStatementsOfConstants:
    def test_hold_them_in_their_text_as_sql_writes_them(self):
        assert [Statement(select(constant(each))).sql for each in (DeliveryState.FAILED, 3)] == [
            b"SELECT 'failed'",
            b"SELECT 3",
        ]

    def test_take_one_array_for_each_part_of_their_keys(self):
        keyed = KeyedStatement(text("SELECT :ids, :names"), "ids", "names")
        assert keyed.parameters([(1, "a"), (2, "b")]) == {"ids": [1, 2], "names": ["a", "b"]}
        assert (keyed.numbered, keyed.names) == (b"SELECT $1, $2", ("ids", "names"))


class TestTimeOfStatements:
    async def test_is_the_logins_own_unless_another_is_given(self, database: Database, database_urls: DatabaseUrls):
        long = Database(database_urls.app["bots"], pool_size=1, statement_seconds=LONG_STATEMENT_SECONDS)
        show = text("SHOW statement_timeout")
        try:
            for given, expected in ((database, "1min"), (long, "15min")):
                for session in (given.read, given.write):
                    async with session() as opened:
                        assert await opened.scalar(show) == expected
        finally:
            await long.close()


class TestShares:
    @pytest.mark.parametrize(
        ("pool_size", "single", "reading", "writing"), [(1, 2, 2, 2), (4, 3, 2, 2), (8, 6, 4, 4), (9, 6, 4, 4)]
    )
    def test_are_three_quarters_half_and_a_quarter_of_the_connections_and_two_at_least(
        self, monkeypatch: pytest.MonkeyPatch, pool_size: int, single: int, reading: int, writing: int
    ):
        """Twice as many connections as `pool_size` write at peaks, so that half of it is a quarter of those."""
        made: list[int] = []
        monkeypatch.setattr("spotthebot.kit.database.sessions.PoolShares", made.append)
        Database("postgresql://nobody@127.0.0.1:1/none", pool_size=pool_size)
        assert made == [single, reading, writing]

    async def test_leave_connections_to_others(self, database: Database):
        """Of four connections for writing, a user has two."""
        pool_user.set(PoolUser("greedy"))
        async with AsyncExitStack() as stack:
            for _ in range(2):
                await asyncio.create_task(_enter(stack, database))
            third = asyncio.create_task(_write_as(database, "greedy"))
            await asyncio.wait_for(_write_as(database, "other"), 20)
            assert not third.done()
        await asyncio.wait_for(third, 20)

    async def test_count_a_request_that_holds_two_connections_once(self, database: Database):
        pool_user.set(PoolUser("nested"))
        async with asyncio.timeout(20), database.write(), database.write(), database.write() as session:
            assert await session.scalar(text("SELECT 1")) == 1

    async def test_are_free_again_after_a_failure(self, database: Database):
        for _ in range(5):
            with pytest.raises(ZeroDivisionError):
                await asyncio.wait_for(_write_as(database, "failing", fail=True), 20)

    async def test_refuse_nobody_after_more_requests_than_may_wait_at_once(self):
        pool_user.set(PoolUser("often"))
        shares = PoolShares(1)
        for _ in range(202):  # 200 may wait for the one connection
            async with shares.taken():
                pass


async def _fetch_as(database: Database, name: str, statement: Statement) -> None:
    pool_user.set(PoolUser(name))
    await database.fetch(statement, {})


async def _enter(stack: AsyncExitStack, database: Database) -> None:
    pool_user.set(PoolUser("greedy"))
    session = await stack.enter_async_context(database.write())
    await session.scalar(text("SELECT 1"))


async def _write_as(database: Database, name: str, *, fail: bool = False) -> None:
    pool_user.set(PoolUser(name))
    async with database.write() as session:
        await session.scalar(text("SELECT 1"))
        if fail:
            raise ZeroDivisionError


class TestConnectionsThatDied:
    async def test_are_replaced_when_they_were_idle(self, database: Database, cluster: PostgresServer):
        for session in (database.read, database.write):
            async with session() as before:
                pid = await before.scalar(text("SELECT pg_backend_pid()"))
            with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
                ended = admin.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s", [_NAME]
                ).fetchall()
            await asyncio.sleep(0.3)
            async with session() as after:
                assert await after.scalar(text("SELECT pg_backend_pid()")) != pid
            assert ended
            assert all(row == (True,) for row in ended)

    async def test_are_replaced_at_once_when_a_look_up_found_its_own_dead(
        self, database: Database, cluster: PostgresServer, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("spotthebot.kit.database.sessions.IDLE_SECONDS", 60)  # else the pools test them in any case
        for session in (database.read, database.write):
            async with session() as before:
                await before.scalar(text("SELECT 1"))
        await database.statements.fetch(_PID, {})
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            ending = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
            assert len(admin.execute(ending, [_NAME]).fetchall()) == 3
        await database.statements.fetch(_PID, {})
        for session in (database.read, database.write):
            async with session() as after:
                assert await after.scalar(text("SELECT 1")) == 1

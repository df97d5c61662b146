import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import (
    ARRAY,
    Column,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    column,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.types import TypeEngine

from spotthebot.kit.database.sessions import Database
from spotthebot.kit.database.statement_pool import IDLE_SECONDS, StatementPool
from spotthebot.kit.database.statements import KeyedStatement, Statement
from tests.factories.databases import DatabaseUrls, PostgresServer

_NAME = "statements-under-test"
_PID = Statement(select(func.pg_backend_pid().label("pid")))
_SLOW = Statement(select(func.pg_sleep(30)))
_WRITTEN_PID = Statement(text("SELECT pg_backend_pid() AS pid"))  # SQL given as text may write
_SLOW_WRITE = Statement(text("SELECT pg_sleep(30)"))


def _end_connections(cluster: PostgresServer) -> None:
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        ending = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
        ended = admin.execute(ending, [_NAME]).fetchall()
    assert ended
    assert set(ended) == {(True,)}


async def _wait_for_sleeping(cluster: PostgresServer, statements: int) -> None:
    """Wait until PostgreSQL runs this number of slow statements."""
    counting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND wait_event = 'PgSleep'"
    with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
        async with asyncio.timeout(30):
            while admin.execute(counting, [_NAME]).fetchone() != (statements,):
                await asyncio.sleep(0.02)


@pytest.fixture
async def opened(database_urls: DatabaseUrls) -> AsyncIterator[StatementPool]:
    found = StatementPool(database_urls.app["bots"], application_name=_NAME, connections=2)
    yield found
    await found.close()


class TestStatements:
    async def test_use_a_connection_again(self, opened: StatementPool):
        pids = [(await opened.fetch(_PID, {}))[0].pid for _ in range(3)]
        assert len(set(pids)) == 1

    async def test_open_no_more_connections_than_they_may(self, opened: StatementPool):
        rows = await asyncio.gather(*(opened.fetch(_PID, {}) for _ in range(50)))
        assert 1 <= len({row.pid for (row,) in rows}) <= 6

    async def test_read_on_connections_that_writing_leaves_free(self, opened: StatementPool, cluster: PostgresServer):
        writing = [asyncio.create_task(opened.fetch(_SLOW_WRITE, {})) for _ in range(20)]
        await _wait_for_sleeping(cluster, 2)
        await asyncio.wait_for(asyncio.gather(*(opened.fetch(_PID, {}) for _ in range(20))), 5)
        assert not any(task.done() for task in writing)
        for task in writing:
            task.cancel()
        await asyncio.gather(*writing, return_exceptions=True)

    async def test_are_sent_again_at_once_where_they_only_read(self, opened: StatementPool, cluster: PostgresServer):
        await opened.fetch(_PID, {})
        _end_connections(cluster)
        assert len(await opened.fetch(_PID, {})) == 1
        assert opened.lost_at > 0

    async def test_are_sent_once_only_where_they_may_write(self, opened: StatementPool, cluster: PostgresServer):
        """The connection dies after the statement was sent: nobody knows whether it took effect."""
        writing = asyncio.create_task(opened.fetch(_SLOW_WRITE, {}))
        await _wait_for_sleeping(cluster, 1)
        _end_connections(cluster)
        with pytest.raises(psycopg.OperationalError):
            await asyncio.wait_for(writing, 5)

    async def test_are_not_sent_again_where_they_take_too_long(self, database_urls: DatabaseUrls):
        url = f"{database_urls.app['bots']}?options=-c%20statement_timeout%3D200"
        impatient = StatementPool(url, application_name=_NAME, connections=2)
        await asyncio.gather(*(impatient.fetch(_PID, {}) for _ in range(4)))
        with pytest.raises(psycopg.errors.QueryCanceled):
            await impatient.fetch(_SLOW, {})
        assert impatient.lost_at == float("-inf"), "it took the connection for dead, and sent the statement on another"
        await impatient.close()

    @pytest.mark.parametrize("statement", [_PID, _WRITTEN_PID])
    async def test_replace_connections_that_died_while_idle(
        self, opened: StatementPool, cluster: PostgresServer, statement: Statement
    ):
        before = await opened.fetch(statement, {})
        _end_connections(cluster)
        await asyncio.sleep(1.2 * IDLE_SECONDS)  # a statement that may write trusts a connection used just before
        assert await opened.fetch(statement, {}) != before

    async def test_go_on_after_one_was_cancelled(self, opened: StatementPool):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(opened.fetch(_SLOW, {}), 0.2)
        assert len(await opened.fetch(_PID, {})) == 1

    async def test_take_the_parameters_of_the_call_beside_the_constants_of_the_statement(self, opened: StatementPool):
        both = Statement(select(bindparam("given", type_=Integer).label("given"), literal(7).label("constant")))
        assert await opened.fetch(both, {"given": 3}) == [(3, 7)]
        assert await opened.fetch(both, {"given": 4}) == [(4, 7)]

    async def test_leave_no_transaction_open(self, opened: StatementPool):
        now = Statement(select(func.now().label("at"), func.pg_backend_pid().label("pid")))
        (before,), (after,) = await opened.fetch(now, {}), await opened.fetch(now, {})
        assert before.pid == after.pid
        assert before.at < after.at  # in one transaction they would be equal

    async def test_keep_the_options_of_the_url(self, database_urls: DatabaseUrls):
        url = f"{database_urls.app['bots']}?options=-c%20statement_timeout%3D4321"
        configured = StatementPool(url, application_name=_NAME, connections=2)
        timeout = Statement(select(func.current_setting("statement_timeout")))
        assert await configured.fetch(timeout, {}) == [("4321ms",)]
        await configured.close()

    async def test_close_their_connections(self, opened: StatementPool, cluster: PostgresServer):
        await asyncio.gather(*(opened.fetch(_PID, {}) for _ in range(3)))
        await opened.close()
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            counting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
            async with asyncio.timeout(60):
                while admin.execute(counting, [_NAME]).fetchone() != (0,):
                    await asyncio.sleep(0.02)

    async def test_give_up_a_server_that_accepts_and_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            silent = StatementPool(f"postgresql://nobody@127.0.0.1:{port}/none", application_name=_NAME, connections=2)
            with pytest.raises(psycopg.OperationalError):
                await asyncio.wait_for(silent.fetch(_PID, {}), 15)

    async def test_raise_where_no_database_answers(self):
        lost = StatementPool("postgresql://nobody@127.0.0.1:1/none", application_name=_NAME, connections=2)
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
    async def test_each_find_their_own_row_or_none_in_a_look_up_of_all(self, opened: StatementPool):
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


class TestOnlyReads:
    """A statement that wrote or locked and was sent again might do so twice."""

    _ROWS = Table("rows", MetaData(), Column("id", Integer), Column("word", String))
    _WRITES = (
        insert(_ROWS).values(id=1),
        update(_ROWS).values(id=1),
        select(_ROWS.c.id).with_for_update(),
        select(_ROWS.c.id).where(_ROWS.c.id == select(_ROWS.c.id).with_for_update().scalar_subquery()),
        select(insert(_ROWS).values(id=1).returning(_ROWS.c.id).cte().c.id),
        select(_ROWS.c.id).add_cte(insert(_ROWS).values(id=1).cte()),
        text("SELECT 1"),
    )
    _READS = (select(_ROWS.c.id), select(select(_ROWS.c.id).cte().c.id), select(func.count()).select_from(_ROWS))

    @pytest.mark.parametrize("number", range(len(_WRITES)))
    def test_is_false_where_something_is_written_or_locked(self, number: int):
        assert not Statement(self._WRITES[number]).only_reads

    @pytest.mark.parametrize("number", range(len(_READS)))
    def test_is_true_of_plain_reads(self, number: int):
        assert Statement(self._READS[number]).only_reads

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb
from sqlalchemy import ARRAY, Integer, LargeBinary, Text, Uuid, bindparam, func, literal, select, text
from sqlalchemy.engine import make_url

from spotthebot.kit.database.libpq import LibpqConnection
from spotthebot.kit.database.statements import Statement
from tests.factories.databases import DatabaseUrls, PostgresServer

_IDS = [UUID(int=1), UUID(int=2**127)]
_PID = Statement(select(func.pg_backend_pid().label("pid")))
_GIVEN = Statement(select(bindparam("given", type_=Text).label("given")))


@pytest.fixture
def conninfo(database_urls: DatabaseUrls) -> str:
    return database_urls.app["bots"].replace("postgresql+psycopg", "postgresql")


@pytest.fixture
async def connection(conninfo: str) -> AsyncIterator[LibpqConnection]:
    opened = await LibpqConnection.open(conninfo, application_name="libpq-under-test")
    yield opened
    await opened.close()


@asynccontextmanager
async def _faulty_proxy(
    conninfo: str, *, when: bytes, fault: Callable[[asyncio.StreamWriter], Awaitable[None]]
) -> AsyncIterator[str]:
    """Pass everything between client and PostgreSQL, until the client sends `when`: then it gets the fault."""
    url = make_url(conninfo)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(url.host, url.port)

        async def answer() -> None:
            while data := await from_server.read(65_536):
                writer.write(data)

        answering = asyncio.create_task(answer())
        while data := await reader.read(65_536):
            if when in data:
                answering.cancel()
                await fault(writer)
            else:
                to_server.write(data)
        answering.cancel()
        to_server.close()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield url.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)


async def _garble(to_client: asyncio.StreamWriter) -> None:
    """Answer with what is no message of the protocol."""
    to_client.write(b"\x01" * 100)


async def _hang_up_later(to_client: asyncio.StreamWriter) -> None:
    """Read nothing for a while, so that the client can't send all it has, and hang up."""
    await asyncio.sleep(0.2)
    to_client.transport.abort()


class TestLibpqConnection:
    @pytest.mark.parametrize(
        ("sql", "given"),
        [
            ("SELECT unnest(CAST(:given AS uuid[])) AS id", _IDS),
            ("SELECT unnest(CAST(:given AS uuid[])) AS id", []),
            ("SELECT CAST(:given AS text) AS one, 1 AS two, NULL AS three", "50 % ü 'quoted' \\ {}"),
            ("SELECT CAST(:given AS bytea) AS body", b"\x00\xff"),
            ("SELECT CAST(:given AS jsonb) AS found", Jsonb({"a": [1, None, 2.5]})),
            ("SELECT CAST(:given AS timestamptz) AS at", datetime(2026, 11, 23, 1, 2, 3, 456789, UTC)),
            ("SELECT CAST(:given AS int) + 1 AS next", 7),
            ("SELECT CAST(:given AS bigint) AS large", 2**40),
            ("SELECT CAST(:given AS float8) AS share, CAST(:given AS float8) * 2 AS twice", 0.1),
            ("SELECT CAST(:given AS bool) AS held, ARRAY['a', NULL] AS words", None),
            ("SELECT WHERE CAST(:given AS bool)", True),
        ],
    )
    async def test_returns_what_a_cursor_of_psycopg_returns(
        self, connection: LibpqConnection, conninfo: str, sql: str, given: Any
    ):
        statement = Statement(text(sql))
        found = [await connection.run(statement, {"given": given}) for _ in range(2)]
        with psycopg.connect(conninfo) as other:
            expected = other.execute(statement.sql.decode(), {"given": given}).fetchall()
        assert found == [expected, expected]

    async def test_columns_are_attributes(self, connection: LibpqConnection):
        (row,) = await connection.run(Statement(select(literal(1).label("first"), literal("b").label("second"))), {})
        assert (row.first, row.second) == (1, "b")

    async def test_a_parameter_may_have_another_type_each_time(self, connection: LibpqConnection):
        listed = Statement(select(func.cardinality(bindparam("given", type_=ARRAY(Integer)))))
        given: list[list[int | None]] = [[], [1], [2**20], [None, 2]]
        assert [(await connection.run(listed, {"given": each}))[0][0] for each in given] == [0, 1, 1, 2]

    async def test_a_parameter_may_be_larger_than_what_a_socket_holds(self, connection: LibpqConnection):
        size = Statement(select(func.length(bindparam("given", type_=LargeBinary))))
        body = b"x" * 32 * 2**20
        assert await connection.run(size, {"given": body}) == [(len(body),)]

    async def test_an_error_of_a_statement_is_psycopgs_and_the_connection_goes_on(self, connection: LibpqConnection):
        divide = Statement(select(literal(1) / bindparam("given", type_=Integer)))
        for _ in range(2):
            with pytest.raises(psycopg.errors.DivisionByZero):
                await connection.run(divide, {"given": 0})
        assert len(await connection.run(_PID, {})) == 1

    async def test_a_statement_that_is_none_is_refused_by_postgresql(self, connection: LibpqConnection):
        with pytest.raises(psycopg.errors.SyntaxError):
            await connection.run(Statement(text("SELEC 1")), {})
        assert await connection.run(_GIVEN, {"given": "a"}) == [("a",)]

    async def test_notices_and_settings_that_change_disturb_nothing(self, connection: LibpqConnection):
        notify = Statement(text("DO $$ BEGIN RAISE NOTICE 'x'; PERFORM set_config('TimeZone', 'UTC', false); END $$"))
        assert await connection.run(notify, {}) == []
        assert await connection.run(_GIVEN, {"given": "a"}) == [("a",)]

    async def test_statements_see_no_transaction_of_the_one_before(self, connection: LibpqConnection):
        started = Statement(select(func.now().label("at")))
        (before,), (after,) = await connection.run(started, {}), await connection.run(started, {})
        assert before.at < after.at

    async def test_the_end_of_the_server_while_a_statement_runs_is_operational(
        self, connection: LibpqConnection, cluster: PostgresServer
    ):
        ((pid,),) = await connection.run(_PID, {})
        sleeping = asyncio.create_task(connection.run(Statement(select(func.pg_sleep(30))), {}))
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            active = (
                "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active' AND query LIKE '%%sleep%%'"
            )
            async with asyncio.timeout(20):
                while admin.execute(active, [pid]).fetchone() != (1,):
                    await asyncio.sleep(0.01)
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        with pytest.raises(psycopg.OperationalError):
            await sleeping
        with pytest.raises(psycopg.OperationalError):
            await connection.run(_PID, {})

    async def test_an_answer_that_is_none_of_the_protocol_is_operational(self, conninfo: str):
        async with _faulty_proxy(conninfo, when=b"pg_sleep", fault=_garble) as garbled:
            connection = await LibpqConnection.open(garbled, application_name="libpq-under-test")
            assert len(await connection.run(_PID, {})) == 1
            with pytest.raises(psycopg.OperationalError):
                await connection.run(Statement(select(func.pg_sleep(0))), {})
            await connection.close()

    async def test_the_end_of_the_server_while_a_statement_is_sent_is_operational(self, conninfo: str):
        size = Statement(select(func.length(bindparam("given", type_=LargeBinary))))
        async with _faulty_proxy(conninfo, when=b"x" * 1000, fault=_hang_up_later) as deaf:
            connection = await LibpqConnection.open(deaf, application_name="libpq-under-test")
            async with asyncio.timeout(20):
                with pytest.raises(psycopg.OperationalError):
                    await connection.run(size, {"given": b"x" * 32 * 2**20})
            await connection.close()

    async def test_an_end_while_idle_is_noticed_by_the_next_statement_or_ping(
        self, connection: LibpqConnection, cluster: PostgresServer
    ):
        await connection.ping()
        ((pid,),) = await connection.run(_PID, {})
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        with pytest.raises(psycopg.OperationalError):
            await connection.ping()
        with pytest.raises(psycopg.OperationalError):
            await connection.run(_PID, {})

    async def test_closes_twice(self, connection: LibpqConnection):
        await connection.close()
        await connection.close()
        with pytest.raises(psycopg.OperationalError):
            await connection.run(_PID, {})


class TestStatement:
    def test_numbers_each_name_once_wherever_it_stands(self):
        statement = Statement(text("SELECT :b, :a, :b, 5 % 3"))
        assert (statement.numbered, statement.names) == (b"SELECT $1, $2, $1, 5 % 3", ("b", "a"))

    def test_keeps_constants_beside_what_a_call_gives(self):
        statement = Statement(select(bindparam("given", type_=Uuid), literal(7)))
        assert {name: statement.constants[name] for name in statement.names} == {"given": None, "param_1": 7}

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import psycopg
import pytest
from sqlalchemy import Integer, bindparam, func, literal, select, text
from sqlalchemy.engine import make_url

from spotthebot.kit import autocommit
from spotthebot.kit.autocommit import AutocommitPool, LastLoss
from spotthebot.kit.statements import Statement
from tests.factories.databases import DatabaseUrls, PostgresServer

_NAME = "autocommit-under-test"
_PID = Statement(select(func.pg_backend_pid().label("pid")))
_SLEEP = Statement(select(func.pg_sleep(bindparam("seconds", type_=Integer))))
_DIVIDE = Statement(select(literal(1) / bindparam("given", type_=Integer)))
_END = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"


def _pool(url: str, *, connections: int = 4, reads: bool = False) -> AutocommitPool:
    return AutocommitPool(url, application_name=_NAME, connections=connections, loss=LastLoss(), reads=reads)


@pytest.fixture
def url(database_urls: DatabaseUrls) -> str:
    return database_urls.app["bots"]


@pytest.fixture
async def pool(url: str) -> AsyncIterator[AutocommitPool]:
    opened = _pool(url)
    yield opened
    await opened.close()


@asynccontextmanager
async def _proxy(url: str, port: int) -> AsyncIterator[None]:
    """Pass everything between client and PostgreSQL."""
    parsed = make_url(url)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(parsed.host, parsed.port)

        async def answer() -> None:
            while data := await from_server.read(65_536):
                writer.write(data)

        answering = asyncio.create_task(answer())
        while data := await reader.read(65_536):
            to_server.write(data)
        answering.cancel()
        to_server.close()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", port):
        yield


async def _until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await is_so():
            await asyncio.sleep(0.01)


class TestFetch:
    async def test_raises_psycopgs_error_and_keeps_the_connection(self, pool: AutocommitPool):
        before = await pool.fetch(_PID, {})
        for _ in range(2):
            with pytest.raises(psycopg.errors.DivisionByZero):
                await pool.fetch(_DIVIDE, {"given": 0})
        assert await pool.fetch(_PID, {}) == before

    async def test_returns_an_empty_list_for_a_statement_without_rows(self, pool: AutocommitPool):
        notify = Statement(text("DO $$ BEGIN RAISE NOTICE 'x'; END $$"))
        assert await pool.fetch(notify, {}) == []

    async def test_sends_a_statement_whose_time_is_up_once_even_where_it_only_reads(self, url: str):
        limited = _pool(f"{url}?options=-c%20statement_timeout%3D100", reads=True)
        with pytest.raises(psycopg.errors.QueryCanceled):
            await limited.fetch(_SLEEP, {"seconds": 30})
        await limited.close()


class TestConnections:
    async def test_are_replaced_at_some_age(self, url: str, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(autocommit, "LIFE_SECONDS", 0.01)
        pool, pids = _pool(url), set()
        for _ in range(6):
            pids.add((await pool.fetch(_PID, {}))[0].pid)
            await asyncio.sleep(0.02)
        await pool.close()
        assert len(pids) > 1

    async def test_replace_each_other_at_once_when_all_died(self, pool: AutocommitPool, cluster: PostgresServer):
        await asyncio.gather(*(pool.fetch(_SLEEP, {"seconds": 1}) for _ in range(4)))
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            assert len(admin.execute(_END, [_NAME]).fetchall()) == 4
        await asyncio.sleep(0.3)
        async with asyncio.timeout(5):  # one after the other they would take 7 seconds
            assert len(await pool.fetch(_PID, {})) == 1

    async def test_are_made_again_once_the_server_is_back(self, url: str, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(autocommit, "_WAIT_SECONDS", 2.0)
        with socket.create_server(("127.0.0.1", 0)) as reserved:
            port = reserved.getsockname()[1]
        away = make_url(url).set(host="127.0.0.1", port=port).render_as_string(hide_password=False)
        pool = _pool(away)
        for _ in range(2):
            with pytest.raises(psycopg.OperationalError):
                await pool.fetch(_PID, {})
        async with _proxy(url, port), asyncio.timeout(20):
            assert len(await pool.fetch(_PID, {})) == 1
            await pool.close()

    @pytest.mark.parametrize("reads", [True, False])
    async def test_run_a_statement_again_whose_server_ended_only_where_it_reads(
        self, url: str, cluster: PostgresServer, reads: bool
    ):
        pool = _pool(url, connections=1, reads=reads)
        sleeping = asyncio.create_task(pool.fetch(_SLEEP, {"seconds": 3}))
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:

            async def is_active() -> bool:
                running = f"{_END} AND state = 'active' AND query LIKE '%%pg_sleep%%'"
                return admin.execute(running, [_NAME]).fetchall() == [(True,)]

            await _until(is_active)
        if reads:
            assert len(await sleeping) == 1
        else:
            with pytest.raises(psycopg.OperationalError):
                await sleeping
        assert len(await pool.fetch(_PID, {})) == 1
        await pool.close()

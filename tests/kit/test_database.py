import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import InternalError

from spotthebot.kit.database import Database
from spotthebot.kit.lookups import Lookup
from tests.factories.databases import DatabaseUrls, PostgresServer

_NAME = "the-one-under-test"
_PID = Lookup(select(func.pg_backend_pid()))


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
        monkeypatch.setattr("spotthebot.kit.database._IDLE_SECONDS", 60)  # else the pools test them in any case
        for session in (database.read, database.write):
            async with session() as before:
                await before.scalar(text("SELECT 1"))
        await database.lookups.fetch(_PID, {})
        with psycopg.connect(cluster.admin_url, autocommit=True) as admin:
            ending = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
            assert len(admin.execute(ending, [_NAME]).fetchall()) == 3
        await database.lookups.fetch(_PID, {})
        for session in (database.read, database.write):
            async with session() as after:
                assert await after.scalar(text("SELECT 1")) == 1

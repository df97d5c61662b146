"""Requests of one key that hang take little from others: repeats hold nothing, writes a share of the pool."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import created

ONCE = {"Idempotency-Key": "once"}
QUICK_SECONDS = 3.0
BUILTIN = {"domains": ["d"], "protocol": {"kind": "builtin", "model": "dull"}}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots",)


@pytest.fixture
async def usual(database_urls: DatabaseUrls) -> AsyncIterator[RunningSuite]:
    """The service `bots` with as many connections as it usually has."""
    async with run_suite(database_urls, only=("bots",), bots={"database_pool_size": 8}) as running:
        yield running


class TestRepeats:
    async def test_do_not_keep_other_teams_waiting(self, usual: RunningSuite):
        """24 registrations under one key with a hanging webhook filled the write pool: a PATCH got 503 after 30 s."""
        reached, opened = asyncio.Event(), asyncio.Event()

        async def hang(question: dict[str, Any]) -> dict[str, str]:
            reached.set()
            await opened.wait()
            return well_behaved(question)

        attacker = await usual.client("bots", "team", team="attackers")
        other = await usual.client("bots", "team", team="others")
        theirs = await created(other, "/v1/bots", BUILTIN | {"name": "theirs"})
        async with bot(hang) as (_, url):
            first = asyncio.create_task(attacker.post("/v1/bots", json=webhook(url), headers=ONCE))
            await reached.wait()
            started = time.monotonic()
            repeats = await asyncio.gather(
                *(attacker.post("/v1/bots", json=webhook(url), headers=ONCE) for _ in range(24))
            )
            assert time.monotonic() - started < 10
            assert {answer.status_code for answer in repeats} == {409}
            assert {int(answer.headers["Retry-After"]) >= 1 for answer in repeats} == {True}
            started = time.monotonic()
            changed = await other.patch(f"/v1/bots/{theirs['id']}", json={"description": "ours"})
            assert (changed.status_code, time.monotonic() - started < QUICK_SECONDS) == (200, True)
            opened.set()
            assert (await first).status_code == 201


@pytest.fixture
def short_waits(databases: Databases, database_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Statements wait 2 s for a lock (5 outside) and requests 4 s for a connection of their key's share (10)."""
    monkeypatch.setattr("spotthebot.kit.database.pool_shares._WAIT_SECONDS", 4.0)
    url = conninfo_to_dict(database_urls.app["bots"])
    names = {"role": sql.Identifier(str(url["user"])), "database": sql.Identifier(str(url["dbname"]))}
    role = sql.SQL("ALTER ROLE {role} IN DATABASE {database} ").format(**names)
    with psycopg.connect(databases.admin_url(database_urls), autocommit=True) as connection:
        connection.execute(role + sql.SQL("SET lock_timeout = '2s'"))
        yield
        connection.execute(role + sql.SQL("RESET lock_timeout"))


class TestHangingWrites:
    @pytest.mark.usefixtures("short_waits")
    async def test_hold_a_share_of_the_pool_only(self, usual: RunningSuite, database_urls: DatabaseUrls):
        """24 writes of one key wait for a row that somebody has locked; another key's write is quick."""
        attacker = await usual.client("bots", "team", team="attackers")
        other = await usual.client("bots", "team", team="others")
        mine = await created(attacker, "/v1/bots", BUILTIN | {"name": "mine"})
        theirs = await created(other, "/v1/bots", BUILTIN | {"name": "theirs"})
        async with _locked(database_urls, mine["id"]):
            path = f"/v1/bots/{mine['id']}"
            hanging = [asyncio.create_task(attacker.patch(path, json={"description": "x"})) for _ in range(24)]
            await asyncio.sleep(1)
            for _ in range(5):
                started = time.monotonic()
                changed = await other.patch(f"/v1/bots/{theirs['id']}", json={"description": "ours"})
                assert (changed.status_code, time.monotonic() - started < QUICK_SECONDS) == (200, True)
            answers = await asyncio.gather(*hanging)
        assert {answer.status_code for answer in answers} <= {429, 503}
        assert {answer.headers["Retry-After"] for answer in answers} == {"1"}

    async def test_end_when_a_lock_does_not_come(self, suite: RunningSuite):
        team = await suite.client("bots", "team", team="us")
        mine = await created(team, "/v1/bots", BUILTIN | {"name": "mine"})
        async with _locked(suite.database, mine["id"]):
            started = time.monotonic()
            answer = await team.patch(f"/v1/bots/{mine['id']}", json={"description": "x"})
            assert answer.status_code == 503
            assert 4 < time.monotonic() - started < 20
        assert (await team.patch(f"/v1/bots/{mine['id']}", json={"description": "x"})).status_code == 200


@asynccontextmanager
async def _locked(urls: DatabaseUrls, bot_id: str) -> AsyncIterator[None]:
    async with await psycopg.AsyncConnection.connect(urls.owner["bots"]) as connection:
        await connection.execute("SELECT FROM bots.bots WHERE id = %s FOR UPDATE", [bot_id])
        yield

"""Registration in steps: no transaction while a bot is probed, and no step lost or repeated when one is cut short."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import httpx
import psycopg
import pytest
from cryptography.fernet import Fernet

from spotthebot.kit.processes.child import Child
from spotthebot.kit.processes.sockets import bind
from tests.factories.bot_servers import bot, webhook, well_behaved
from tests.factories.databases import DatabaseUrls, PostgresServer
from tests.factories.processes import launched
from tests.factories.running_suite import Keys, RunningSuite, bots_settings, run_suite
from tests.factories.studies import created

ONCE = {"Idempotency-Key": "once"}
SESSIONS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = %s AND application_name = 'spotthebot-bots' AND state IS NOT NULL
"""
TRANSACTIONS = """
    SELECT pid, xact_start FROM pg_stat_activity
    WHERE datname = %s AND application_name = 'spotthebot-bots' AND state LIKE 'idle in transaction%%'
"""


class _Gate:
    """A bot that answers nobody until it is opened."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, question: dict[str, Any]) -> dict[str, str]:
        self.reached.set()
        await self.opened.wait()
        return well_behaved(question)


async def _probes_of(client: httpx.AsyncClient, bot_id: str) -> list[tuple[int, str]]:
    probes = (await client.get(f"/v1/bots/{bot_id}/probes")).json()["items"]
    return [(probe["version"], probe["trigger"]) for probe in probes if probe["trigger"] != "heartbeat"]


async def _until_active(client: httpx.AsyncClient, bot_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            found: dict[str, Any] = (await client.get(f"/v1/bots/{bot_id}")).json()
            if found["status"] == "active":
                return found
            await asyncio.sleep(0.05)


async def _until_answered(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> httpx.Response:
    """Send a request with its key again until there is another answer than to come back."""
    async with asyncio.timeout(60):
        while (answer := await client.post(path, json=body, headers=ONCE)).status_code == 409:
            assert int(answer.headers["Retry-After"]) >= 1
            await asyncio.sleep(0.2)
    return answer


async def _until_probed(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> httpx.Response:
    """Send a request with its key again until its answer has the probe: a slow machine answers without it first."""
    async with asyncio.timeout(60):
        while (answer := await _until_answered(client, path, body)).json()["probe"] is None:
            await asyncio.sleep(0.2)
    return answer


class TestProbe:
    async def test_leaves_no_transaction_open_during_a_registration(
        self, suite: RunningSuite, cluster: PostgresServer
    ) -> None:
        """While a bot hangs, everybody sees it as probing, and no connection of the service waits in a transaction."""
        gate = _Gate()
        team = await suite.client("bots", "team", team="us")
        async with bot(gate) as (_, url):
            registration = asyncio.create_task(team.post("/v1/bots", json=webhook(url), headers=ONCE))
            await gate.reached.wait()
            (listed,) = (await team.get("/v1/bots")).json()["items"]
            assert (listed["status"], listed["version"], listed["probe"]) == ("probing", 1, None)
            found = await _lasting_transactions(cluster, suite)
            gate.opened.set()
            answer = await registration
        assert found == set()
        assert answer.status_code == 201
        assert answer.json()["status"] == "active"
        assert answer.json()["id"] == listed["id"]
        assert await _probes_of(team, listed["id"]) == [(1, "registration")]

    async def test_leaves_no_transaction_open_while_a_version_is_added(
        self, suite: RunningSuite, cluster: PostgresServer
    ) -> None:
        gate = _Gate()
        team = await suite.client("bots", "team", team="us")
        async with bot(well_behaved) as (_, url), bot(gate) as (_, slow):
            path = f"/v1/bots/{(await created(team, '/v1/bots', webhook(url)))['id']}"
            addition = asyncio.create_task(team.post(f"{path}/versions", json=_version(slow), headers=ONCE))
            await gate.reached.wait()
            found = (await team.get(path)).json()
            assert (found["status"], found["version"]) == ("probing", 2)
            transactions = await _lasting_transactions(cluster, suite)
            gate.opened.set()
            answer = (await addition).json()
        assert transactions == set()
        assert (answer["status"], answer["version"]) == ("active", 2)

    async def test_leaves_connections_to_others_when_many_bots_hang(self, database_urls: DatabaseUrls) -> None:
        """Eight hanging registrations and three connections: a read takes no longer than without them."""
        gate = _Gate()
        settings = bots_settings() | {"probes_per_team": 8, "database_pool_size": 1}
        async with run_suite(database_urls, only=("bots",), bots=settings) as suite, bot(gate) as (served, url):
            team = await suite.client("bots", "team", team="us")
            registrations = [
                asyncio.create_task(team.post("/v1/bots", json=webhook(url, name=f"bot {number}")))
                for number in range(8)
            ]
            async with asyncio.timeout(60):
                while served.at_once < 8:
                    await asyncio.sleep(0.02)
                assert len((await team.get("/v1/bots")).json()["items"]) == 8
                refused = await team.post("/v1/bots", json=webhook(url, name="one too many"))
            assert refused.status_code == 429
            gate.opened.set()
            assert {(await each).json()["status"] for each in registrations} == {"active"}
            assert len((await team.get("/v1/bots")).json()["items"]) == 8


class TestRepeat:
    async def test_is_refused_while_the_registration_runs(self, suite: RunningSuite) -> None:
        gate = _Gate()
        team = await suite.client("bots", "team", team="us")
        async with bot(gate) as (_, url):
            post = asyncio.create_task(team.post("/v1/bots", json=webhook(url), headers=ONCE))
            await gate.reached.wait()
            early = await asyncio.gather(*(team.post("/v1/bots", json=webhook(url), headers=ONCE) for _ in range(3)))
            assert {answer.status_code for answer in early} == {409}
            assert {answer.json()["type"].rpartition(":")[2] for answer in early} == {"request-under-way"}
            assert all(int(answer.headers["Retry-After"]) >= 1 for answer in early)
            assert not post.done()
            gate.opened.set()
            first = await post
            late = await team.post("/v1/bots", json=webhook(url), headers=ONCE)
            other = await team.post("/v1/bots", json=webhook(url, name="other"), headers=ONCE)
            assert (other.status_code, other.json()["type"].rpartition(":")[2]) == (422, "idempotency-key-reused")
        assert (first.status_code, late.status_code) == (201, 201)
        assert first.text == late.text
        assert first.json()["probe"]["passed"] is True
        assert [answer.headers.get("idempotency-replayed") for answer in (first, late)] == [None, "true"]
        assert len((await team.get("/v1/bots")).json()["items"]) == 1
        assert await _probes_of(team, first.json()["id"]) == [(1, "registration")]

    async def test_with_another_query_is_refused(self, suite: RunningSuite) -> None:
        team = await suite.client("bots", "team", team="us")
        async with bot(well_behaved) as (_, url):
            assert (await team.post("/v1/bots?probe=false", json=webhook(url), headers=ONCE)).status_code == 201
            answer = await team.post("/v1/bots", json=webhook(url), headers=ONCE)
        assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (422, "idempotency-key-reused")

    async def test_adds_no_second_version(self, suite: RunningSuite) -> None:
        team = await suite.client("bots", "team", team="us")
        async with bot(well_behaved) as (_, url):
            path = f"/v1/bots/{(await created(team, '/v1/bots', webhook(url)))['id']}"
            posts = (team.post(f"{path}/versions", json=_version(f"{url}/2"), headers=ONCE) for _ in range(4))
            answers = sorted(await asyncio.gather(*posts), key=lambda answer: answer.status_code)
            late = await team.post(f"{path}/versions", json=_version(f"{url}/2"), headers=ONCE)
            versions = (await team.get(f"{path}/versions")).json()["items"]
        assert [answer.status_code for answer in answers] == [201, 409, 409, 409]
        assert answers[0].text == late.text
        assert [each["number"] for each in versions] == [1, 2]

    async def test_gets_the_report_of_a_suspended_bots_version(self, suite: RunningSuite) -> None:
        gate = _Gate()
        team = await suite.client("bots", "team", team="us")
        async with bot(well_behaved) as (_, url), bot(gate) as (_, slow):
            path = f"/v1/bots/{(await created(team, '/v1/bots', webhook(url)))['id']}"
            await team.patch(path, json={"status": "suspended"})
            post = asyncio.create_task(team.post(f"{path}/versions", json=_version(slow), headers=ONCE))
            await gate.reached.wait()
            gate.opened.set()
            answers = [(await post).json()]
            answers.append((await team.post(f"{path}/versions", json=_version(slow), headers=ONCE)).json())
        assert answers[0] == answers[1]
        assert answers[0]["status"] == "suspended"
        assert answers[0]["version"] == 2
        assert answers[0]["probe"]["passed"] is True

    async def test_tries_again_after_a_refused_registration(self, suite: RunningSuite) -> None:
        team = await suite.client("bots", "team", team="us")
        async with bot(well_behaved) as (_, url):
            wrong = webhook(url, secret="not a signing secret")
            assert (await team.post("/v1/bots", json=wrong, headers=ONCE)).status_code == 422
            await created(team, "/v1/bots", webhook(url, name="taken"))
            assert (await team.post("/v1/bots", json=webhook(url, name="taken"), headers=ONCE)).status_code == 409
            assert (await team.post("/v1/bots", json=webhook(url), headers=ONCE)).status_code == 201
        assert len((await team.get("/v1/bots")).json()["items"]) == 2


class TestCrash:
    """The service is killed between the two transactions of a registration."""

    async def test_during_a_registration_leaves_the_bot_to_a_heartbeat(self, database_urls: DatabaseUrls) -> None:
        gate = _Gate()
        async with _killable(database_urls) as service, bot(gate) as (_, url):
            await service.start()
            interrupted = asyncio.create_task(service.team.post("/v1/bots", json=webhook(url), headers=ONCE))
            await gate.reached.wait()
            await service.kill()
            with pytest.raises(httpx.TransportError):
                await interrupted
            gate.opened.set()
            await service.start()
            (listed,) = (await service.team.get("/v1/bots")).json()["items"]
            assert (listed["status"], listed["probe"]) == ("probing", None)
            answers = [await _until_probed(service.team, "/v1/bots", webhook(url)) for _ in range(2)]
            assert {answer.status_code for answer in answers} == {201}, answers[0].text
            assert len({answer.text for answer in answers}) == 1
            out = answers[0].json()
            assert (out["id"], out["status"], out["probe"]["passed"]) == (listed["id"], "active", True)
            assert len((await service.team.get("/v1/bots")).json()["items"]) == 1
            assert await _probes_of(service.team, out["id"]) == [(1, "registration")]

    async def test_during_another_version_leaves_that_version_to_a_heartbeat(self, database_urls: DatabaseUrls) -> None:
        gate = _Gate()
        async with _killable(database_urls) as service, bot(well_behaved) as (_, url), bot(gate) as (_, slow):
            await service.start()
            out = await created(service.team, "/v1/bots", webhook(url))
            path = f"/v1/bots/{out['id']}/versions"
            interrupted = asyncio.create_task(service.team.post(path, json=_version(slow), headers=ONCE))
            await gate.reached.wait()
            await service.kill()
            with pytest.raises(httpx.TransportError):
                await interrupted
            gate.opened.set()
            await service.start()
            answer = (await _until_probed(service.team, path, _version(slow))).json()
            assert (answer["version"], answer["status"], answer["probe"]["passed"]) == (2, "active", True)
            assert [each["number"] for each in (await service.team.get(path)).json()["items"]] == [1, 2]

    async def test_leaves_a_repeat_with_the_unprobed_bot_until_a_heartbeat_has_probed_it(
        self, database_urls: DatabaseUrls
    ) -> None:
        """That answer is not stored: the next repeat gets the report."""
        gate = _Gate()
        async with _killable(database_urls) as service, bot(gate) as (_, url):
            await service.start()
            interrupted = asyncio.create_task(service.team.post("/v1/bots", json=webhook(url), headers=ONCE))
            await gate.reached.wait()
            await service.kill()
            with pytest.raises(httpx.TransportError):
                await interrupted
            with psycopg.connect(database_urls.owner["bots"]) as connection:
                connection.execute("UPDATE bots.bots SET next_probe_at = now() + interval '1 hour'")
            await service.start()
            early = await _until_answered(service.team, "/v1/bots", webhook(url))
            assert early.status_code == 201
            assert early.json()["status"] == "probing"
            assert early.json()["probe"] is None
            gate.opened.set()
            with psycopg.connect(database_urls.owner["bots"]) as connection:
                connection.execute("UPDATE bots.bots SET next_probe_at = now()")
            active = await _until_active(service.team, early.json()["id"])
            late = await service.team.post("/v1/bots", json=webhook(url), headers=ONCE)
        assert (late.json()["id"], late.json()["probe"]) == (early.json()["id"], active["probe"])


async def _lasting_transactions(server: PostgresServer, suite: RunningSuite) -> set[tuple[Any, ...]]:
    """Return the service's transactions that wait for it now and still do five seconds later; none as soon as none is.

    A job of its own, such as the search for bots to probe, may be between two statements at any moment.
    """
    database = suite.database.app["bots"].rpartition("/")[2]
    lasting = await asyncio.to_thread(_open_transactions, server, database)
    for _ in range(50):
        if lasting:
            await asyncio.sleep(0.1)
            lasting &= await asyncio.to_thread(_open_transactions, server, database)
    return lasting


def _open_transactions(server: PostgresServer, database: str) -> set[tuple[Any, ...]]:
    """Return the service's open transactions that wait for it; only the administrator sees those of other roles."""
    with psycopg.connect(server.admin_url, autocommit=True) as connection:
        assert connection.execute(SESSIONS, [database]).fetchone() != (0,)
        return set(connection.execute(TRANSACTIONS, [database]).fetchall())


def _version(url: str) -> dict[str, Any]:
    return {"protocol": {"kind": "webhook", "url": url}}


class _Service:
    """The service `bots` as a process of its own, on a socket that outlives it."""

    def __init__(self, environment: dict[str, str], sock: socket.socket, team: httpx.AsyncClient) -> None:
        self._environment, self._socket = environment, sock
        self.team = team
        self._process: Child | None = None

    async def start(self) -> None:
        self._process = await launched("bots", "serve", self._environment, self._socket)
        async with asyncio.timeout(60):  # a request waits in the socket's queue until the service listens
            assert (await self.team.get("/healthz")).status_code == 200

    async def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.wait()


@asynccontextmanager
async def _killable(database: DatabaseUrls) -> AsyncIterator[_Service]:
    async with Keys(database.owner["access"]) as keys:
        service_key, team_key = await keys.make("service"), await keys.make("team", team="us")
    settings = {
        "DATABASE_URL": database.app["bots"],
        "SERVICE_KEY": service_key,
        "SECRETS_KEY": Fernet.generate_key().decode(),
        "ALLOWED_NETWORKS": '["127.0.0.0/8"]',
        "PROBE_SECONDS": "4",
        "RECOVERY_SECONDS": "0.2",
    }
    environment = {**os.environ, **{f"SPOTTHEBOT_BOTS_{name}": value for name, value in settings.items()}}
    headers = {"Authorization": f"Bearer {team_key}"}
    with closing(bind("127.0.0.1", 0)) as sock:
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as team:
            service = _Service(environment, sock, team)
            try:
                yield service
            finally:
                await service.kill()

"""While the service `bots` hangs, `conversations` keeps no transaction and no lock open."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import psycopg
from sqlalchemy.engine import make_url

from tests.factories.databases import DatabaseUrls, PostgresServer
from tests.factories.frontends import QUESTIONS, answered, open_study, say, start
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import add_bot, created, plan

_OPEN_FOR_LONG = """
    SELECT query FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < clock_timestamp() - interval '0.5 s'
"""


class Gate:
    """Stands between two services; while it is closed, requests get no answer."""

    def __init__(self) -> None:
        self.target = ("127.0.0.1", 0)
        self.url = ""
        self.requests_stopped = 0
        self._open = asyncio.Event()
        self._open.set()

    @contextlib.contextmanager
    def closed(self) -> Any:
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_target, to_target = await asyncio.open_connection(*self.target)
        with contextlib.closing(writer), contextlib.closing(to_target):
            await asyncio.gather(self._pipe(reader, to_target, stops=True), self._pipe(from_target, writer))

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, stops: bool = False) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                if stops and not self._open.is_set():
                    self.requests_stopped += 1
                    await self._open.wait()
                writer.write(data)
                await writer.drain()
            writer.close()


@contextlib.asynccontextmanager
async def gated_suite(database_urls: DatabaseUrls) -> AsyncIterator[tuple[RunningSuite, Gate]]:
    gate = Gate()
    server = await asyncio.start_server(gate.forward, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    settings = {"bots_url": f"http://{host}:{port}"}
    async with run_suite(database_urls, only=("bots", "conversations"), conversations=settings) as suite:
        gate.target = ("127.0.0.1", int(suite.urls["bots"].rpartition(":")[2]))
        yield suite, gate
    server.close()


async def _open_transactions(cluster: PostgresServer, database_urls: DatabaseUrls) -> list[Any]:
    name = make_url(database_urls.app["conversations"]).database
    url = make_url(cluster.admin_url).set(database=name).render_as_string(hide_password=False)
    found = []
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        for _ in range(10):
            await asyncio.sleep(0.1)
            found += await (await connection.execute(_OPEN_FOR_LONG)).fetchall()
    return found


async def test_no_transaction_is_open_while_bots_hangs(cluster: PostgresServer, database_urls: DatabaseUrls):
    async with gated_suite(database_urls) as (suite, gate):
        bots = [await add_bot(suite, "eliza"), await add_bot(suite, "dull")]
        study = await open_study(suite, bots)
        chat = await start(suite, study)
        admin = await suite.client("conversations", "admin")
        frontend = await suite.client("conversations", "annotation")
        chats = {"mode": "human_bot", "name": "s", "domain": "everyday", "bots": bots, "questions": QUESTIONS}
        requests = [
            (admin, "/v1/collections", plan(bots), 201),
            (admin, "/v1/collections", chats, 201),
            (admin, "/v1/collections/dry-run", plan(bots), 200),
            (admin, "/v1/partner-sets", {"name": "p", "bots": bots}, 201),
            (frontend, "/v1/chats", {"collection_id": study, "interactor": "p2"}, 201),
        ]
        with gate.closed():
            sent = [
                asyncio.create_task(client.post(path, json=body, headers={"Idempotency-Key": f"k{number}"}))
                for number, (client, path, body, _) in enumerate(requests)
            ]
            said = await say(suite, chat)
            async with asyncio.timeout(20):
                while gate.requests_stopped < len(requests) + 1:
                    await asyncio.sleep(0.02)
            await asyncio.sleep(0.5)
            found = await _open_transactions(cluster, database_urls)
            assert not any(each.done() for each in sent)
        answers = [await each for each in sent]
        replied = await answered(suite, chat)
    assert found == []
    assert said.status_code == 202
    assert [each.status_code for each in answers] == [status for *_, status in requests]
    assert len(replied["conversations"][0]["turns"]) == 2


async def test_a_repeated_start_gets_its_stored_answer_though_a_bot_was_retired_meanwhile(suite: RunningSuite):
    bots = [await add_bot(suite, "eliza"), await add_bot(suite, "dull")]
    admin = await suite.client("conversations", "admin")
    key = {"Idempotency-Key": "start-once"}
    first = await admin.post("/v1/collections", json=plan(bots), headers=key)
    owner = await suite.client("bots", "admin")
    assert (await owner.patch(f"/v1/bots/{bots[0]}", json={"status": "retired"})).is_success
    again = await admin.post("/v1/collections", json=plan(bots), headers=key)
    other = await admin.post("/v1/collections", json=plan(bots), headers={"Idempotency-Key": "start-again"})
    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 422)
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "retired" in other.json()["detail"]


async def test_a_person_with_an_open_chat_gets_it_again_while_bots_hangs(database_urls: DatabaseUrls):
    async with gated_suite(database_urls) as (suite, gate):
        study = await open_study(suite, [await add_bot(suite, "eliza"), await add_bot(suite, "dull")])
        chat = await start(suite, study)
        frontend = await suite.client("conversations", "annotation")
        with gate.closed():
            again = await created(frontend, "/v1/chats", {"collection_id": study, "interactor": "p1"})
    assert again["id"] == chat["id"]

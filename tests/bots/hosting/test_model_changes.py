"""Changes of hosted models: one at a time for each model, and no transaction open while it takes place."""

import asyncio
import hashlib
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.gates import Gate, long_transactions, standing_gate
from tests.factories.running_suite import RunningSuite, bots_settings, run_suite
from tests.factories.stand_in_triton import StandInTriton, stand_in_triton
from tests.factories.studies import add_bot, created

_FILE = "/v1/hosted-models/mine/files/config.json"
_CHANGE = """
import asyncio, sys
from spotthebot.bots.settings import BotsSettings
from spotthebot.bots.context import BotsContext
from spotthebot.bots.hosting.use_cases.leases import lease_model
from spotthebot.kit.database.sessions import Database

async def main():
    settings = BotsSettings(database_url=sys.argv[1], model_lease_seconds=1)
    async with lease_model(BotsContext(settings, Database(sys.argv[1]), None, None, None, None, None), "mine"):
        print("leased", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@dataclass
class Hosting:
    """A running `bots`, its administrator, and the folder of its models."""

    suite: RunningSuite
    admin: httpx.AsyncClient
    models: Path


@asynccontextmanager
async def running_hosting(database_urls: DatabaseUrls, models: Path, **settings: Any) -> AsyncIterator[Hosting]:
    models.mkdir(exist_ok=True)
    own = bots_settings() | {"models_folder": models} | settings
    async with run_suite(database_urls, only={"bots"}, bots=own) as suite:
        yield Hosting(suite, await suite.client("bots", "admin"), models)


@pytest.fixture
async def hosting(database_urls: DatabaseUrls, tmp_path: Path) -> AsyncIterator[Hosting]:
    """Hosts the model `mine`, without files, whose leases last two seconds."""
    async with running_hosting(database_urls, tmp_path / "models", model_lease_seconds=2) as running:
        await created(running.admin, "/v1/hosted-models", {"name": "mine", "backend": "worker"})
        yield running


class SlowUpload:
    """An upload to `mine` whose second half is sent when it is told to."""

    content = b'{"a": 1}'

    def __init__(self, hosting: Hosting) -> None:
        self._hosting = hosting
        self._go_on = asyncio.Event()
        self._answer = asyncio.create_task(hosting.admin.put(_FILE, content=self._pieces()))

    async def _pieces(self) -> AsyncIterator[bytes]:
        yield self.content[:4]
        await self._go_on.wait()
        yield self.content[4:]

    async def under_way(self) -> None:
        await _soon(lambda: unfinished(self._hosting.models))

    async def answer(self) -> httpx.Response:
        """Send the second half."""
        self._go_on.set()
        return await self._answer


def unfinished(models: Path) -> list[Path]:
    return list(models.glob(".upload-*"))


async def _soon(condition: Callable[[], object], seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


def _is_refused(answer: httpx.Response) -> bool:
    kind = answer.json()["type"]
    return (answer.status_code, kind, answer.headers["retry-after"]) == (
        409,
        "urn:spotthebot:problem:hosted-model-changing",
        "5",
    )


async def _each_change(admin: httpx.AsyncClient, name: str) -> list[httpx.Response]:
    path = f"/v1/hosted-models/{name}"
    return [
        await admin.put(f"{path}/files/config.json", content=b"{}"),
        await admin.post(f"{path}/load"),
        await admin.post(f"{path}/unload"),
        await admin.delete(path),
    ]


@asynccontextmanager
async def gated_triton(database_urls: DatabaseUrls, folder: Path) -> AsyncIterator[tuple[Hosting, StandInTriton, Gate]]:
    async with stand_in_triton() as triton, standing_gate() as gate:
        gate.lead_to(triton.address)
        settings = {"triton_grpc": "{}:{}".format(*gate.address), "triton_repository": folder / "repository"}
        (folder / "repository").mkdir()
        async with running_hosting(database_urls, folder / "models", **settings) as hosting:
            (hosting.models / "tiny").mkdir()
            (hosting.models / "tiny" / "config.json").write_text("{}")
            yield hosting, triton, gate


class TestWhileTritonHangs:
    async def test_no_transaction_is_open_and_a_second_change_is_refused_at_once(
        self, databases: Databases, database_urls: DatabaseUrls, tmp_path: Path
    ):
        async with gated_triton(database_urls, tmp_path) as (hosting, triton, gate):
            admin = hosting.admin
            for name in ("a", "b", "c"):
                await created(admin, "/v1/hosted-models", {"name": name, "directory": "tiny"})
            await created(admin, "/v1/hosted-models", {"name": "d"})
            for name in ("b", "c"):
                assert (await admin.post(f"/v1/hosted-models/{name}/load")).json()["state"] == "ready"
            assert triton.loaded == {"b", "c"}
            key = {"Idempotency-Key": "once"}
            with gate.closed():
                sent = [
                    asyncio.create_task(sending)
                    for sending in (
                        admin.post("/v1/hosted-models/a/load"),
                        admin.post("/v1/hosted-models/b/unload"),
                        admin.delete("/v1/hosted-models/c"),
                        admin.put("/v1/hosted-models/d/files/config.json", content=b"{}"),
                        admin.post("/v1/hosted-models", json={"name": "e", "directory": "tiny"}, headers=key),
                    )
                ]
                await gate.stopped(1)
                found = await long_transactions(databases.admin_url(database_urls))
                early = await admin.post("/v1/hosted-models", json={"name": "e", "directory": "tiny"}, headers=key)
                began = time.monotonic()
                seconds = [await _each_change(admin, name) for name in ("a", "b", "c", "d")]
                took = time.monotonic() - began
                await add_bot(hosting.suite, "eliza")
                assert not any(each.done() for each in sent)
            answers = [await each for each in sent]
            repeated = await admin.post("/v1/hosted-models", json={"name": "e", "directory": "tiny"}, headers=key)
        assert found == []
        assert all(_is_refused(answer) for answers in seconds for answer in answers)
        assert took < 20  # sixteen requests, while the others wait for the gate
        assert [each.status_code for each in answers] == [200, 200, 204, 200, 201]
        assert [each.json()["state"] for each in answers[:2]] == ["ready", "unloaded"]
        assert triton.loaded == {"a"}
        assert (early.status_code, early.headers["Retry-After"]) == (409, "1")
        assert (repeated.status_code, repeated.json()) == (201, answers[-1].json())

    async def test_a_change_ends_when_it_does_not_answer_in_time(
        self, database_urls: DatabaseUrls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("spotthebot.inference.triton.client._STATE_SECONDS", 0.5)
        async with gated_triton(database_urls, tmp_path) as (hosting, triton, gate):
            await created(hosting.admin, "/v1/hosted-models", {"name": "a", "directory": "tiny"})
            assert (await hosting.admin.post("/v1/hosted-models/a/load")).status_code == 200
            with gate.closed():
                removed = await hosting.admin.delete("/v1/hosted-models/a")
                shown = await hosting.admin.get("/v1/hosted-models/a")
            assert (removed.status_code, "DEADLINE_EXCEEDED" in removed.json()["detail"]) == (503, True)
            assert shown.status_code == 200
            assert triton.loaded == {"a"}
            assert (await hosting.admin.delete("/v1/hosted-models/a")).status_code == 204
            assert triton.loaded == set()


class TestWhileAFileIsUploaded:
    async def test_no_transaction_is_open_and_a_second_change_is_refused_at_once(
        self, hosting: Hosting, databases: Databases, database_urls: DatabaseUrls
    ):
        upload = SlowUpload(hosting)
        await upload.under_way()
        found = await long_transactions(databases.admin_url(database_urls))
        seconds = await _each_change(hosting.admin, "mine")
        team = await hosting.suite.client("bots", "team", team="others")
        bot = {"name": "e", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}}
        await created(team, "/v1/bots", bot)
        await created(hosting.admin, "/v1/hosted-models", {"name": "other", "backend": "worker"})
        answer = await upload.answer()
        assert found == []
        assert [_is_refused(each) for each in seconds] == [True] * 4
        assert answer.json()["sha256"] == hashlib.sha256(upload.content).hexdigest()
        assert (await hosting.admin.delete("/v1/hosted-models/mine")).status_code == 204

    async def test_reading_the_model_goes_on(self, hosting: Hosting):
        upload = SlowUpload(hosting)
        await upload.under_way()
        assert (await hosting.admin.get("/v1/hosted-models/mine")).json()["files"] == []
        assert (await upload.answer()).status_code == 200
        assert len((await hosting.admin.get("/v1/hosted-models/mine")).json()["files"]) == 1


class TestLease:
    async def test_ends_with_a_change_that_was_refused(self, hosting: Hosting):
        assert (await hosting.admin.put(f"{_FILE}.py", content=b"")).status_code == 422
        assert (await hosting.admin.put(_FILE, content=b"{}")).status_code == 200

    async def test_ends_by_itself_after_its_process_was_killed(self, hosting: Hosting, database_urls: DatabaseUrls):
        url = database_urls.app["bots"]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _CHANGE, url, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"leased\n"
        await asyncio.sleep(2)  # twice as long as the lease
        assert _is_refused(await hosting.admin.put(_FILE, content=b"{}"))
        process.kill()
        await process.wait()
        assert _is_refused(await hosting.admin.put(_FILE, content=b"{}"))
        async with asyncio.timeout(20):
            while (answer := await hosting.admin.put(_FILE, content=b"{}")).status_code == 409:
                await asyncio.sleep(0.05)
        assert answer.status_code == 200

    @pytest.mark.parametrize("is_renewal_due", [True, False])
    async def test_lets_a_change_store_nothing_once_it_was_lost(
        self, hosting: Hosting, databases: Databases, database_urls: DatabaseUrls, *, is_renewal_due: bool
    ):
        upload = SlowUpload(hosting)
        await upload.under_way()
        with psycopg.connect(databases.admin_url(database_urls), autocommit=True) as another_process:
            another_process.execute("UPDATE bots.hosted_models SET lease_id = gen_random_uuid()")
            if is_renewal_due:  # which ends the upload before the lease would have ended
                await _soon(lambda: not unfinished(hosting.models), seconds=1.8)
            answer = await upload.answer()
            still = another_process.execute("SELECT count(lease_id) FROM bots.hosted_models").fetchone()
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:spotthebot:problem:model-lease-lost")
        assert (await hosting.admin.get("/v1/hosted-models/mine")).json()["files"] == []
        assert still == (1,)

    async def test_ends_its_change_when_it_cannot_be_renewed_before_another_may_begin(
        self, hosting: Hosting, databases: Databases, database_urls: DatabaseUrls
    ):
        upload = SlowUpload(hosting)
        await upload.under_way()
        with psycopg.connect(databases.admin_url(database_urls)) as locking:
            locking.execute("SELECT FROM bots.hosted_models FOR UPDATE")
            await _soon(lambda: not unfinished(hosting.models), seconds=2.6)
            locking.rollback()
            answer = await upload.answer()
        assert answer.status_code == 503
        assert (await hosting.admin.put(_FILE, content=b"{}")).status_code == 200


class TestHostModel:
    async def test_answers_a_repeat_as_before_though_its_directory_is_gone(self, hosting: Hosting):
        (hosting.models / "tiny").mkdir()
        (hosting.models / "tiny" / "config.json").write_text("{}")
        body, key = {"name": "t", "backend": "worker", "directory": "tiny"}, {"Idempotency-Key": "once"}
        first = await hosting.admin.post("/v1/hosted-models", json=body, headers=key)
        (hosting.models / "tiny" / "config.json").unlink()
        again = await hosting.admin.post("/v1/hosted-models", json=body, headers=key)
        assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
        assert again.headers["idempotency-replayed"] == "true"

    async def test_stores_one_model_for_requests_with_one_key(self, hosting: Hosting):
        body, key = {"name": "t", "backend": "worker"}, {"Idempotency-Key": "once"}
        answers = await asyncio.gather(
            *(hosting.admin.post("/v1/hosted-models", json=body, headers=key) for _ in range(8))
        )
        answers.append(await hosting.admin.post("/v1/hosted-models", json=body, headers=key))
        assert {each.status_code for each in answers} == {201, 409}
        assert len({each.json()["id"] for each in answers if each.status_code == 201}) == 1

    async def test_refuses_a_name_that_is_taken_before_it_reads_the_directory(self, hosting: Hosting):
        body = {"name": "mine", "backend": "worker", "directory": "nowhere"}
        answer = await hosting.admin.post("/v1/hosted-models", json=body)
        assert answer.json()["type"] == "urn:spotthebot:problem:hosted-model-name-taken"

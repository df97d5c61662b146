"""`fed` under attack: bodies, keys, a model process that hangs, and a `conversations` that hangs or redirects."""

import asyncio
import functools
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from spotthebot.clients import AsyncConversations
from tests.attacks.wire import head, opened, status_of
from tests.factories import tiny_models
from tests.factories.databases import Databases
from tests.factories.lazy_imports import needs_models
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.worker_processes import workers_of

pytestmark = needs_models

HANGS, REDIRECTS = (f"00000000-0000-7000-8000-00000000000{number}" for number in (1, 2))
DIALOGUE = {"id": "d", "turns": [{"speaker": "ab"[at], "text": text} for at, text in enumerate(("Hello.", "Hi!"))]}
SCORES = {"scorer": {"model": "gpt2", "mode": "followup_mean"}, "dialogues": [DIALOGUE]}
BODY_BYTES = 30 * 1024 * 1024
BATCH_SECONDS = 3.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny_models.gpt2(folder / "gpt2", positions=256)
    return folder


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer as a `conversations` that hangs for one collection and redirects for all others."""
    if HANGS.encode() in await reader.readline():
        await reader.read()
    else:
        writer.write(b"HTTP/1.1 307 Over there\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n")
    writer.close()


@pytest.fixture(scope="module")
async def module_suite(databases: Databases, folder: Path) -> AsyncIterator[RunningSuite]:
    """`fed` beside a `conversations` that can't be relied on, which it waits for no longer than half a second."""
    impatient = functools.partial(AsyncConversations, timeout_seconds=0.5)
    models = {"models_folder": folder, "device": "cpu", "model_batch_seconds": BATCH_SECONDS}
    async with await asyncio.start_server(_answer, "127.0.0.1", 0) as peer:
        url = "http://{}:{}".format(*peer.sockets[0].getsockname())
        with databases.lend() as urls, pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("spotthebot.fed.app.AsyncConversations", impatient)
            async with run_suite(urls, only=["fed"], fed=models | {"conversations_url": url}) as running:
                yield running


@pytest.fixture
def suite(module_suite: RunningSuite) -> RunningSuite:
    return module_suite


class TestStrangers:
    @pytest.mark.parametrize("path", ["/v1/scores", "/v1/score-jobs", "/v1/dimension-sets", "/v1/subscriptions"])
    async def test_bodies_of_thirty_megabytes_are_refused_before_they_are_read(self, suite: RunningSuite, path: str):
        key = await suite.keys.make("admin")
        more = {"Content_Type": "application/json", "Content_Length": str(BODY_BYTES)}
        for authorization, status in (({}, 401), ({"Authorization": f"Bearer {key}"}, 413)):
            async with opened(suite.urls["fed"]) as (reader, writer):
                writer.write(head("POST", path, **more, **authorization))
                assert await status_of(reader) == status

    @pytest.mark.parametrize("role", ["analyst", "team", "annotation", "service"])
    async def test_scores_are_refused_to_those_who_may_not_load_models(self, suite: RunningSuite, role: str):
        client = await suite.client("fed", role, team="t" if role == "team" else None)
        assert (await client.post("/v1/scores", json=SCORES)).status_code == 403


class TestModelThatHangs:
    async def test_a_model_that_hangs_is_killed_in_its_time_while_others_are_answered(
        self, suite: RunningSuite, folder: Path
    ):
        admin = await suite.client("fed", "admin")
        assert (await admin.post("/v1/scores", json=SCORES)).status_code == 200
        workers_of(folder)[0].send_signal(signal.SIGSTOP)
        began = time.monotonic()
        asked = asyncio.create_task(admin.post("/v1/scores", json=SCORES))
        assert (await admin.get("/healthz")).status_code == 200
        assert not asked.done()
        refused = await asked
        assert BATCH_SECONDS <= time.monotonic() - began < BATCH_SECONDS + 20
        assert (refused.status_code, refused.headers["Content-Type"]) == (503, "application/problem+json")
        assert refused.json()["detail"] == (
            "The model 'gpt2' gave no answer within 3 seconds, and its process was ended."
        )
        assert (await admin.get("/healthz")).status_code == 200


class TestConversationsInTrouble:
    async def test_conversations_in_trouble_is_named_in_the_problem(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("spotthebot.clients.channel.Retries.wait_seconds", lambda *_: None)
        admin = await suite.client("fed", "admin")
        said: dict[str, Any] = {}
        for collection in (HANGS, REDIRECTS):
            answer = await admin.post("/v1/score-jobs", json={"scorer": SCORES["scorer"], "collection_id": collection})
            said[collection] = (answer.status_code, _named(answer))
        assert said == {HANGS: (503, True), REDIRECTS: (502, True)}


def _named(answer: httpx.Response) -> bool:
    return answer.headers["Content-Type"] == "application/problem+json" and "conversations" in answer.json()["detail"]

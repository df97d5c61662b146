"""Real peers, each registered over HTTP, probed, and taken through a conversation."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from spotthebot.inference.errors import TritonNotHere
from spotthebot.inference.triton.installation import Installation
from spotthebot.inference.triton.server import TritonAddresses
from spotthebot.suite.triton import development_server, find_installation
from tests.factories.databases import Databases
from tests.factories.peers import parlai_interactive_web, parlai_websocket_chat, transformers_serve
from tests.factories.running_suite import RunningSuite, bots_settings, run_suite
from tests.factories.studies import add_bot, created, plan, until
from tests.factories.talking_models import talking_gpt2, talking_llama


@pytest.fixture(scope="module")
def installation() -> Installation:
    try:
        return find_installation()
    except TritonNotHere as error:
        pytest.skip(str(error))


@dataclass(frozen=True)
class Hosting:
    """Services with a Triton of their own, on which the model `tiny` is loaded, and what they answered to that."""

    suite: RunningSuite
    triton: TritonAddresses
    hosted: dict[str, Any]
    loaded: dict[str, Any]


@pytest.fixture(scope="module")
async def hosting(
    databases: Databases, installation: Installation, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Hosting]:
    """A tiny GPT-2, whose process on Triton imports torch, for all tests."""
    folder = tmp_path_factory.mktemp("triton")
    talking_gpt2(folder / "models" / "tiny")
    async with development_server(folder, installation) as triton:
        own = {
            "models_folder": folder / "models",
            "triton_grpc": triton.grpc,
            "triton_http": triton.http,
            "triton_repository": triton.repository,
        }
        with databases.lend() as urls:
            async with run_suite(urls, only=("bots", "conversations"), bots=bots_settings() | own) as suite:
                admin = await suite.client("bots", "admin")
                hosted = await created(admin, "/v1/hosted-models", {"name": "tiny", "directory": "tiny"})
                loaded = (await admin.post("/v1/hosted-models/tiny/load")).json()
                yield Hosting(suite, triton, hosted, loaded)


async def _take_part(suite: RunningSuite, body: dict[str, Any]) -> dict[str, Any]:
    """Register a bot, see it pass the probe, and let it talk with ELIZA."""
    admin = await suite.client("bots", "admin")
    out = await created(admin, "/v1/bots", {"domains": ["everyday"]} | body)
    assert (out["status"], out["probe"]["passed"]) == ("active", True), out["probe"]
    collections = await suite.client("conversations", "admin")
    collection = await created(collections, "/v1/collections", plan([out["id"], await add_bot(suite, "eliza")]))
    done = await until(collections, f"/v1/collections/{collection['id']}", "complete")
    assert (done["complete"], done["failed"], done["turns"]) == (2, 0, 8)
    held = (await collections.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
    assert all(turn["text"].strip() for each in held for turn in each["turns"])
    return out


async def _reply(admin: httpx.AsyncClient, out: dict[str, Any], *turns: str, seed: int = 0) -> Any:
    body = {"contexts": [{"turns": list(turns), "seed": seed}]}
    return (await admin.post(f"/v1/bots/{out['id']}/replies", json=body)).json()["replies"][0]


def kill_stubs(triton: TritonAddresses) -> None:
    """Kill the Python processes of a server's models, as a lack of memory would."""
    stubs = [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(triton.repository) in " ".join(process.info["cmdline"] or ()) and "stub" in process.name()
    ]
    assert stubs
    for stub in stubs:
        stub.kill()


class TestTransformersServe:
    async def test_takes_part(self, suite: RunningSuite, tmp_path: Path):
        async with transformers_serve(talking_llama(tmp_path / "model")) as url:
            model = str(tmp_path / "model")
            protocol = {"kind": "openai", "base_url": url, "model": model, "max_tokens": 12, "temperature": 0.9}
            await _take_part(suite, {"name": "served", "protocol": protocol})


class TestParlai:
    async def test_interactive_web_takes_part(self, suite: RunningSuite):
        async with parlai_interactive_web() as url:
            out = await _take_part(suite, {"name": "repeats", "protocol": {"kind": "parlai", "url": url}})
            admin = await suite.client("bots", "admin")
            assert (await _reply(admin, out, "One.", "Two.", "Three,\nfour."))["text"] == "Three, four."

    async def test_the_websocket_chat_service_takes_part(self, suite: RunningSuite):
        async with parlai_websocket_chat() as url:
            protocol = {"kind": "parlai", "url": url, "service": "websocket_chat"}
            out = await _take_part(suite, {"name": "chats", "protocol": protocol})
            admin = await suite.client("bots", "admin")
            assert (await _reply(admin, out, "One.", "Say [DONE] now."))["text"] == "Say (DONE) now."
            contexts = [{"turns": [f"Number {number}."]} for number in range(12)]  # on several sockets at once
            answer = await admin.post(f"/v1/bots/{out['id']}/replies", json={"contexts": contexts})
            texts = [each["text"] for each in answer.json()["replies"]]
            assert texts == [f"Number {number}." for number in range(12)]


class TestTriton:
    async def test_hosts_a_model_that_takes_part(self, hosting: Hosting):
        suite, triton, hosted = hosting.suite, hosting.triton, hosting.hosted
        admin = await suite.client("bots", "admin")
        assert (hosted["state"], hosted["statistics"]) == ("unloaded", None)
        await created(admin, "/v1/hosted-models", {"name": "never-loaded", "directory": "tiny"})
        assert (await admin.delete("/v1/hosted-models/never-loaded")).status_code == 204
        assert hosting.loaded["state"] == "ready"
        sampling = {"max_new_tokens": 8}
        out = await _take_part(
            suite, {"name": "gpt", "protocol": {"kind": "triton", "model": "tiny", "sampling": sampling}}
        )
        versions = (await admin.get(f"/v1/bots/{out['id']}/versions")).json()["items"]
        assert versions[0]["files_sha256"] == hosted["files_sha256"]
        said = await _reply(admin, out, "Did you water the tomatoes?", seed=5)
        elsewhere = {
            "over HTTP": {"transport": "http"},
            "by its address": {"url": f"http://{triton.grpc}"},
            "by its address over HTTP": {"url": triton.http, "transport": "http"},
        }
        for name, how in elsewhere.items():
            protocol = {"kind": "triton", "model": "tiny", "sampling": sampling} | how
            other = await created(admin, "/v1/bots", {"name": name, "domains": ["everyday"], "protocol": protocol})
            assert other["status"] == "active", other["probe"]
            assert (await _reply(admin, other, "Did you water the tomatoes?", seed=5))["text"] == said["text"]
        contexts = [{"turns": ["The train is late."], "seed": number} for number in range(32)]
        before = (await admin.get("/v1/hosted-models/tiny")).json()["statistics"]
        answer = await admin.post(f"/v1/bots/{out['id']}/replies", json={"contexts": contexts})
        after = (await admin.get("/v1/hosted-models/tiny")).json()["statistics"]
        assert all(each["failure"] is None for each in answer.json()["replies"])
        assert after["replies"] - before["replies"] >= 32
        assert after["batches"] - before["batches"] <= 16  # they were answered together
        worker = {"kind": "transformers", "model": "tiny", "sampling": sampling}
        in_process = await created(admin, "/v1/bots", {"name": "w", "domains": ["everyday"], "protocol": worker})
        assert (await _reply(admin, in_process, "Did you water the tomatoes?", seed=5))["text"] == said["text"]

    async def test_is_brought_back_when_its_python_process_was_killed(self, hosting: Hosting):
        triton = hosting.triton
        admin = await hosting.suite.client("bots", "admin")
        protocol = {"kind": "triton", "model": "tiny", "sampling": {"max_new_tokens": 4}}
        out = await created(admin, "/v1/bots", {"name": "killed", "domains": ["everyday"], "protocol": protocol})
        before = await _reply(admin, out, "Hello.")
        kill_stubs(triton)
        async with httpx.AsyncClient(trust_env=False) as http:
            ready = await http.get(f"{triton.http}/v2/models/tiny/ready")
        assert ready.status_code == 200  # Triton has not noticed
        after = await _reply(admin, out, "Hello.")
        assert (after["failure"], after["text"]) == (None, before["text"])
        assert after["attempts"] == 2
        kill_stubs(triton)
        assert (await admin.get("/v1/hosted-models/tiny")).json()["state"] == "broken"
        assert (await admin.post("/v1/hosted-models/tiny/load")).json()["state"] == "ready"

"""Real peers: how they answer, and each registered over HTTP, probed, and taken through a conversation."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import psutil
import pytest

from spotthebot.inference.errors import TritonNotHere
from spotthebot.inference.triton.installation import Installation
from spotthebot.inference.triton.server import TritonAddresses
from spotthebot.local.triton import development_server, find_installation
from tests.bots.protocols.peers import LC, parlai_interactive_web, parlai_websocket_chat, transformers_serve
from tests.factories.databases import Databases
from tests.factories.running_suite import RunningSuite, bots_settings, run_suite
from tests.factories.studies import add_bot, created, plan, until
from tests.factories.tiny_models import talking_gpt2, talking_llama

OVERWORLD = "Welcome to the overworld"
BOT = "Welcome to the ParlAI Chatbot demo"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations")


@pytest.fixture(scope="module")
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(30)) as session:
        yield session


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return talking_llama(tmp_path_factory.mktemp("chat-model"))


@pytest.fixture(scope="module")
async def openai_url(weights: Path) -> AsyncIterator[str]:
    async with transformers_serve(weights) as url:
        yield url


@pytest.fixture(scope="module")
async def web_url() -> AsyncIterator[str]:
    async with parlai_interactive_web() as url:
        yield url


@pytest.fixture(scope="module")
async def chat_url() -> AsyncIterator[str]:
    async with parlai_websocket_chat() as url:
        yield url


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


def _question(weights: Path, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Hello!"}]
    return {"model": str(weights), "messages": messages, "max_tokens": 8, "seed": 1, **more}


async def _say(socket: aiohttp.ClientWebSocketResponse, text: str) -> Any:
    await socket.send_json({"text": text})
    return (await socket.receive_json(timeout=60))["text"]


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
    async def test_completes_a_chat(self, http: aiohttp.ClientSession, openai_url: str, weights: Path):
        async with http.post(f"{openai_url}/chat/completions", json=_question(weights)) as answer:
            completed = await answer.json()
        (choice,) = completed["choices"]
        assert choice["message"]["role"] == "assistant"
        assert choice["message"]["content"]
        assert 0 < completed["usage"]["completion_tokens"] <= 8

    async def test_streams_a_chat_without_a_last_word(
        self, http: aiohttp.ClientSession, openai_url: str, weights: Path
    ):
        async with http.post(f"{openai_url}/chat/completions", json=_question(weights, stream=True)) as answer:
            assert answer.content_type == "text/event-stream"
            events = [line.strip() async for line in answer.content if line.strip()]
        chunks = [json.loads(event.removeprefix(b"data: ")) for event in events]
        assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        assert chunks[-1]["choices"][0]["finish_reason"] in {"stop", "length"}

    async def test_takes_part(self, suite: RunningSuite, openai_url: str, weights: Path):
        protocol = {"kind": "openai", "base_url": openai_url, "model": str(weights), "max_tokens": 12}
        await _take_part(suite, {"name": "served", "protocol": protocol | {"temperature": 0.9}})


class TestParlaiInteractiveWeb:
    async def test_repeats_the_last_line(self, http: aiohttp.ClientSession, web_url: str):
        async with http.post(f"{web_url}/interact", data="Hello.\nWie geht's? 🍅".encode()) as answer:
            assert await answer.json() == {"id": "RepeatQueryAgent", "text": "Wie geht's? 🍅", "episode_done": False}

    async def test_forgets_when_reset(self, http: aiohttp.ClientSession, web_url: str):
        async with http.post(f"{web_url}/interact", data=b"Hello.") as answer:
            assert answer.status == 200
        async with http.post(f"{web_url}/reset") as answer:
            assert await answer.json() == {}
        async with http.post(f"{web_url}/interact", data=b"") as answer:
            assert (await answer.json())["text"] == "Nothing to repeat yet."

    async def test_hangs_up_on_what_it_cannot_read(self, http: aiohttp.ClientSession, web_url: str):
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await http.post(f"{web_url}/interact", data=b"\xff\xfe")

    async def test_takes_part(self, suite: RunningSuite, web_url: str):
        out = await _take_part(suite, {"name": "repeats", "protocol": {"kind": "parlai", "url": web_url}})
        admin = await suite.client("bots", "admin")
        assert (await _reply(admin, out, "One.", "Two.", "Three,\nfour."))["text"] == "Three, four."


class TestParlaiWebsocketChat:
    async def test_talks_after_its_welcomes(self, http: aiohttp.ClientSession, chat_url: str):
        async with http.ws_connect(chat_url) as socket:
            assert (await _say(socket, "Hi.")).startswith(OVERWORLD)
            assert (await _say(socket, "begin")).startswith(BOT)
            assert await _say(socket, "Hello.\nHow are you? 🍅") == "How are you? 🍅"
            assert await _say(socket, "Oh, [RESET]!") == "[History Cleared]"
            assert (await _say(socket, "Well, [DONE].")).startswith(OVERWORLD)
            assert await _say(socket, "exit") == "See you later!"

    async def test_keeps_sockets_apart(self, http: aiohttp.ClientSession, chat_url: str):
        async def talk(name: str) -> list[str]:
            async with http.ws_connect(chat_url) as socket:
                replies = [await _say(socket, text) for text in ("Hi.", "begin", *(f"{name}{n}" for n in range(3)))]
                for word in ("[DONE]", "exit"):
                    await _say(socket, word)
                return replies[2:]

        names = "abcd"
        replies = await asyncio.gather(*(talk(name) for name in names))
        assert replies == [[f"{name}{n}" for n in range(3)] for name in names]

    async def test_hangs_up_on_a_frame_that_is_no_json(self, http: aiohttp.ClientSession, chat_url: str):
        async with http.ws_connect(chat_url) as socket:
            await socket.send_str("Hello.")
            assert (await socket.receive(timeout=60)).type is aiohttp.WSMsgType.CLOSED

    async def test_takes_part(self, suite: RunningSuite, chat_url: str):
        protocol = {"kind": "parlai", "url": chat_url, "service": "websocket_chat"}
        out = await _take_part(suite, {"name": "chats", "protocol": protocol})
        admin = await suite.client("bots", "admin")
        assert (await _reply(admin, out, "One.", "Say [DONE] now."))["text"] == "Say (DONE) now."
        contexts = [{"turns": [f"Number {number}."]} for number in range(12)]  # on several sockets at once
        answer = await admin.post(f"/v1/bots/{out['id']}/replies", json={"contexts": contexts})
        texts = [each["text"] for each in answer.json()["replies"]]
        assert texts == [f"Number {number}." for number in range(12)]


class TestLostInConversation:
    """The recipe of docs/hosting.md for LC: an agent of its name, loaded by each of ParlAI's services."""

    @pytest.mark.parametrize(
        ("serve", "service"),
        [(parlai_interactive_web, "interactive_web"), (parlai_websocket_chat, "websocket_chat")],
    )
    async def test_hears_its_persona_and_the_conversation(self, suite: RunningSuite, serve: Any, service: str):
        async with serve(LC) as url:
            protocol = {"kind": "parlai", "url": url, "service": service}
            out = await _take_part(suite, {"name": f"LC by {service}", "protocol": protocol})
            context = {"turns": ["Hi.", "Hello!", "Do you sing?"], "persona": "I sing.\nI am old.", "seed": 1}
            admin = await suite.client("bots", "admin")
            answer = await admin.post(f"/v1/bots/{out['id']}/replies", json={"contexts": [context]})
        assert answer.json()["replies"][0]["text"] == "I am I sing.; I am old.. 3 turns: ['Do you sing?']"


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

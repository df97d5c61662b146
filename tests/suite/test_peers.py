"""Our real peers: what they do here is what our protocols are written against."""

import asyncio
import json

import aiohttp
import pytest

from tests.factories.peers import parlai_interactive_web, parlai_websocket_chat, transformers_serve
from tests.factories.tiny_models import llama

OVERWORLD = "Welcome to the overworld"
BOT = "Welcome to the ParlAI Chatbot demo"


@pytest.fixture(scope="module")
async def http():
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(30)) as session:
        yield session


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return llama(tmp_path_factory.mktemp("chat-model"))


@pytest.fixture(scope="module")
async def openai_url(weights):
    async with transformers_serve(weights) as url:
        yield url


@pytest.fixture(scope="module")
async def web_url():
    async with parlai_interactive_web() as url:
        yield url


@pytest.fixture(scope="module")
async def chat_url():
    async with parlai_websocket_chat() as url:
        yield url


def question(weights, **more):
    messages = [{"role": "user", "content": "Hello!"}]
    return {"model": str(weights), "messages": messages, "max_tokens": 8, "seed": 1, **more}


async def said(socket, text):
    await socket.send_json({"text": text})
    return (await socket.receive_json(timeout=60))["text"]


class TestTransformersServe:
    async def test_completes_a_chat(self, http, openai_url, weights):
        async with http.post(f"{openai_url}/chat/completions", json=question(weights)) as answer:
            completed = await answer.json()
        (choice,) = completed["choices"]
        assert choice["message"]["role"] == "assistant"
        assert choice["message"]["content"]
        assert 0 < completed["usage"]["completion_tokens"] <= 8

    async def test_streams_a_chat_without_a_last_word(self, http, openai_url, weights):
        async with http.post(f"{openai_url}/chat/completions", json=question(weights, stream=True)) as answer:
            assert answer.content_type == "text/event-stream"
            events = [line.strip() async for line in answer.content if line.strip()]
        chunks = [json.loads(event.removeprefix(b"data: ")) for event in events]
        assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        assert chunks[-1]["choices"][0]["finish_reason"] in {"stop", "length"}


class TestParlaiInteractiveWeb:
    async def test_repeats_the_last_line(self, http, web_url):
        async with http.post(f"{web_url}/interact", data="Hello.\nWie geht's? 🍅".encode()) as answer:
            assert await answer.json() == {"id": "RepeatQueryAgent", "text": "Wie geht's? 🍅", "episode_done": False}

    async def test_forgets_when_reset(self, http, web_url):
        async with http.post(f"{web_url}/interact", data=b"Hello.") as answer:
            assert answer.status == 200
        async with http.post(f"{web_url}/reset") as answer:
            assert await answer.json() == {}
        async with http.post(f"{web_url}/interact", data=b"") as answer:
            assert (await answer.json())["text"] == "Nothing to repeat yet."

    async def test_hangs_up_on_what_it_cannot_read(self, http, web_url):
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await http.post(f"{web_url}/interact", data=b"\xff\xfe")


class TestParlaiWebsocketChat:
    async def test_talks_after_its_welcomes(self, http, chat_url):
        async with http.ws_connect(chat_url) as socket:
            assert (await said(socket, "Hi.")).startswith(OVERWORLD)
            assert (await said(socket, "begin")).startswith(BOT)
            assert await said(socket, "Hello.\nHow are you? 🍅") == "How are you? 🍅"
            assert await said(socket, "Oh, [RESET]!") == "[History Cleared]"
            assert (await said(socket, "Well, [DONE].")).startswith(OVERWORLD)
            assert await said(socket, "exit") == "See you later!"

    async def test_keeps_sockets_apart(self, http, chat_url):
        async def talk(name):
            async with http.ws_connect(chat_url) as socket:
                replies = [await said(socket, text) for text in ("Hi.", "begin", *(f"{name}{n}" for n in range(3)))]
                for word in ("[DONE]", "exit"):
                    await said(socket, word)
                return replies[2:]

        names = "abcd"
        replies = await asyncio.gather(*(talk(name) for name in names))
        assert replies == [[f"{name}{n}" for n in range(3)] for name in names]

    async def test_hangs_up_on_a_frame_that_is_no_json(self, http, chat_url):
        async with http.ws_connect(chat_url) as socket:
            await socket.send_str("Hello.")
            assert (await socket.receive(timeout=60)).type is aiohttp.WSMsgType.CLOSED

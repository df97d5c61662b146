"""A frontend for people who talk to bots, as small as it can be."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.factories.bot_servers import webhook
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created, until

QUESTIONS = [{"name": "engaging", "text": "Was it engaging?"}, {"name": "quality", "text": "Was it good?"}]
SCORES = {"engaging": 4, "quality": 2}


async def two_bots(suite: RunningSuite) -> list[str]:
    return [await add_bot(suite, model) for model in ("eliza", "dull")]


async def open_chats(suite: RunningSuite, bots: list[str], **more: Any) -> str:
    admin = await suite.client("conversations", "admin")
    body = {
        "mode": "human_bot",
        "name": "people",
        "domain": "everyday",
        "bots": bots,
        "minimum_turns": 2,
        "maximum_turns": 6,
        "questions": QUESTIONS,
    }
    return (await created(admin, "/v1/collections", body | more))["id"]


async def start(suite: RunningSuite, collection_id: str, interactor: str = "p1") -> dict[str, Any]:
    frontend = await suite.client("conversations", "annotation")
    return await created(frontend, "/v1/chats", {"collection_id": collection_id, "interactor": interactor})


async def say(
    suite: RunningSuite,
    chat: dict[str, Any],
    text: str = "Hello there!",
    *,
    number: int | None = None,
    key: str | None = None,
) -> httpx.Response:
    """Say something in the conversation `number`, or in the one that goes on."""
    frontend = await suite.client("conversations", "annotation")
    number = number or len((await get(suite, chat))["conversations"])
    headers = {} if key is None else {"Idempotency-Key": key}
    return await frontend.post(f"/v1/chats/{chat['id']}/turns", json={"number": number, "text": text}, headers=headers)


async def advance(suite: RunningSuite, chat: dict[str, Any]) -> httpx.Response:
    frontend = await suite.client("conversations", "annotation")
    return await frontend.post(f"/v1/chats/{chat['id']}/advance")


async def get(suite: RunningSuite, chat: dict[str, Any]) -> dict[str, Any]:
    frontend = await suite.client("conversations", "annotation")
    return (await frontend.get(f"/v1/chats/{chat['id']}")).json()


async def answered(suite: RunningSuite, chat: dict[str, Any], seconds: float = 20) -> dict[str, Any]:
    pause = 0.02
    async with asyncio.timeout(seconds):
        while (found := await get(suite, chat))["awaits_reply"]:
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, 0.2)  # to ask takes time from what is awaited
        return found


async def exchange(suite: RunningSuite, chat: dict[str, Any], text: str = "Hello there!") -> dict[str, Any]:
    said = await say(suite, chat, text)
    assert said.status_code == 202, said.text
    assert said.json()["awaits_reply"]
    return await answered(suite, chat)


async def talk(suite: RunningSuite, chat: dict[str, Any]) -> None:
    """Talk to both bots as little as is allowed."""
    for _ in range(2):
        await exchange(suite, chat)
        assert (await advance(suite, chat)).status_code == 200


def ratings(*numbers: int, **more: Any) -> dict[str, Any]:
    return {"conversations": [{"number": number, "scores": SCORES} for number in numbers]} | more


async def rate(suite: RunningSuite, chat: dict[str, Any], body: dict[str, Any]) -> httpx.Response:
    frontend = await suite.client("conversations", "annotation")
    return await frontend.put(f"/v1/chats/{chat['id']}/ratings", json=body)


@asynccontextmanager
async def listening(
    suite: RunningSuite, chat: dict[str, Any], after: int | None = None, url: str = ""
) -> AsyncIterator[AsyncIterator[Any]]:
    """Read a chat's events as (id, name, data), from the service at `url` if that is another; 204 has none."""
    frontend = await suite.client("conversations", "annotation")
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    async with frontend.stream("GET", f"{url}/v1/chats/{chat['id']}/events", headers=headers) as answer:
        assert answer.status_code in {200, 204}
        if answer.status_code == 200:
            assert answer.headers["content-type"].startswith("text/event-stream")

        async def events() -> AsyncIterator[tuple[int, str, dict[str, Any]]]:
            fields: dict[str, str] = {}
            rest = b""
            async for piece in answer.aiter_bytes():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    if line and not line.startswith(b":"):
                        name, _, value = line.decode().partition(": ")
                        fields[name] = value
                    elif fields.get("event"):
                        yield int(fields["id"]), fields["event"], json.loads(fields["data"])
                        fields = {}

        yield events()


async def all_events(
    suite: RunningSuite, chat: dict[str, Any], after: int | None = None, url: str = ""
) -> list[tuple[int, str, Any]]:
    async with asyncio.timeout(60), listening(suite, chat, after, url) as events:
        return [event async for event in events]


async def chats_of(suite: RunningSuite, collection_id: str) -> list[dict[str, Any]]:
    analyst = await suite.client("conversations", "analyst")
    return (await analyst.get(f"/v1/collections/{collection_id}/chats")).json()["items"]


async def conversations_of(suite: RunningSuite, collection_id: str) -> list[dict[str, Any]]:
    analyst = await suite.client("conversations", "analyst")
    return (await analyst.get(f"/v1/collections/{collection_id}/conversations")).json()["items"]


async def webhook_bot(suite: RunningSuite, url: str, **more: Any) -> str:
    admin = await suite.client("bots", "admin")
    return (await created(admin, "/v1/bots", webhook(f"{url}/reply", **more)))["id"]


async def rated_chats(suite: RunningSuite, people: Sequence[str]) -> str:
    """Have each person chat once with a bot and rate it, and finish the collection."""
    admin = await suite.client("conversations", "admin")
    collection_id = await open_chats(suite, [await add_bot(suite, "dull")], bots_per_chat=1)
    for person in people:
        chat = await start(suite, collection_id, person)
        await exchange(suite, chat, f"Hello, here is {person.removeprefix('p-')}.")
        assert (await advance(suite, chat)).status_code == 200
        assert (await rate(suite, chat, ratings(1))).status_code == 200
    assert (await admin.post(f"/v1/collections/{collection_id}/finish")).status_code == 200
    await until(admin, f"/v1/collections/{collection_id}", "complete")
    return collection_id

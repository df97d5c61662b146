"""Small studies for tests: a corpus, bots and collections, made through the services' own API."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from tests.factories.running_suite import RunningSuite

DIALOGUES = [
    {
        "key": f"d{number}",
        "split": split,
        "turns": [f"{split} {number} turn {turn} about {topic}." for turn in range(12)],
    }
    for split in ("train", "openings")
    for number, topic in enumerate(("rain", "bread", "trains", "gardens", "music", "cats", "books", "rivers"))
]


def keyed(dialogues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each | {"key": f"{each['split']}-{each['key']}"} for each in dialogues]


async def created(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def until(client: httpx.AsyncClient, path: str, state: str, seconds: float = 180) -> dict[str, Any]:
    """Return a thing once it is in a state; asks less and less often, since to ask takes time from what is awaited."""
    pause = 0.02
    async with asyncio.timeout(seconds):
        while True:
            found = (await client.get(path)).json()
            if found["state"] == state:
                return found
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, 0.3)


async def add_corpus(suite: RunningSuite, name: str = "small", dialogues: Sequence[dict[str, Any]] = ()) -> str:
    """Upload dialogues, or else `DIALOGUES`; return the corpus' id."""
    admin = await suite.client("conversations", "admin")
    body = {"name": name, "domain": "everyday", "origin": "Written for a test.", "licence": "Apache-2.0"}
    corpus = await created(admin, "/v1/corpora", body)
    uploaded = [*dialogues] or keyed(DIALOGUES)
    await created(admin, f"/v1/corpora/{corpus['id']}/dialogues", {"dialogues": uploaded})
    return corpus["id"]


async def add_bot(suite: RunningSuite, model: str, *, corpus_id: str | None = None, name: str | None = None) -> str:
    admin = await suite.client("bots", "admin")
    protocol = {"kind": "builtin", "model": model} | ({"corpus_id": corpus_id} if corpus_id else {})
    body = {"name": name or model, "domains": ["everyday"], "protocol": protocol}
    return (await created(admin, "/v1/bots", body))["id"]


async def register_bots(suite: RunningSuite) -> dict[str, str]:
    """Register a bot of the team `us`, one of `them`, and a public one of the operator; return their ids by name."""
    owners = {
        "ours": await suite.client("bots", "team", team="us"),
        "secretive": await suite.client("bots", "team", team="them"),
        "baseline": await suite.client("bots", "admin"),
    }
    protocol = {"kind": "builtin", "model": "eliza"}
    return {
        name: (
            await created(
                owner,
                "/v1/bots?probe=false",
                {"name": name, "domains": ["everyday"], "protocol": protocol, "public": name == "baseline"},
            )
        )["id"]
        for name, owner in owners.items()
    }


def plan(bots: list[str], **more: Any) -> dict[str, Any]:
    return {
        "mode": "all_play_all",
        "name": "small",
        "domain": "everyday",
        "bots": bots,
        "exchanges": 2,
        "conversations_per_pair": 2,
        "seed": 3,
    } | more


async def import_conversations(suite: RunningSuite, conversations: list[dict[str, Any]]) -> str:
    admin = await suite.client("conversations", "admin")
    collection = await created(admin, "/v1/collections", {"mode": "import", "name": "im", "domain": "everyday"})
    path = f"/v1/collections/{collection['id']}/conversations"
    await created(admin, path, {"conversations": conversations})
    return collection["id"]


def conversation(key: str, first: str, second: str, exchanges: int = 3) -> dict[str, Any]:
    def side(name: str) -> dict[str, str]:
        return {"kind": "human" if name == "HU" else "bot", "name": name}

    turns = [{"speaker": "AB"[number % 2], "text": f"{key} says {number}"} for number in range(2 * exchanges)]
    return {"external_id": key, "participants": [side(first), side(second)], "turns": turns}


def with_bots(held: dict[str, Any], bots: Mapping[str, str]) -> dict[str, Any]:
    """Say which registered bots speak in an imported conversation."""
    sides = [each | ({"bot_id": bots[each["name"]]} if each["name"] in bots else {}) for each in held["participants"]]
    return held | {"participants": sides}

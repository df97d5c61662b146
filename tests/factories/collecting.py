"""Bots and collections on services that may be killed in the middle of any request."""

import asyncio
import secrets
import time
from typing import Any

import httpx

from tests.factories.processes import Processes


async def register(processes: Processes, name: str, url: str, **limits: float) -> str:
    """Register a webhook bot under a name that no other has; return its id."""
    request = {
        "name": f"{name}-{secrets.token_hex(3)}",
        "domains": ["everyday"],
        "protocol": {"kind": "webhook", "url": url},
        "limits": limits,
    }
    return await _create(await processes.client("bots"), "/v1/bots", request)


async def start(processes: Processes, **plan: Any) -> str:
    """Start a collection; return its id."""
    request = {"name": f"faults-{secrets.token_hex(3)}", "domain": "everyday", "seed": 5} | plan
    return await _create(await processes.client("conversations"), "/v1/collections", request)


async def finished(processes: Processes, collection: str, *, seconds: float) -> dict[str, Any]:
    """Wait until a collection has ended, whatever becomes of the service meanwhile."""
    client = await processes.client("conversations")
    found: dict[str, Any] = {}
    ends = time.monotonic() + seconds
    while found.get("state") != "complete":
        assert time.monotonic() < ends, f"{found}\n{processes.last_words()}"
        await asyncio.sleep(0.1)
        try:
            answer = await client.get(f"/v1/collections/{collection}")
        except httpx.TransportError:  # killed while it answered
            continue
        if answer.status_code == 200:  # 503: its database was
            found = answer.json()
    return found


async def conversations(processes: Processes, collection: str) -> list[dict[str, Any]]:
    """Return all conversations of a collection, in the order of its plan."""
    client = await processes.client("conversations")
    found: list[dict[str, Any]] = []
    params: dict[str, Any] = {"limit": 1000}
    while True:
        answer = await client.get(f"/v1/collections/{collection}/conversations", params=params)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        params["cursor"] = page["next_cursor"]


async def failures(processes: Processes, collection: str) -> list[dict[str, Any]]:
    """Return the account of what failed and why."""
    client = await processes.client("conversations")
    answer = await client.get(f"/v1/collections/{collection}/failures", params={"limit": 100})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def _create(client: httpx.AsyncClient, path: str, request: dict[str, Any]) -> str:
    answer = await client.post(path, json=request)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])

"""Subscribers to events, and what became of what they were sent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from spotthebot.contracts.conversations.events import EventType
from spotthebot.conversations.events.store import EVENTS
from spotthebot.kit.database.sessions import Database
from tests.factories.bot_servers import Bot
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

FINISHED = {"collection": {"id": "0199", "name": "everyday-1"}, "complete": 45}


async def happen(outbox: Database, times: int = 1, data: dict[str, Any] | None = None, **more: Any) -> list[str]:
    made = []
    for _ in range(times):
        async with outbox.write() as session:
            kind = more.get("kind", EventType.COLLECTION_FINISHED)
            made.append(str(await EVENTS.outbox.add_event(session, kind, data or FINISHED)))
    return made


async def subscribe(
    suite: RunningSuite,
    url: str,
    *events: str,
    team: str | None = None,
    service: str = "conversations",
    role: str = "team",
    **more: Any,
) -> dict[str, Any]:
    """Subscribe as the operator, or with a key of a role and a team."""
    client = await suite.client(service, role if team else "admin", team=team)
    return await created(client, "/v1/subscriptions", {"url": url, "events": events or ("collection.finished",)} | more)


async def deliveries(
    suite: RunningSuite, subscription: dict[str, Any], *, service: str = "conversations", **params: Any
) -> list[dict[str, Any]]:
    admin = await suite.client(service, "admin")
    answer = await admin.get(f"/v1/subscriptions/{subscription['id']}/deliveries", params={"limit": 1000} | params)
    return answer.json()["items"]


async def distributed(outbox: Database) -> None:
    """Wait until no event is left to be distributed."""

    async def none_is_new() -> bool:
        async with outbox.read() as session:
            return not await EVENTS.outbox.list_new_events(session, after=None, limit=1)

    await until(none_is_new)


async def until(is_so: Callable[[], Awaitable[Any]], seconds: float = 15) -> Any:
    async with asyncio.timeout(seconds):
        while not (found := await is_so()):
            await asyncio.sleep(0.02)
    return found


async def settled(
    suite: RunningSuite, subscription: dict[str, Any], number: int = 1, *, service: str = "conversations"
) -> list[dict[str, Any]]:
    """Wait until so many deliveries have been made or given up."""

    async def all_settled() -> list[dict[str, Any]]:
        found = [each for each in await deliveries(suite, subscription, service=service) if each["state"] != "pending"]
        return found if len(found) >= number else []

    return await until(all_settled)


def ids(subscriber: Bot) -> list[str]:
    return [headers["webhook-id"] for headers in subscriber.headers]


async def true(is_so: Callable[[], bool]) -> None:
    """Wait until it is so."""

    async def is_true() -> bool:
        return is_so()

    await until(is_true)

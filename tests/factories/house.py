"""The whole house in one process: real servers on loopback, real workers, on a migrated database of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from spotthebot.kit.access.store import create_key
from spotthebot.kit.database import Database
from spotthebot.suite.foundation import SERVICES
from spotthebot.suite.supervision.sockets import bind


@dataclass(frozen=True)
class DatabaseUrls:
    """One migrated database: the owner's and the app's URL of each schema."""

    owner: Mapping[str, str]
    app: Mapping[str, str]


class Keys:
    """Makes API keys as the operator's command line does."""

    def __init__(self, access_owner_url: str) -> None:
        self._url = access_owner_url

    async def make(self, role: str, *, team: str | None = None, **more: Any) -> str:
        database = Database(self._url, pool_size=1)
        try:
            async with database.write() as session:
                _, text = await create_key(session, role=role, team=team, **more)
            return text
        finally:
            await database.close()


@dataclass
class House:
    """Running services; `client` gives one with a key of the wanted role."""

    urls: dict[str, str]
    apps: dict[str, FastAPI]
    database: DatabaseUrls
    keys: Keys
    _stack: contextlib.AsyncExitStack
    _clients: dict[tuple[str, str, str | None], httpx.AsyncClient] = field(default_factory=dict)

    async def client(self, service: str, role: str, *, team: str | None = None) -> httpx.AsyncClient:
        name = (service, role, team)
        if name not in self._clients:
            key = await self.keys.make(role, team=team)
            self._clients[name] = await self._stack.enter_async_context(
                httpx.AsyncClient(
                    base_url=self.urls[service],
                    headers={"Authorization": f"Bearer {key}"},
                    timeout=30,
                    trust_env=False,
                )
            )
        return self._clients[name]


@asynccontextmanager
async def served(app: FastAPI, sock: Any) -> AsyncIterator[str]:
    """Serve an application on a bound socket while the block lasts."""
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on", http="httptools"))
    server.install_signal_handlers = lambda: None
    host, port = sock.getsockname()[:2]
    task = asyncio.create_task(server._serve([sock]))
    while not server.started:
        if task.done():
            task.result()
        await asyncio.sleep(0.005)
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def open_house(database: DatabaseUrls, **settings: Mapping[str, Any]) -> AsyncIterator[House]:
    """Run all services and workers; `settings` adds to a service's own, by its name."""
    keys = Keys(database.owner["access"])
    service_key = await keys.make("service")
    async with contextlib.AsyncExitStack() as stack:
        sockets = {service.name: bind("127.0.0.1", 0) for service in SERVICES}
        urls = {name: f"http://127.0.0.1:{sock.getsockname()[1]}" for name, sock in sockets.items()}
        apps = {}
        workers = []
        for service in SERVICES:
            own = service.settings(
                database_url=database.app[service.name],
                database_pool_size=3,
                service_key=service_key,
                **{f"{peer}_url": url for peer, url in urls.items() if f"{peer}_url" in service.settings.model_fields},
                **settings.get(service.name, {}),
            )
            apps[service.name] = service.create_app(own)
            await stack.enter_async_context(served(apps[service.name], sockets[service.name]))
            if service.work is not None:
                workers.append(asyncio.create_task(service.work(own)))
        try:
            yield House(urls, apps, database, keys, stack)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

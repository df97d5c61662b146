"""All services in one process: real servers on loopback, real workers, on a migrated database of its own."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Self, TypeVar

import httpx
import uvicorn
from cryptography.fernet import Fernet
from fastapi import FastAPI

from spotthebot.clients import AsyncAnalytics, AsyncAnnotation, AsyncBots, AsyncConversations, AsyncFed
from spotthebot.contracts.services import API_NAMES, SERVICE_NAMES, get_service
from spotthebot.kit.access.store import create_key
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.service.process import Worker
from spotthebot.kit.serving.configuration import server_config
from spotthebot.local.runtime.services import load_service
from tests.factories.databases import Databases, DatabaseUrls

TypedClient = TypeVar("TypedClient", AsyncBots, AsyncConversations, AsyncAnnotation, AsyncAnalytics, AsyncFed)


class Keys:
    """Makes API keys as the operator's command line does, on one connection for all: opening it costs most of a key."""

    def __init__(self, access_owner_url: str) -> None:
        self._database = Database(access_owner_url, pool_size=1)

    async def make(self, role: str, *, team: str | None = None, **more: Any) -> str:
        async with self._database.write() as session:
            _, text = await create_key(session, role=role, team=team, **more)
        return text

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._database.close()


@dataclass
class RunningSuite:
    """Running services; the methods of their names give typed clients with a role's key.

    `client` gives a plain HTTP client, for tests of the wire itself. Clients and their keys last as long as the
    services.
    """

    urls: dict[str, str]
    apps: dict[str, FastAPI]
    database: DatabaseUrls
    keys: Keys
    _stack: contextlib.AsyncExitStack
    _clients: dict[tuple[str, str, str | None], httpx.AsyncClient] = field(default_factory=dict)
    _typed: dict[tuple[type, str, str | None], Any] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Two that ask for a client at once get one key: to services, two keys are two frontends."""

    async def client(self, service: str, role: str, *, team: str | None = None) -> httpx.AsyncClient:
        name = (service, role, team)
        async with self._opening:
            if name not in self._clients:
                key = await self.keys.make(role, team=team)
                self._clients[name] = await self._stack.enter_async_context(
                    httpx.AsyncClient(
                        base_url=self.urls[service],
                        headers={"Authorization": f"Bearer {key}"},
                        timeout=60,
                        trust_env=False,
                    )
                )
            return self._clients[name]

    async def bots(self, role: str, *, team: str | None = None) -> AsyncBots:
        return await self._typed_client(AsyncBots, role, team)

    async def conversations(self, role: str, *, team: str | None = None) -> AsyncConversations:
        return await self._typed_client(AsyncConversations, role, team)

    async def annotation(self, role: str, *, team: str | None = None) -> AsyncAnnotation:
        return await self._typed_client(AsyncAnnotation, role, team)

    async def analytics(self, role: str, *, team: str | None = None) -> AsyncAnalytics:
        return await self._typed_client(AsyncAnalytics, role, team)

    async def fed(self, role: str) -> AsyncFed:
        return await self._typed_client(AsyncFed, role, None)

    async def _typed_client(self, kind: type[TypedClient], role: str, team: str | None) -> TypedClient:
        name = (kind, role, team)
        async with self._opening:
            if name not in self._typed:
                key = await self.keys.make(role, team=team)
                self._typed[name] = await self._stack.enter_async_context(kind(self.urls[kind.peer], key))
            client: TypedClient = self._typed[name]
            return client


class SharedSuites:
    """Lets consecutive test files share running services, where they need the same ones with the same settings."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._running: RunningSuite | None = None
        self._configuration: object = None
        self._stack = contextlib.AsyncExitStack()

    async def start(self, only: Collection[str], settings: Mapping[str, Mapping[str, Any]]) -> RunningSuite:
        """Return services that run on a database without rows: those of the file before, if they will do."""
        configuration = frozenset(only), repr(settings)
        if self._running is None or configuration != self._configuration:
            await self.stop()
            urls = self._stack.enter_context(self._databases.lend())
            self._running = await self._stack.enter_async_context(run_suite(urls, only=only, **settings))
            self._configuration = configuration
        return self._running

    async def clean(self) -> None:
        """Delete what a file's tests left; services whose tables a test changed are stopped."""
        if self._running is not None and self._databases.is_as_made(self._running.database):
            await self.empty(self._running)
        else:
            await self.stop()

    async def empty(self, running: RunningSuite) -> None:
        """Delete the rows that a test left."""
        await asyncio.to_thread(self._databases.empty, running.database)  # services that hold locks run in this thread

    async def stop(self) -> None:
        self._running = None
        await self._stack.aclose()


class _Server(uvicorn.Server):
    """Leaves signals to pytest, and says when it can't start."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def ready(self, serving: asyncio.Task[None]) -> None:
        while not self.started:
            if serving.done():
                serving.result()
                message = "the server ended before it began to listen"
                raise RuntimeError(message)
            await asyncio.sleep(0.005)


@asynccontextmanager
async def served(app: FastAPI, sock: socket.socket) -> AsyncIterator[str]:
    """Serve an application on a bound socket while the block lasts."""
    async with serve_all([(configured(app), sock)]):
        host, port = sock.getsockname()[:2]
        yield f"http://{host}:{port}"


_NOBODY = dict.fromkeys(API_NAMES, "http://127.0.0.1:9")
"""Services that do not run: at their usual addresses other suites on the same machine may answer."""


@asynccontextmanager
async def run_suite(
    database: DatabaseUrls, *, only: Collection[str] = (), **settings: Mapping[str, Any]
) -> AsyncIterator[RunningSuite]:
    """Run all services with an API and their workers, or only those named; `settings` adds to a service's own."""
    running = [load_service(name) for name in SERVICE_NAMES if name in (only or API_NAMES)]
    async with contextlib.AsyncExitStack() as stack:
        keys = await stack.enter_async_context(Keys(database.owner["access"]))
        service_key, frontend_key = await keys.make("service"), await keys.make("annotation")
        sockets = {service.name: stack.enter_context(closing(bind("127.0.0.1", 0))) for service in running}
        urls = {name: f"http://127.0.0.1:{sock.getsockname()[1]}" for name, sock in sockets.items()}
        own = {
            service.name: service.settings(
                **{
                    **(
                        {
                            "database_url": database.app[service.name],
                            "database_pool_size": 3,
                            "service_key": service_key,
                        }
                        if service.lineage
                        else {"annotation_key": frontend_key, "sessions_key": Fernet.generate_key().decode()}
                    ),
                    **{
                        f"{peer}_url": url for peer, url in (_NOBODY | urls).items()
                    },  # it ignores what it does not know
                    **_OUTBOUND.get(service.name, dict)(),
                    **settings.get(service.name, {}),
                }
            )
            for service in running
        }
        apps = {service.name: service.create_app(own[service.name]) for service in running}
        await stack.enter_async_context(serve_all([(configured(app), sockets[name]) for name, app in apps.items()]))
        working = [_load_worker(name).work(own[name]) for name in own if get_service(name).has_worker]
        await stack.enter_async_context(_working(working))
        yield RunningSuite(urls, apps, database, keys, stack)


def _load_worker(name: str) -> Worker[Any]:
    worker: Worker[Any] = import_module(f"spotthebot.{name}.worker").WORKER
    return worker


def bots_settings() -> dict[str, Any]:
    """Settings of the service `bots` in tests: bots on loopback are allowed, and recover soon."""
    return {
        "allowed_networks": ("127.0.0.0/8", "::1/128"),
        "secrets_key": Fernet.generate_key().decode(),
        "recovery_seconds": 0.5,
        "probes_per_team": 8,
    }


def event_settings() -> dict[str, Any]:
    """Settings of a service with events in tests: subscribers on loopback are allowed, and asked again soon."""
    return {
        "allowed_networks": ("127.0.0.0/8", "::1/128"),
        "secrets_key": Fernet.generate_key().decode(),
        "delivery_waits_seconds": (0.1, 0.1, 0.1),
        "delivery_poll_seconds": 2.0,
    }


def conversations_settings() -> dict[str, Any]:
    """Settings of `conversations` in tests: those of events, no quality flags, and lost jobs are seldom looked for.

    For tests of quality flags there is `QUALITY_CHECKS`: each check starts a process.
    """
    return event_settings() | {"quality_checks_at_once": 0, "stalled_after_seconds": 60}


QUALITY_CHECKS = {"quality_checks_at_once": 4}
"""Settings of `conversations` for tests that wait for quality flags."""

EAGER_DELIVERIES = {"delivery_poll_seconds": 0.05}
"""Settings of a service for tests that wait for deliveries: to look that often costs as much as most tests do."""


def analytics_settings() -> dict[str, Any]:
    """Settings of `analytics` in tests: what is public is asked for each time."""
    return {"leaderboard_seconds": 0, "verdict_seconds": 3600}


_OUTBOUND: dict[str, Callable[[], dict[str, Any]]] = {
    "analytics": analytics_settings,
    "bots": bots_settings,
    "conversations": conversations_settings,
    "annotation": event_settings,
    "fed": event_settings,
}


def configured(app: FastAPI) -> uvicorn.Config:
    """Return how a service is served, in tests and outside of them."""
    return server_config(app, lifespan="on")


@asynccontextmanager
async def serve_all(pairs: Sequence[tuple[uvicorn.Config, socket.socket]]) -> AsyncIterator[None]:
    """Serve applications on bound sockets while the block lasts."""
    servers = [_Server(config) for config, _ in pairs]
    serving = [
        asyncio.create_task(server.serve(sockets=[sock])) for server, (_, sock) in zip(servers, pairs, strict=True)
    ]
    try:
        for server, task in zip(servers, serving, strict=True):
            await server.ready(task)
        yield
    finally:
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*serving)


@asynccontextmanager
async def _working(works: Sequence[Awaitable[None]]) -> AsyncIterator[None]:
    workers = [asyncio.ensure_future(work) for work in works]
    try:
        yield
    finally:
        for worker in workers:
            worker.cancel()
        for ended in await asyncio.gather(*workers, return_exceptions=True):
            if isinstance(ended, Exception):  # being cancelled is none
                raise ended

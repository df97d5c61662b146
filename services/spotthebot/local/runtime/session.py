"""The suite that a command uses: elsewhere, on the data folder, or started only for this command."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar

from spotthebot import clients
from spotthebot.contracts.access import Role
from spotthebot.contracts.services import API_NAMES
from spotthebot.kit.processes.spec import Event
from spotthebot.local.errors import NoAnswerThere, NoServiceThere, ServicesMissing, TookTooLong
from spotthebot.local.runtime.data_folder import KEY_OF_ADMIN, DataFolder, State
from spotthebot.local.runtime.remote import Remote

if TYPE_CHECKING:
    from spotthebot.clients.client import AsyncClient
    from spotthebot.local.runtime.bootstrap import Bootstrap

_START_SECONDS = 90
_Client = TypeVar("_Client", bound="AsyncClient")


class Clients:
    """The services, as an administrator sees them, and the task API, as a frontend sees it.

    If the user gives a key, it is used for both. Without a key, a command on this machine uses the administrator's key
    for the services and a frontend's key for the task API.

    Each client is made at its first use, so that a command imports only the schemas of the services that it calls.
    """

    def __init__(self, urls: Mapping[str, str], *, admin_key: str, frontend_key: str) -> None:
        self.urls = dict(urls)
        self._admin_key, self._frontend_key = admin_key, frontend_key
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @cached_property
    def bots(self) -> "clients.AsyncBots":
        return self._closed_at_the_end(clients.AsyncBots(self.urls["bots"], self._admin_key))

    @cached_property
    def conversations(self) -> "clients.AsyncConversations":
        return self._closed_at_the_end(clients.AsyncConversations(self.urls["conversations"], self._admin_key))

    @cached_property
    def annotation(self) -> "clients.AsyncAnnotation":
        return self._closed_at_the_end(clients.AsyncAnnotation(self.urls["annotation"], self._admin_key))

    @cached_property
    def analytics(self) -> "clients.AsyncAnalytics":
        return self._closed_at_the_end(clients.AsyncAnalytics(self.urls["analytics"], self._admin_key))

    @cached_property
    def fed(self) -> "clients.AsyncFed":
        return self._closed_at_the_end(clients.AsyncFed(self.urls["fed"], self._admin_key))

    @cached_property
    def tasks(self) -> "clients.AsyncAnnotation":
        return self._closed_at_the_end(clients.AsyncAnnotation(self.urls["annotation"], self._frontend_key))

    def _closed_at_the_end(self, client: _Client) -> _Client:
        self._stack.push_async_callback(client.close)
        return client


Services: TypeAlias = DataFolder | Remote
"""Where a command finds the services: in the data folder of a suite on this machine, or at their address."""


@dataclass(frozen=True)
class Session:
    """The services that a command can reach. If they still have to start, `prepared` has their database and keys."""

    services: Services
    prepared: "Bootstrap | None"

    @property
    def folder(self) -> DataFolder | None:
        """The data folder; None if the services run elsewhere."""
        return self.services if isinstance(self.services, DataFolder) else None


@contextmanager
def open_session(services: Services) -> Iterator[Session]:
    """Find the running suite; if none runs, lock the data folder and prepare its database.

    Blocks, so call it before an event loop.
    """
    if not isinstance(services, DataFolder) or services.holder() is not None:
        yield Session(services, None)
        return
    # Imported only if no suite runs: a command for a running suite starts in a tenth of the time.
    from spotthebot.local.runtime.bootstrap import bootstrap  # noqa: PLC0415 - as above

    services.create()
    with services.lock(), bootstrap(services) as prepared:
        yield Session(services, prepared)


@asynccontextmanager
async def connect(session: Session) -> AsyncIterator[Clients]:
    """Yield clients of the services; services that this call started stop at the end of the block."""
    services = session.services
    if isinstance(services, DataFolder):
        async with _connect_here(services, session.prepared) as clients_here:
            yield clients_here
        return
    frontend_key = services.frontend_key or services.key
    async with Clients(services.urls, admin_key=services.key, frontend_key=frontend_key) as clients_there:
        try:
            yield clients_there
        except clients.NotFound as missing:
            if missing.problem.type != "about:blank":  # our services name the kind of a problem
                raise
            raise NoServiceThere(service=missing.peer, url=services.urls[missing.peer]) from missing
        except clients.PeerUnavailable as silent:
            peer = str(silent.facts["peer"])
            raise NoAnswerThere(service=peer, url=services.urls[peer], reason=silent.facts["reason"]) from silent


@asynccontextmanager
async def _connect_here(folder: DataFolder, prepared: "Bootstrap | None") -> AsyncIterator[Clients]:
    async with contextlib.AsyncExitStack() as stack:
        if prepared is None:
            state = await _wait_until_ready(folder)
        else:
            from spotthebot.local.runtime.local_settings import local_settings  # noqa: PLC0415 - for a start alone
            from spotthebot.local.runtime.ports import bound_addresses  # noqa: PLC0415 - for a start alone
            from spotthebot.local.runtime.running_suite import running_suite  # noqa: PLC0415 - for a start alone

            addresses = stack.enter_context(bound_addresses(None, API_NAMES))
            local = stack.enter_context(local_settings(folder))
            running = running_suite(folder, prepared, addresses, local, on_line=_ignore_line, on_event=_ignore_event)
            state = await stack.enter_async_context(running)
        urls = {service.name: service.url for service in state.services}
        if missing := [name for name in API_NAMES if name not in urls]:
            raise ServicesMissing(folder=folder.path, services=", ".join(missing), option=folder.option)
        key = folder.key or folder.secret(KEY_OF_ADMIN)
        frontend = folder.secret("key/annotation") if key.startswith(f"stb_{Role.ADMIN}_") else key
        yield await stack.enter_async_context(Clients(urls, admin_key=key, frontend_key=frontend))


async def _wait_until_ready(folder: DataFolder) -> State:
    for _ in range(_START_SECONDS * 5):
        state = folder.read_state()
        if state is not None and state.ready:
            return state
        await asyncio.sleep(0.2)
    raise TookTooLong(what="Starting the suite", seconds=_START_SECONDS, logs=folder.logs)


def _ignore_line(_name: str, _line: str) -> None:
    """Ignore the line, because the log files have it."""


def _ignore_event(_event: Event) -> None:
    """Ignore the event, because the log files have it."""

"""What commands work with: the suite that runs on the data folder, or one that runs as long as they need it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from spotthebot.kit.client import ServiceClient
from spotthebot.suite.data_folder import DataFolder, State
from spotthebot.suite.errors import TookTooLong
from spotthebot.suite.foundation import Foundation, lay_foundation
from spotthebot.suite.hosting import hosting
from spotthebot.suite.stack import bound_sockets, running_stack
from spotthebot.suite.supervision.spec import Event

_START_SECONDS = 90


@dataclass(frozen=True)
class Clients:
    """The services, as an administrator sees them, and the task API, as a frontend sees it."""

    bots: ServiceClient
    conversations: ServiceClient
    annotation: ServiceClient
    analytics: ServiceClient
    tasks: ServiceClient
    urls: dict[str, str]


@dataclass(frozen=True)
class Ground:
    """A data folder, with what is needed to start a suite where none runs."""

    folder: DataFolder
    foundation: Foundation | None


@contextmanager
def ground(folder: DataFolder) -> Iterator[Ground]:
    """Find the suite that runs here, or take the lock and prepare the database for one. Blocks: call it first."""
    if folder.holder() is not None:
        yield Ground(folder, None)
        return
    folder.create()
    with folder.lock(), lay_foundation(folder) as foundation:
        yield Ground(folder, foundation)


@asynccontextmanager
async def connect(found: Ground) -> AsyncIterator[Clients]:
    """Give clients of the services, which are started first if none run and stopped afterwards if so."""
    async with contextlib.AsyncExitStack() as stack:
        if found.foundation is None:
            state = await _wait_until_ready(found.folder)
        else:
            sockets = stack.enter_context(bound_sockets(None))
            hosted = stack.enter_context(hosting(found.folder))
            running = running_stack(
                found.folder, found.foundation, sockets, hosted, on_line=_ignore_line, on_event=_ignore_event
            )
            state = await stack.enter_async_context(running)
        urls = {service.name: service.url for service in state.services}
        admin, frontend = found.folder.secret("key/admin"), found.folder.secret("key/annotation")
        clients = {name: await stack.enter_async_context(ServiceClient(name, url, admin)) for name, url in urls.items()}
        tasks = await stack.enter_async_context(ServiceClient("annotation", urls["annotation"], frontend))
        yield Clients(
            bots=clients["bots"],
            conversations=clients["conversations"],
            annotation=clients["annotation"],
            analytics=clients["analytics"],
            tasks=tasks,
            urls=urls,
        )


async def _wait_until_ready(folder: DataFolder) -> State:
    for _ in range(_START_SECONDS * 5):
        state = folder.read_state()
        if state is not None and state.ready:
            return state
        await asyncio.sleep(0.2)
    raise TookTooLong(what="Starting the suite", seconds=_START_SECONDS, logs=folder.logs)


def _ignore_line(_name: str, _line: str) -> None:
    """Lines are in the log files."""


def _ignore_event(_event: Event) -> None:
    """Restarts are in the log files."""

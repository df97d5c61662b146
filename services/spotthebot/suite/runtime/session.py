"""The suite that a command works with: the one that runs on the data folder, or one that runs for this command."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.client import ServiceClient
from spotthebot.suite.errors import ServicesMissing, TookTooLong
from spotthebot.suite.runtime.data_folder import DataFolder, State
from spotthebot.suite.supervision.spec import Event

if TYPE_CHECKING:
    from spotthebot.suite.runtime.bootstrap import Bootstrap

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
class Session:
    """A data folder; `prepared` is None where a suite runs on it, else the database for one that is still to start."""

    folder: DataFolder
    prepared: "Bootstrap | None"


@contextmanager
def open_session(folder: DataFolder) -> Iterator[Session]:
    """Find the suite that runs here, or lock the folder and prepare the database for one. Blocks: no event loop yet."""
    if folder.holder() is not None:
        yield Session(folder, None)
        return
    # Imported where no suite runs only: a command that asks a running one starts in a tenth of the time.
    from spotthebot.suite.runtime.bootstrap import bootstrap  # noqa: PLC0415

    folder.create()
    with folder.lock(), bootstrap(folder) as prepared:
        yield Session(folder, prepared)


@asynccontextmanager
async def connect(session: Session) -> AsyncIterator[Clients]:
    """Yield clients of the services; services that this call started stop at the end of the block."""
    async with contextlib.AsyncExitStack() as stack:
        if session.prepared is None:
            state = await _wait_until_ready(session.folder)
        else:
            from spotthebot.suite.runtime.local_settings import local_settings  # noqa: PLC0415 - as above
            from spotthebot.suite.runtime.running_suite import bound_addresses, running_suite  # noqa: PLC0415 - as above

            addresses = stack.enter_context(bound_addresses(None))
            local = stack.enter_context(local_settings(session.folder))
            running = running_suite(
                session.folder, session.prepared, addresses, local, on_line=_ignore_line, on_event=_ignore_event
            )
            state = await stack.enter_async_context(running)
        urls = {service.name: service.url for service in state.services}
        if missing := [name for name in SERVICE_NAMES if name not in urls]:
            raise ServicesMissing(folder=session.folder.path, services=", ".join(missing))
        admin, frontend = session.folder.secret("key/admin"), session.folder.secret("key/annotation")
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

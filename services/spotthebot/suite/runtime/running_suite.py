"""Runs all services and workers as processes of this machine, from bound sockets to a clean stop."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from spotthebot.contracts.services import SERVICES, ServiceEntry
from spotthebot.kit.errors import Error
from spotthebot.suite.postgres.cluster import Cluster
from spotthebot.suite.runtime.bootstrap import DATABASE_URL_VARIABLE, Bootstrap
from spotthebot.suite.runtime.data_folder import DataFolder, RunningService, RunningWorker, State
from spotthebot.suite.runtime.local_settings import LocalSettings
from spotthebot.suite.supervision.sockets import bind
from spotthebot.suite.supervision.spec import Event, OnLine, ProcessSpec
from spotthebot.suite.supervision.supervisor import Supervisor

HOST = "127.0.0.1"
_DATABASE_CHECK_SECONDS = 0.5


@contextmanager
def bound_sockets(port_base: int | None) -> Iterator[dict[str, socket.socket]]:
    """Bind a socket for each service: ports `port_base + 1` and up, or free ones without a base."""
    with contextlib.ExitStack() as stack:
        sockets = {}
        for service in SERVICES:
            port = 0 if port_base is None else service.port_after(port_base)
            sockets[service.name] = stack.enter_context(contextlib.closing(bind(HOST, port)))
        yield sockets


@asynccontextmanager
async def running_suite(
    folder: DataFolder,
    prepared: Bootstrap,
    sockets: Mapping[str, socket.socket],
    local: LocalSettings,
    *,
    on_line: OnLine,
    on_event: Callable[[Event], None],
) -> AsyncIterator[State]:
    """Run all services and workers while the block lasts; what runs is kept in the folder's state file."""
    urls = {name: f"http://{HOST}:{each.getsockname()[1]}" for name, each in sockets.items()}
    specs = [*local.before, *_specs(folder, prepared, sockets, urls, local)]
    supervisor: Supervisor

    def write_state(*, ready: bool) -> State:
        pids = {status.name: status.pid for status in supervisor.status()}
        state = State(
            pid=os.getpid(),
            ready=ready,
            database_owner_urls=dict(prepared.urls.owner_urls),
            services=tuple(RunningService(name, url, pids[name]) for name, url in urls.items()),
            workers=tuple(RunningWorker(name, pid) for name, pid in pids.items() if name not in urls),
        )
        folder.write_state(state)
        return state

    ready = False

    def changed(event: Event) -> None:
        write_state(ready=ready)
        on_event(event)

    supervisor = Supervisor(specs, on_line=on_line, on_event=changed)
    watcher = None if prepared.cluster is None else asyncio.create_task(_monitor_database(prepared.cluster))
    try:
        async with supervisor:
            ready = True
            yield write_state(ready=True)
            ready = False
    finally:
        if watcher is not None:
            watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watcher


async def _monitor_database(cluster: Cluster) -> None:
    """Start the database again when it dies; it comes back on its old port, so the services find it."""
    while True:
        await asyncio.sleep(_DATABASE_CHECK_SECONDS)
        if not cluster.running:
            with contextlib.suppress(Error):  # the next round tries again; its log says why it did not start
                cluster.start()  # blocks for a moment, from the main thread: there the server dies with us


def _specs(
    folder: DataFolder,
    prepared: Bootstrap,
    sockets: Mapping[str, socket.socket],
    urls: Mapping[str, str],
    local: LocalSettings,
) -> list[ProcessSpec]:
    services = []
    workers = []
    for service in SERVICES:
        environment = _environment(service, prepared, urls) | dict(local.environment)
        command = (sys.executable, "-m", service.package)
        descriptor = sockets[service.name].fileno()
        services.append(
            ProcessSpec(
                name=service.name,
                argv=(*command, "serve", "--fd", str(descriptor)),
                log_file=folder.logs / f"{service.name}.log",
                env=environment,
                pass_fds=(descriptor,),
                ready_url=f"{urls[service.name]}/readyz",
            )
        )
        if service.has_worker:
            workers.append(
                ProcessSpec(
                    name=f"{service.name}-worker",
                    argv=(*command, "work"),
                    log_file=folder.logs / f"{service.name}-worker.log",
                    env=environment,
                    ready_line="worker.ready",
                    stop_timeout_seconds=15,
                )
            )
    return services + workers


def _environment(service: ServiceEntry, prepared: Bootstrap, urls: Mapping[str, str]) -> dict[str, str]:
    prefix = service.environment_prefix
    inherited = {key: value for key, value in os.environ.items() if key != DATABASE_URL_VARIABLE}
    others = {f"{prefix}{other.upper()}_URL": urls[other] for other in service.calls}
    own = {
        f"{prefix}DATABASE_URL": prepared.urls.app_urls[service.schema],
        f"{prefix}SERVICE_KEY": prepared.keys["service"],
        "PYTHONUNBUFFERED": "1",
    }
    return inherited | others | own

"""Runs all services and workers as processes of this machine, from bound sockets to a clean stop."""

import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from spotthebot.contracts.services import DEFAULT_PORT_BASE, SERVICES, ServiceEntry
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.processes.spec import Event, OnLine, ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
from spotthebot.kit.waits.cancellation import in_background
from spotthebot.local.postgres.health import kept_alive
from spotthebot.local.runtime import preloaded
from spotthebot.local.runtime.bootstrap import Bootstrap
from spotthebot.local.runtime.data_folder import DataFolder, RunningService, RunningWorker, State
from spotthebot.local.runtime.environment import inherited_environment, service_environment
from spotthebot.local.runtime.event_log import log_event
from spotthebot.local.runtime.local_settings import LocalSettings
from spotthebot.local.runtime.reload import restart_on_change, watched_folders

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Addresses:
    """The sockets of the services to run here, and the URLs of all services, local or not."""

    sockets: Mapping[str, socket.socket]
    urls: Mapping[str, str]


@contextmanager
def bound_addresses(port_base: int | None, only: Collection[str] = ()) -> Iterator[Addresses]:
    """Bind a socket for each service, or only for services in `only`. Without `port_base`, take free ports."""
    with contextlib.ExitStack() as stack:
        sockets = {}
        ports = {}
        for service in SERVICES:
            ports[service.name] = service.port_after(DEFAULT_PORT_BASE if port_base is None else port_base)
            if not only or service.name in only:
                port = 0 if port_base is None else ports[service.name]
                sockets[service.name] = stack.enter_context(contextlib.closing(bind(HOST, port)))
                ports[service.name] = sockets[service.name].getsockname()[1]
        yield Addresses(sockets, {name: f"http://{HOST}:{port}" for name, port in ports.items()})


@asynccontextmanager
async def running_suite(
    folder: DataFolder,
    prepared: Bootstrap,
    addresses: Addresses,
    local: LocalSettings,
    *,
    on_line: OnLine,
    on_event: Callable[[Event], None],
    on_change: Callable[[str, Path], None] | None = None,
) -> AsyncIterator[State]:
    """Run services and their workers during the block; the folder's state file lists the running processes.

    With `on_change`, a service restarts when its files change; before the restart, `on_change` is called.
    """
    environments = {service.name: service_environment(service, prepared, addresses.urls, local) for service in SERVICES}
    running = [service for service in SERVICES if service.name in addresses.sockets]
    # A process that restarts on a change must import everything itself, to import the changed files.
    fork_needs = (preloaded.__name__,) if on_change is None else ()
    specs = [*local.before, *_specs(folder, running, addresses, environments, fork_needs)]
    supervisor: Supervisor

    def write_state(*, ready: bool) -> State:
        pids = {status.name: status.pid for status in supervisor.status()}
        state = State(
            pid=os.getpid(),
            ready=ready,
            database_owner_urls=dict(prepared.urls.owner_urls),
            urls=dict(addresses.urls),
            environments=environments,
            services=tuple(RunningService(each.name, addresses.urls[each.name], pids[each.name]) for each in running),
            workers=tuple(RunningWorker(name, pid) for name, pid in pids.items() if name not in addresses.sockets),
        )
        folder.write_state(state)
        return state

    ready = False

    def happened(event: Event) -> None:
        log_event(folder.logs, event)
        on_event(event)

    def changed(event: Event) -> None:
        write_state(ready=ready)
        happened(event)

    supervisor = Supervisor(specs, on_line=on_line, on_event=changed)
    async with kept_alive(prepared.cluster, happened), supervisor, contextlib.AsyncExitStack() as stack:
        ready = True
        state = write_state(ready=True)
        if on_change is not None:
            watching = restart_on_change(supervisor, watched_folders(addresses.sockets), on_change)
            await stack.enter_async_context(in_background(watching))
        yield state
        ready = False


def _specs(
    folder: DataFolder,
    services: Sequence[ServiceEntry],
    addresses: Addresses,
    environments: Mapping[str, Mapping[str, str]],
    fork_needs: tuple[str, ...],
) -> list[ProcessSpec]:
    servers = []
    workers = []
    inherited = {**inherited_environment(), "PYTHONUNBUFFERED": "1"}
    for service in services:
        environment = {**inherited, **environments[service.name]}
        command = (sys.executable, "-m", service.package)
        servers.append(
            ProcessSpec(
                name=service.name,
                argv=(*command, "serve"),
                log_file=folder.logs / f"{service.name}.log",
                env=environment,
                listener=addresses.sockets[service.name],
                fork_needs=fork_needs,
                ready_url=f"{addresses.urls[service.name]}/readyz",
                health_url=f"{addresses.urls[service.name]}/healthz",
            )
        )
        if service.has_worker:
            heartbeat = folder.path / f"{service.name}-worker.heartbeat"
            workers.append(
                ProcessSpec(
                    name=f"{service.name}-worker",
                    argv=(*command, "work"),
                    fork_needs=fork_needs,
                    log_file=folder.logs / f"{service.name}-worker.log",
                    env=environment | {f"{service.environment_prefix}HEARTBEAT_FILE": str(heartbeat)},
                    heartbeat_file=heartbeat,
                    ready_line="worker.ready",
                    stop_timeout_seconds=15,
                )
            )
    return servers + workers

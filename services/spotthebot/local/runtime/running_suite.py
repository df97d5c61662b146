"""Runs all services and workers as processes of this machine, from bound sockets to a clean stop."""

import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from spotthebot.contracts.services import SERVICES, ServiceEntry
from spotthebot.kit.processes.log_file import LogFile
from spotthebot.kit.processes.spec import Event, OnLine, ProcessSpec
from spotthebot.kit.processes.supervisor import Supervisor
from spotthebot.kit.waits.cancellation import in_background
from spotthebot.local.postgres.health import kept_alive
from spotthebot.local.runtime.bootstrap import DATABASE_URL_VARIABLE, Bootstrap
from spotthebot.local.runtime.data_folder import DataFolder, RunningService, RunningWorker, State
from spotthebot.local.runtime.kept_settings import given_settings
from spotthebot.local.runtime.local_settings import LocalSettings
from spotthebot.local.runtime.ports import Addresses
from spotthebot.local.runtime.reload import restart_on_change, watched_folders

NEEDS = (
    "httptools",
    "uvloop",
    "spotthebot.clients.conversations.client",
    "spotthebot.kit.events",
    "spotthebot.kit.exports",
    "spotthebot.kit.jobs.queue",
    "spotthebot.kit.outbound.http",
    "spotthebot.kit.service.process",
    "spotthebot.kit.serving.configuration",
    "spotthebot.kit.web.api",
    "spotthebot.kit.web.bearer.part",
)
"""Modules that most services need, as a test checks. The program that forks services imports them."""
_REMARKABLE = {"hung", "died"}


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
    fork_needs = (__name__,) if on_change is None else ()
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


def log_event(folder: Path, event: Event) -> None:
    """Append an event to `supervisor.log` in a folder of logs; it is lost if the disk is full."""
    facts = {name: value for name, value in asdict(event).items() if name not in {"name", "kind"} and value is not None}
    entry = {
        "timestamp": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "level": "warning" if event.kind in _REMARKABLE else "info",
        "event": f"process.{event.kind}",
        "process": event.name,
        **facts,
    }
    with suppress(OSError), closing(LogFile(folder / "supervisor.log")) as log:
        log.write(json.dumps(entry).encode())


def service_environment(
    service: ServiceEntry, prepared: Bootstrap, urls: Mapping[str, str], local: LocalSettings
) -> dict[str, str]:
    """Return the settings of a service, those that the suite sets and those given; the values include secrets."""
    prefix = service.environment_prefix
    return {
        **given_settings(service),
        **{f"{prefix}{other.upper()}_URL": urls[other] for other in service.calls},
        **_access(service, prefix, prepared),
        **{name: value for name, value in local.environment.items() if name.startswith(prefix)},
    }


def _access(service: ServiceEntry, prefix: str, prepared: Bootstrap) -> dict[str, str]:
    """Return the variables with a service's database URL and keys; a service without data gets a frontend's key."""
    if service.schema is None:
        return {f"{prefix}ANNOTATION_KEY": prepared.keys["annotation"]}
    return {
        f"{prefix}DATABASE_URL": prepared.urls.app_urls[service.schema],
        f"{prefix}SERVICE_KEY": prepared.keys["service"],
    }


def inherited_environment() -> dict[str, str]:
    """Return the environment of this process, without the URL of the database's superuser."""
    return {name: value for name, value in os.environ.items() if name != DATABASE_URL_VARIABLE}

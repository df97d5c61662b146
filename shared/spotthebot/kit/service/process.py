"""Runs a service from the command line: `python -m spotthebot.<service> serve | work | migrate | openapi`.

A command imports only the part of the service that it needs: a worker imports no web framework, and only `migrate`
imports Alembic. Exit code 78 means that a person has to correct a setting; exit code 1 means any other failure.

Services run on uvloop, which needs 6 to 13 % less processor time for a reply.
"""

import argparse
import asyncio
import contextlib
import gc
import json
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from pydantic import SecretStr, ValidationError
from pydantic_settings import SettingsError
from sqlalchemy.exc import OperationalError

from spotthebot.kit.access.tables import LINEAGE as ACCESS
from spotthebot.kit.migrations.lineage import Lineage, MigrationFailed, NewerDatabase, upgrade
from spotthebot.kit.service.startup import CONFIGURATION_FAULT, check_settings, require_database_url
from spotthebot.kit.settings import EdgeSettings, SecretsDirMissing, ServiceSettings, SettingNotUsable
from spotthebot.kit.telemetry.logs import configure_logs
from spotthebot.kit.text.validation import faults_of

if TYPE_CHECKING:
    from fastapi import FastAPI

_GARBAGE_THRESHOLDS = (20_000, 20, 20)
_MAX_FILES = 65_536
_STREAMS_END_SECONDS = 8
"""Streams of events end after this time, so that a server can stop; readers reconnect. Supervisors wait 10 s."""
_HEARTBEAT_SECONDS = 1.0
Settings = TypeVar("Settings", bound=EdgeSettings)
WorkerSettings = TypeVar("WorkerSettings", bound=ServiceSettings)


@dataclass(frozen=True)
class Service(Generic[Settings]):
    """A service: its name, settings, application and schema. The schema is None for a service that stores nothing."""

    name: str
    settings: type[Settings]
    create_app: Callable[[Settings], "FastAPI"]
    lineage: Lineage | None


@dataclass(frozen=True)
class Worker(Generic[WorkerSettings]):
    """The worker of a service, which runs without its application."""

    settings: type[WorkerSettings]
    work: Callable[[WorkerSettings], Awaitable[None]]


def run(name: str) -> None:
    """Run the command line of the service with this name, which its modules `app` and `worker` define."""
    package = f"spotthebot.{name}"
    commands = ["serve", "openapi", "migrate", *(["work"] if find_spec(f"{package}.worker") else [])]
    parser = argparse.ArgumentParser(prog=f"python -m {package}")
    parser.add_argument("command", choices=commands)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on")
    parser.add_argument("--fd", type=int, help="listen on this inherited socket instead")
    arguments = parser.parse_args()
    if arguments.command == "work":
        worker: Worker[Any] = _import(f"{package}.worker").WORKER
        settings = _read_settings(name, worker.settings)
        _check(name, settings, _import(f"{package}.tables").LINEAGE)
        _run_on_uvloop(_until_stopped(worker.work(settings), settings.heartbeat_file))
        return
    service: Service[Any] = _import(f"{package}.app").SERVICE
    if arguments.command == "openapi":
        print(openapi_text(service))  # noqa: T201 - the document is the output
        return
    settings = _read_settings(name, service.settings)
    if arguments.command == "migrate":
        if service.lineage is not None:
            _migrate(name, service.lineage, settings)
    else:
        _check(name, settings, service.lineage)
        _serve(service.create_app(settings), arguments.host, arguments.port, arguments.fd)


def _import(module: str) -> Any:  # noqa: ANN401 - a module
    """Import a module while garbage collection is off, since collection would take a fifth of the time.

    Later collections leave out the imported objects, and are less frequent.
    """
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.set_threshold(*_GARBAGE_THRESHOLDS)
        gc.enable()


def _read_settings(name: str, kind: type[Settings]) -> Settings:
    """Read the settings and configure the logs. Ends the process if a setting is missing or wrong."""
    try:
        settings = kind()
    except (SecretsDirMissing, OSError) as error:
        _stop(name, f"its settings can't be read: {error}")
    except ValidationError as error:
        faults = "; ".join(_fault_of_setting(kind, fault) for fault in faults_of(error, separator="."))
        _stop(name, f"{faults}. See 'Settings' in the documentation.")
    except SettingsError as error:
        _stop(name, f"{_fault_of_source(kind, error)}. See 'Settings' in the documentation.")
    start_tracing(name)
    configure_logs(name, settings.log_level, request_lines_per_second=settings.request_log_lines_per_second)
    return settings


def start_tracing(service: str) -> None:
    """Record spans if OpenTelemetry's environment variables name an exporter.

    Ends the process if libraries are missing.
    """
    environment = os.environ
    endpoint = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or environment.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    if not endpoint or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return
    share = _share_of_traces(environment.get("OTEL_TRACES_SAMPLER_ARG") or "1")
    if share is None:
        _stop(service, "OTEL_TRACES_SAMPLER_ARG is the share of traces that are recorded: a number from 0 to 1.")
    try:
        spans = import_module("spotthebot.kit.service.spans")
    except ModuleNotFoundError as missing:
        _stop(
            service,
            f"OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, which need '{missing.name}':"
            " install spotthebot[tracing], or take the variable away.",
        )
    spans.record(service, share)


def _share_of_traces(text: str) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


def _fault_of_source(kind: type[EdgeSettings], error: SettingsError) -> str:
    """Return what is wrong with an environment variable or a file whose value can't be read or parsed."""
    (field,) = re.findall(r'field "(\w+)"', str(error))
    if isinstance(error.__cause__, json.JSONDecodeError):
        return f'{kind.variable(field)} must be JSON, such as ["one", "two"]'
    return f"{kind.variable(field)} can't be read: {error.__cause__}"


def _fault_of_setting(kind: type[EdgeSettings], fault: str) -> str:
    field, _, reason = fault.partition(": ")
    return f"{kind.variable(field)} {reason}"


def _check(name: str, settings: EdgeSettings, lineage: Lineage | None) -> None:
    try:
        check_settings(settings, lineage)
    except (SettingNotUsable, NewerDatabase) as error:
        _stop(name, str(error))


def _migrate(name: str, lineage: Lineage, settings: ServiceSettings) -> None:
    try:
        require_database_url(settings)
        upgrade(lineage, settings.database_url.get_secret_value())
    except (SettingNotUsable, NewerDatabase) as error:
        _stop(name, str(error))
    except MigrationFailed as error:
        sys.exit(f"{name}: {error}")
    except OperationalError as error:
        reason = " ".join(str(error.orig).split())
        sys.exit(f"{name}: {settings.variable('database_url')}: {reason}")


def _stop(name: str, reason: str) -> NoReturn:
    """End the process with exit code 78: a person has to correct the configuration."""
    print(f"{name}: {reason}", file=sys.stderr)  # noqa: T201 - the last word, for people
    sys.exit(CONFIGURATION_FAULT)


def migrate_access(owner_url: str) -> None:
    """Migrate the schema of API keys to its head. The schema belongs to no single service."""
    upgrade(ACCESS, owner_url)


def openapi_text(service: Service[Settings]) -> str:
    """Return the service's OpenAPI document. The file of the document in `openapi/` has the same text."""
    settings = service.settings(database_url=SecretStr("postgresql://nobody@localhost/none"))
    document = service.create_app(settings).openapi()
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True)


def allow_many_files() -> None:
    """Raise this process's limit of open files: it is often 1,024 although 500,000 are allowed.

    A connection needs a file. A service at its limit could open no connection, and would report its peers as
    unreachable.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _serve(app: "FastAPI", host: str, port: int, fd: int | None) -> None:
    import uvicorn  # noqa: PLC0415 - a worker serves nothing

    from spotthebot.kit.serving.configuration import server_config  # noqa: PLC0415

    config = server_config(app, host=host, port=port, timeout_graceful_shutdown=_STREAMS_END_SECONDS)
    server = uvicorn.Server(config)
    allow_many_files()
    sockets = None if fd is None else [socket.socket(fileno=fd)]
    _run_on_uvloop(server.serve(sockets=sockets))


def _run_on_uvloop(work: Coroutine[Any, Any, None]) -> None:
    import uvloop  # noqa: PLC0415 - `migrate` and `openapi` run nothing

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


async def _until_stopped(work: Awaitable[None], heartbeat_file: Path | None) -> None:
    task = asyncio.ensure_future(work)
    beating = asyncio.create_task(_beat(heartbeat_file)) if heartbeat_file else None
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
    if beating:
        beating.cancel()


async def _beat(file: Path) -> None:
    """Touch the heartbeat file as long as the event loop runs. A supervisor can't ask a worker by HTTP."""
    while True:
        _touch(file)
        await asyncio.sleep(_HEARTBEAT_SECONDS)


def _touch(file: Path) -> None:
    with contextlib.suppress(OSError):  # an error would end the heartbeat, and the worker would look hung
        file.touch()

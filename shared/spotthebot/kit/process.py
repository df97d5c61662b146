"""Runs a service from the command line: `python -m spotthebot.<service> serve | work | migrate | openapi`."""

import argparse
import asyncio
import contextlib
import gc
import json
import resource
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import uvicorn
import uvloop
from fastapi import FastAPI
from pydantic import SecretStr, ValidationError

from spotthebot.kit.access.tables import LINEAGE as ACCESS
from spotthebot.kit.logs import configure_logs
from spotthebot.kit.migrations import Lineage, upgrade
from spotthebot.kit.serving.configuration import server_config
from spotthebot.kit.settings import ServiceSettings

_GARBAGE_THRESHOLDS = (20_000, 20, 20)
_MAX_FILES = 65_536
_STREAMS_END_SECONDS = 8
"""A stream of events would keep a server from stopping; its reader comes back. Supervisors wait 10 s."""
_HEARTBEAT_SECONDS = 1.0
Settings = TypeVar("Settings", bound=ServiceSettings)


@dataclass(frozen=True)
class Service(Generic[Settings]):
    """A service: its name, settings, application, schema and worker."""

    name: str
    settings: type[Settings]
    create_app: Callable[[Settings], FastAPI]
    lineage: Lineage | None = None
    work: Callable[[Settings], Awaitable[None]] | None = None


def run(service: Service[Settings]) -> None:
    """Do what the command line asks of this service."""
    commands = [
        "serve",
        "openapi",
        *(["migrate"] if service.lineage else []),
        *(["work"] if service.work else []),
    ]
    parser = argparse.ArgumentParser(prog=f"python -m spotthebot.{service.name}")
    parser.add_argument("command", choices=commands)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on")
    parser.add_argument("--fd", type=int, help="listen on this inherited socket instead")
    arguments = parser.parse_args()
    if arguments.command == "openapi":
        print(openapi_text(service))  # noqa: T201 - the document is the output
        return
    try:
        settings = service.settings()
    except ValidationError as error:
        missing = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        sys.exit(f"The settings of {service.name} are incomplete: {missing}")
    lines_per_second = settings.request_log_lines_per_second
    configure_logs(service.name, settings.log_level, request_lines_per_second=lines_per_second)
    match arguments.command:
        case "migrate":
            if service.lineage is not None:
                upgrade(service.lineage, settings.database_url.get_secret_value())
        case "work":
            if service.work is not None:
                asyncio.run(_until_stopped(service.work(settings), settings.heartbeat_file))
        case _:
            _serve(service.create_app(settings), arguments.host, arguments.port, arguments.fd)


def migrate_access(owner_url: str) -> None:
    """Bring the schema of API keys, which belongs to no single service, to its head."""
    upgrade(ACCESS, owner_url)


def openapi_text(service: Service[Settings]) -> str:
    """Return the service's OpenAPI document as it is committed in `openapi/`."""
    settings = service.settings(database_url=SecretStr("postgresql://nobody@localhost/none"))
    document = service.create_app(settings).openapi()
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True)


def allow_many_files() -> None:
    """Let this process open as many files and connections as it may: usual is 1,024 where 500,000 are allowed.

    A service without free files can open no connection and would report its peers as unreachable.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _serve(app: FastAPI, host: str, port: int, fd: int | None) -> None:
    config = server_config(app, host=host, port=port, timeout_graceful_shutdown=_STREAMS_END_SECONDS)
    server = uvicorn.Server(config)
    allow_many_files()
    _collect_garbage_less_often()
    sockets = None if fd is None else [socket.socket(fileno=fd)]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(server.serve(sockets=sockets))


def _collect_garbage_less_often() -> None:
    """Leave what is there already out of collections, which would walk through all of it, and collect more at once."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)


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
    """Show that the event loop turns: a supervisor can't ask a worker, which serves nothing."""
    while True:
        _touch(file)
        await asyncio.sleep(_HEARTBEAT_SECONDS)


def _touch(file: Path) -> None:
    with contextlib.suppress(OSError):  # without it the worker looks hung, which a full disk does not make it
        file.touch()

"""`stb up`, `status`, `down`: run the suite on this machine."""

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Annotated

import httpx
import typer
from rich.table import Table

from spotthebot.contracts.services import DEFAULT_PORT_BASE
from spotthebot.suite.cli.log_lines import readable
from spotthebot.suite.cli.options import DEFAULT_DATA_DIR, AsJson, DataDir, folder_at, write_json
from spotthebot.suite.data_folder import DataFolder, State
from spotthebot.suite.errors import NothingRuns, TookTooLong
from spotthebot.suite.foundation import Foundation, describe_database, lay_foundation
from spotthebot.suite.hosting import Hosting, hosting
from spotthebot.suite.progress import screen
from spotthebot.suite.stack import bound_sockets, running_stack
from spotthebot.suite.supervision.spec import Event

_STOP_SECONDS = 60


def up(
    data_dir: DataDir = DEFAULT_DATA_DIR,
    port_base: Annotated[
        int, typer.Option(min=1, max=65000, help="Services listen on the ports that follow this number.")
    ] = DEFAULT_PORT_BASE,
    triton: Annotated[
        bool, typer.Option("--triton", help="Host models on a Triton server of the suite's own (Linux on x86-64).")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Keep the services' log lines off the screen.")] = False,
) -> None:
    """Run all services until Ctrl-C."""
    folder = folder_at(data_dir)
    signal.signal(signal.SIGTERM, _interrupt)
    folder.create()
    if triton:
        screen.print("Looking for Triton (made once, in an environment of its own) ...")
    with folder.lock(), bound_sockets(port_base) as sockets, hosting(folder, triton=triton) as hosted:
        screen.print(f"Preparing the database ({describe_database()}) ...")
        with lay_foundation(folder) as foundation, contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(_run(folder, foundation, sockets, hosted, quiet=quiet))
        screen.print("All services have stopped.")


def status(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> None:
    """Say what runs on the data folder; exit code 1 where nothing does or something is unwell."""
    state = folder_at(data_dir).read_state()
    services = [
        {"name": each.name, "url": each.url, "pid": each.pid, "healthy": _is_healthy(each.url)}
        for each in (state.services if state else ())
    ]
    workers = [{"name": each.name, "pid": each.pid} for each in (state.workers if state else ())]
    if as_json:
        write_json(Path("-"), {"services": services, "workers": workers})
    elif state is None:
        raise NothingRuns(folder=data_dir)
    else:
        table = Table("Process", "URL", "Pid", "Healthy")
        for each in services:
            table.add_row(str(each["name"]), str(each["url"]), str(each["pid"]), "yes" if each["healthy"] else "no")
        for worker in workers:
            table.add_row(str(worker["name"]), "", str(worker["pid"]), "yes" if worker["pid"] else "no")
        screen.print(table)
    if not services or not all(each["healthy"] for each in services) or not all(each["pid"] for each in workers):
        raise typer.Exit(1)


def down(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Stop the suite that runs on the data folder."""
    folder = folder_at(data_dir)
    holder = folder.holder()
    if holder is None:
        raise NothingRuns(folder=data_dir)
    os.kill(holder, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while folder.holder() == holder:
        if time.monotonic() > deadline:
            raise TookTooLong(what="Stopping the suite", seconds=_STOP_SECONDS, logs=folder.logs)
        time.sleep(0.1)
    screen.print("Stopped.")


async def _run(
    folder: DataFolder,
    foundation: Foundation,
    sockets: Mapping[str, socket.socket],
    hosted: Hosting,
    *,
    quiet: bool,
) -> None:
    def show_line(name: str, line: str) -> None:
        if not quiet:
            screen.print(f"{name:>20} | {readable(line)}", markup=False, highlight=False, soft_wrap=True)

    def show_event(event: Event) -> None:
        if event.kind == "died":
            wait = f"{event.delay_seconds:.1f} s"
            screen.print(f"{event.name} died (exit code {event.exit_code}): it is started again in {wait}.")

    if task := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    screen.print("Starting the services ...")
    async with running_stack(folder, foundation, sockets, hosted, on_line=show_line, on_event=show_event) as state:
        _print_addresses(folder, state)
        if hosted.allows_loopback:
            screen.print("Bots on this machine may be registered (SPOTTHEBOT_BOTS_ALLOWED_NETWORKS changes that).")
        await asyncio.Event().wait()


def _print_addresses(folder: DataFolder, state: State) -> None:
    table = Table("Service", "Address", "Documentation", title="The suite is up (Ctrl-C stops it)")
    for service in state.services:
        table.add_row(service.name, service.url, f"{service.url}/docs")
    screen.print(table)
    screen.print(f"Logs: {folder.logs}. API keys: ./stb keys create --role admin")


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5, trust_env=False).is_success
    except httpx.HTTPError:
        return False

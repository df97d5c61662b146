"""`stb up`: run the suite on this machine."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Mapping
from types import FrameType
from typing import Annotated

import typer
from rich.table import Table

from spotthebot.contracts.services import DEFAULT_PORT_BASE
from spotthebot.suite.cli.log_lines import readable
from spotthebot.suite.cli.options import DEFAULT_DATA_DIR, DataDir, folder_at
from spotthebot.suite.progress import screen
from spotthebot.suite.runtime.bootstrap import Bootstrap, bootstrap, describe_database
from spotthebot.suite.runtime.data_folder import DataFolder, State
from spotthebot.suite.runtime.local_settings import LocalSettings, local_settings
from spotthebot.suite.runtime.running_suite import bound_sockets, running_suite
from spotthebot.suite.supervision.spec import Event


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
    with folder.lock(), bound_sockets(port_base) as sockets, local_settings(folder, triton=triton) as local:
        screen.print(f"Preparing the database ({describe_database()}) ...")
        with bootstrap(folder) as prepared, contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(_run(folder, prepared, sockets, local, quiet=quiet))
        screen.print("All services have stopped.")


async def _run(
    folder: DataFolder,
    prepared: Bootstrap,
    sockets: Mapping[str, socket.socket],
    local: LocalSettings,
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
    async with running_suite(folder, prepared, sockets, local, on_line=show_line, on_event=show_event) as state:
        _print_addresses(folder, state)
        if local.allows_loopback:
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

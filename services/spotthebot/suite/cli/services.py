"""`stb up`: run the suite on this machine."""

import asyncio
import contextlib
import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.table import Table

from spotthebot.contracts.services import DEFAULT_PORT_BASE, SERVICE_NAMES
from spotthebot.suite.cli.local_commands import on_this_machine
from spotthebot.suite.cli.log_lines import readable
from spotthebot.suite.cli.options import DEFAULT_DATA_DIR, DataDir, folder_at
from spotthebot.suite.progress import screen
from spotthebot.suite.runtime.bootstrap import Bootstrap, bootstrap, describe_database
from spotthebot.suite.runtime.data_folder import DataFolder, State
from spotthebot.suite.runtime.local_settings import LocalSettings, local_settings
from spotthebot.suite.runtime.running_suite import Addresses, bound_addresses, running_suite
from spotthebot.suite.supervision.spec import Event


@on_this_machine
def up(
    data_dir: DataDir = DEFAULT_DATA_DIR,
    port_base: Annotated[
        int, typer.Option(min=1, max=65000, help="Services listen on the ports that follow this number.")
    ] = DEFAULT_PORT_BASE,
    triton: Annotated[
        bool, typer.Option("--triton", help="Host models on a Triton server of the suite's own (Linux on x86-64).")
    ] = False,
    allow_local_bots: Annotated[
        bool,
        typer.Option(
            "--allow-local-bots",
            help="Teams may register bots and subscribers on this machine too, and read what its servers answer them.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Keep the services' log lines off the screen.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Run these services only: --only bots --only annotation.")
    ] = None,
    reload: Annotated[
        bool, typer.Option("--reload", help="Restart a service when its Python files change; for development.")
    ] = False,
) -> None:
    """Run all services until Ctrl-C."""
    names = _named_services(only or [])
    folder = folder_at(data_dir)
    signal.signal(signal.SIGTERM, _interrupt)
    folder.create()
    if triton:
        screen.print("Looking for Triton (made once, in an environment of its own) ...")
    with (
        folder.lock(),
        bound_addresses(port_base, names) as addresses,
        local_settings(folder, triton=triton, allow_local_bots=allow_local_bots) as local,
    ):
        screen.print(f"Preparing the database ({describe_database()}) ...")
        with bootstrap(folder) as prepared, contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(_run(folder, prepared, addresses, local, quiet=quiet, reload=reload))
        screen.print("All services have stopped.")


async def _run(
    folder: DataFolder,
    prepared: Bootstrap,
    addresses: Addresses,
    local: LocalSettings,
    *,
    quiet: bool,
    reload: bool,
) -> None:
    def show_line(name: str, line: str) -> None:
        if not quiet:
            screen.print(f"{name:>20} | {readable(line)}", markup=False, highlight=False, soft_wrap=True)

    def show_event(event: Event) -> None:
        if event.kind == "hung":
            screen.print(f"{event.name} does not answer: it is killed and started again.")
        if event.kind == "died":
            wait = f"{event.delay_seconds:.1f} s"
            screen.print(f"{event.name} died (exit code {event.exit_code}): it is started again in {wait}.")

    def show_change(name: str, file: Path) -> None:
        screen.print(f"{file.name} changed: {name} restarts.", markup=False, highlight=False)

    if task := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    screen.print("Starting the services ...")
    async with running_suite(
        folder,
        prepared,
        addresses,
        local,
        on_line=show_line,
        on_event=show_event,
        on_change=show_change if reload else None,
    ) as state:
        _print_addresses(folder, state)
        if local.local_bots is not None:
            screen.print(f"Bots on this machine may be registered with {local.local_bots}.")
        await asyncio.Event().wait()


def _named_services(only: Sequence[str]) -> list[str]:
    """Return the names that `--only` gives, which may also be separated by commas."""
    names = [name for given in only for name in given.split(",") if name]
    if unknown := [name for name in names if name not in SERVICE_NAMES]:
        message = f"there is no service {', '.join(unknown)}: choose among {', '.join(SERVICE_NAMES)}"
        raise typer.BadParameter(message, param_hint="--only")
    return names


def _print_addresses(folder: DataFolder, state: State) -> None:
    table = Table("Service", "Address", "Documentation", title="The suite is up (Ctrl-C stops it)")
    for service in state.services:
        table.add_row(service.name, service.url, f"{service.url}/docs")
    screen.print(table)
    screen.print(f"Logs: {folder.logs}. API keys: ./stb keys create --role admin")


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt

"""`stb up`: runs the suite on this machine."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from spotthebot.cli.commands.detached import start_detached
from spotthebot.cli.commands.local_commands import on_this_machine
from spotthebot.cli.commands.log_lines import readable
from spotthebot.cli.commands.options import DataDir, folder_at
from spotthebot.cli.commands.up_display import SuiteDisplay
from spotthebot.contracts.services import DEFAULT_PORT_BASE, SERVICE_NAMES, SERVICES
from spotthebot.local.errors import AlreadyRunning
from spotthebot.local.postgres.health import SERVER
from spotthebot.local.progress import say, screen
from spotthebot.local.runtime.bootstrap import Bootstrap, bootstrap, describe_database
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR, DataFolder
from spotthebot.local.runtime.kept_settings import unknown_settings
from spotthebot.local.runtime.local_settings import LocalSettings, local_settings
from spotthebot.local.runtime.ports import HOST, Addresses, bound_addresses
from spotthebot.local.runtime.running_suite import running_suite


@on_this_machine
def up(
    data_dir: DataDir = DEFAULT_DATA_DIR,
    port_base: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65000,
            help="Services listen on the ports that follow this number.",
            show_default=f"the last one here, {DEFAULT_PORT_BASE} at first",
        ),
    ] = None,
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
    logs: Annotated[bool, typer.Option("--logs", help="Print the services' log lines as well.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Run these services only: --only bots --only annotation.")
    ] = None,
    reload: Annotated[
        bool, typer.Option("--reload", help="Restart a service when its Python files change; for development.")
    ] = False,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Return when the services run; `./stb down` stops them.")
    ] = False,
) -> None:
    """Run all services until Ctrl-C; their logs go to files, which `stb logs` shows."""
    names = _named_services(only or [])
    folder = folder_at(data_dir)
    for warning in unknown_settings(os.environ, folder.path):
        say(f"Warning: {warning}")
    if detach:
        if (holder := folder.holder()) is not None:
            raise AlreadyRunning(folder=folder.path, pid=holder, option=folder.option)
        chosen = {"--triton": triton, "--allow-local-bots": allow_local_bots, "--logs": logs, "--reload": reload}
        flags = [name for name, is_on in chosen.items() if is_on] + [f"--only={name}" for name in names]
        state = start_detached(folder, port_base, *flags)
        for line in _notes_of_pages(folder, {each.name: each.url for each in state.services}):
            say(line)
        option = folder.option
        say(f"The services are running: ./stb status{option}, ./stb logs --follow{option}, ./stb down{option}")
        return
    signal.signal(signal.SIGTERM, _interrupt)
    folder.create()
    if triton:
        screen.print("Looking for Triton (made once, in an environment of its own) ...")
    with (
        folder.lock(),
        bound_addresses(port_base or folder.port_base, names) as addresses,
        local_settings(folder, triton=triton, allow_local_bots=allow_local_bots) as local,
    ):
        folder.keep_port_base(port_base or folder.port_base)
        screen.print(f"Preparing the database ({describe_database()}) ...")
        with bootstrap(folder) as prepared, contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(_run(folder, prepared, addresses, local, logs=logs, reload=reload))
        screen.print("All services have stopped.")


async def _run(
    folder: DataFolder,
    prepared: Bootstrap,
    addresses: Addresses,
    local: LocalSettings,
    *,
    logs: bool,
    reload: bool,
) -> None:
    display = SuiteDisplay(screen, *_processes(prepared, addresses))

    def show_line(name: str, line: str) -> None:
        if logs:
            say(f"{name:>20} | {readable(line)}")

    def show_change(name: str, file: Path) -> None:
        display.say(f"{file.name} changed: {name} restarts.")

    if task := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with display.shown():
        async with running_suite(
            folder,
            prepared,
            addresses,
            local,
            on_line=show_line,
            on_event=display.take,
            on_change=show_change if reload else None,
        ):
            display.is_up(_notes(folder, local, addresses))
            try:
                await asyncio.Event().wait()
            finally:
                display.ends()


def _named_services(only: Sequence[str]) -> list[str]:
    """Return the services named by `--only`. One option may name several, separated by commas."""
    names = [name for given in only for name in given.split(",") if name]
    if unknown := [name for name in names if name not in SERVICE_NAMES]:
        message = f"there is no service {', '.join(unknown)}: choose among {', '.join(SERVICE_NAMES)}"
        raise typer.BadParameter(message, param_hint="--only")
    return names


def _processes(prepared: Bootstrap, addresses: Addresses) -> tuple[list[str], dict[str, str]]:
    """Return the names of the processes in the order of their start, and the addresses of processes that have one."""
    services = [service for service in SERVICES if service.name in addresses.sockets]
    names = [service.name for service in services] + [f"{each.name}-worker" for each in services if each.has_worker]
    urls = {service.name: addresses.urls[service.name] for service in services}
    if prepared.cluster is None:
        return names, urls
    return [SERVER, *names], urls | {SERVER: f"{HOST}:{prepared.cluster.port}"}


def _notes(folder: DataFolder, local: LocalSettings, addresses: Addresses) -> list[str]:
    notes = [
        *_notes_of_pages(folder, {name: addresses.urls[name] for name in addresses.sockets}),
        f"Logs: ./stb logs --follow{folder.option}, from {folder.logs}",
    ]
    if local.local_bots is not None:
        notes.append(f"Bots on this machine may be registered with {local.local_bots}.")
    return notes


def _notes_of_pages(folder: DataFolder, urls: Mapping[str, str]) -> list[str]:
    """Return where the pages are, if `web` is among the running services, and how to sign in."""
    key = f"./stb keys create --role admin{folder.option}"
    return [f"Pages: {urls['web']}, with an API key: {key}"] if "web" in urls else []


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt

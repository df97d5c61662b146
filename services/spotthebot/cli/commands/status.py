"""`stb status` and `stb down`: show and stop the running suite. Imports no service and no HTTP library."""

import os
import signal
import socket
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import typer

from spotthebot.cli.commands.local_commands import on_this_machine
from spotthebot.cli.commands.options import AsJson, DataDir, folder_at, suite_at, write_json
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.errors import NothingRuns
from spotthebot.local.errors import TookTooLong
from spotthebot.local.postgres.home import SSL_REQUEST
from spotthebot.local.progress import screen
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR, State

_STOP_SECONDS = 60
_ANSWER_SECONDS = 5
_OK = 200
_POSTGRES_PORT = 5432


@on_this_machine
def status(data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> None:
    """Show what runs on the data folder; exit code 1 if nothing runs or a process is not healthy."""
    folder = folder_at(data_dir) if as_json else suite_at(data_dir)
    state = folder.read_state()
    services = [
        {"name": each.name, "url": each.url, "pid": each.pid, "healthy": _is_healthy(each.url)}
        for each in (state.services if state else ())
    ]
    workers = [{"name": each.name, "pid": each.pid} for each in (state.workers if state else ())]
    postgres = _postgres(state) if state else {"address": None, "healthy": False}
    if as_json:
        write_json(Path("-"), {"services": services, "workers": workers, "postgres": postgres})
    elif state is None:
        raise NothingRuns(folder=folder.path, option=folder.option)
    else:
        rows = [(each["name"], each["url"], each["pid"], "yes" if each["healthy"] else "no") for each in services]
        rows += [(each["name"], "", each["pid"], "yes" if each["pid"] else "no") for each in workers]
        rows.append(("postgres", postgres["address"], "", "yes" if postgres["healthy"] else "no"))
        print_list(("Process", "Address", "Pid", "Healthy"), rows, empty="")
    answer = all(each["healthy"] for each in (*services, postgres))
    if not services or not answer or not all(each["pid"] for each in workers):
        raise typer.Exit(1)


@on_this_machine
def down(data_dir: DataDir = DEFAULT_DATA_DIR) -> None:
    """Stop the suite that runs on the data folder."""
    folder = suite_at(data_dir)
    holder = folder.holder()
    if holder is None:
        raise NothingRuns(folder=folder.path, option=folder.option)
    os.kill(holder, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while folder.holder() == holder:
        if time.monotonic() > deadline:
            raise TookTooLong(what="Stopping the suite", seconds=_STOP_SECONDS, logs=folder.logs)
        time.sleep(0.1)
    screen.print("Stopped.")


def _postgres(state: State) -> dict[str, str | bool]:
    """Return the address of a suite's PostgreSQL, and whether it answers."""
    parsed = urlsplit(next(iter(state.database_owner_urls.values())))
    host, port = parsed.hostname or "localhost", parsed.port or _POSTGRES_PORT
    found = {"address": f"{host}:{port}"}
    try:
        with socket.create_connection((host, port), timeout=_ANSWER_SECONDS) as connection:
            connection.sendall(SSL_REQUEST)
            return {**found, "healthy": connection.recv(1) != b""}
    except OSError:
        return {**found, "healthy": False}


def _is_healthy(url: str) -> bool:
    """Return whether a service on this machine is healthy. Ignores proxies of the environment, which can't reach it."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == _OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()

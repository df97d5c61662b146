"""The ports of the services.

Imports only the standard library and our own modules: `./stb` checks the ports before it installs packages.
"""

import contextlib
import socket
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spotthebot.contracts.services import DEFAULT_PORT_BASE, SERVICES
from spotthebot.kit.processes.errors import PortTaken
from spotthebot.kit.processes.sockets import bind

HOST = "127.0.0.1"
LOCK = "suite.lock"
"""The file of a data folder that a running suite locks and keeps open."""
_LISTENS = "0A"
"""The state of a socket that listens, in `/proc/net/tcp` (proc(5), include/net/tcp_states.h)."""


@dataclass(frozen=True)
class Addresses:
    """The sockets of the services to run here, and the URLs of all services, local or not."""

    sockets: Mapping[str, socket.socket]
    urls: Mapping[str, str]


@contextmanager
def bound_addresses(port_base: int | None, only: Collection[str] = ()) -> Iterator[Addresses]:
    """Bind a socket for each service, or only for services in `only`. Without `port_base`, take free ports.

    Raises PortTaken and CannotListen.
    """
    with contextlib.ExitStack() as stack:
        sockets = {}
        ports = {}
        for service in SERVICES:
            ports[service.name] = service.port_after(DEFAULT_PORT_BASE if port_base is None else port_base)
            if not only or service.name in only:
                port = 0 if port_base is None else ports[service.name]
                sockets[service.name] = stack.enter_context(contextlib.closing(_bound(port)))
                ports[service.name] = sockets[service.name].getsockname()[1]
        yield Addresses(sockets, {name: f"http://{HOST}:{port}" for name, port in ports.items()})


def _bound(port: int) -> socket.socket:
    try:
        return bind(HOST, port)
    except PortTaken as taken:
        raise PortTaken(port=port, holder=_holder_of(port)) from taken


def _holder_of(port: int) -> str:
    """Return a phrase for the suite or the process that listens on a port; empty where the system does not say it."""
    holder, sockets = "", _sockets_on(port)
    for process in Path("/proc").glob("[0-9]*"):
        files = list(_open_files(process))
        if sockets.intersection(files):
            holder = f" by process {process.name}"
            for file in files:
                if file.name == LOCK:
                    return f" by the suite of {file.parent}"
    return holder


def _sockets_on(port: int) -> set[Path]:
    tables = Path("/proc/net").glob("tcp*")
    lines = [line.split() for table in tables for line in table.read_text().strip().split("\n")]
    return {Path(f"socket:[{each[9]}]") for each in lines if each[3] == _LISTENS and each[1].endswith(f":{port:04X}")}


def _open_files(process: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):  # another user's process
        for each in (process / "fd").iterdir():
            with contextlib.suppress(OSError):  # it was closed meanwhile
                yield each.readlink()

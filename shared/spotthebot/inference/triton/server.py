"""A Triton server on this machine: its command line, its addresses, and the shared memory that it may leave behind."""

import hashlib
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from spotthebot.inference.triton.installation import Installation, copy_backend

HOST = "127.0.0.1"
EXIT_SECONDS = 5
"""The time that models get to end when the server is stopped."""

# These variables would make the models' Python import another Python's modules.
_MISLEADING = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
# Torch's threads wait for each other by spinning. On two shared cores, a batch of 32 took 6 s instead of
# 0.14 s. Alone on the machine, the shorter spin costs little: 0.07 s instead of 0.05 s.
_POLITE = {"GOMP_SPINCOUNT": "1000"}
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - Triton's backend keeps it there; only names with our prefix are touched


@dataclass(frozen=True)
class TritonPorts:
    """The ports that one server listens on. All are on the loopback address."""

    http: int
    grpc: int
    metrics: int


@dataclass(frozen=True)
class TritonAddresses:
    """The addresses of a running server: two URLs, `host:port` for gRPC, and the folder of the server's models."""

    http: str
    grpc: str
    metrics: str
    repository: Path


@dataclass(frozen=True)
class TritonCommand:
    """How to run a server: its arguments, its whole environment, and the URL that answers 200 once it is ready."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    ready_url: str


def repository_of(folder: Path) -> Path:
    """Return the model repository below a data folder."""
    return folder / "triton" / "models"


def addresses_of(folder: Path, ports: TritonPorts) -> TritonAddresses:
    """Return the addresses of the server that belongs to this data folder."""
    return TritonAddresses(
        http=f"http://{HOST}:{ports.http}",
        grpc=f"{HOST}:{ports.grpc}",
        metrics=f"http://{HOST}:{ports.metrics}/metrics",
        repository=repository_of(folder),
    )


def triton_command(installation: Installation, folder: Path, ports: TritonPorts) -> TritonCommand:
    """Prepare the folders of a server below a data folder, and return its command.

    The server loads and unloads models on request only, so it starts empty. Raises TritonNotHere if Triton has no
    Python backend for this version of Python.
    """
    backends = copy_backend(installation, folder / "triton" / "backends")
    repository = repository_of(folder)
    repository.mkdir(parents=True, exist_ok=True)
    options = {
        "backend-directory": backends,
        "model-repository": repository,
        "model-control-mode": "explicit",
        "http-address": HOST,
        "http-port": ports.http,
        "grpc-address": HOST,
        "grpc-port": ports.grpc,
        "metrics-address": HOST,
        "metrics-port": ports.metrics,
        "strict-readiness": "false",  # otherwise one model that can't be loaded makes the whole server "not ready"
        "allow-gpu-metrics": "false",
        "pinned-memory-pool-byte-size": 0,
        "exit-timeout-secs": EXIT_SECONDS,
        "backend-config": f"python,shm-region-prefix-name={memory_prefix(folder)}",
    }
    path = os.pathsep.join((str(installation.python.parent), os.environ.get("PATH", os.defpath)))
    inherited = {name: value for name, value in os.environ.items() if name not in _MISLEADING}
    own = {"LD_LIBRARY_PATH": installation.library_path, "PATH": path, "PYTHONUNBUFFERED": "1"}
    return TritonCommand(
        argv=(
            str(installation.program),
            "--disable-auto-complete-config",  # ours are complete, and guessing starts every model twice
            *(f"--{name}={value}" for name, value in options.items()),
        ),
        env=_POLITE | inherited | own,
        ready_url=f"http://{HOST}:{ports.http}/v2/health/ready",
    )


@contextmanager
def clean_memory(folder: Path) -> Iterator[None]:
    """Remove the shared memory that a killed server of this data folder has left, before and after the block."""
    _remove_memory(folder)
    try:
        yield
    finally:
        _remove_memory(folder)


@contextmanager
def free_ports() -> Iterator[TritonPorts]:
    """Reserve three free ports while the block runs.

    Our sockets only reserve the ports. They allow Triton to bind the same ports itself.
    """
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(3)]
        for each in sockets:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            each.bind((HOST, 0))
        http, grpc, metrics = (each.getsockname()[1] for each in sockets)
        yield TritonPorts(http, grpc, metrics)


def memory_prefix(folder: Path) -> str:
    """Return the prefix that the names of all shared memory of this data folder's server have."""
    return f"stb_{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}_"


def _remove_memory(folder: Path) -> None:
    for left_over in SHARED_MEMORY.glob(f"{memory_prefix(folder)}*"):
        left_over.unlink(missing_ok=True)

"""The folder of one suite: its lock, its secrets, its logs, and its running processes.

The folder holds a suite once the administrator's key is kept in it: the key is the last thing that a first start
makes.
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spotthebot.contracts.services import DEFAULT_PORT_BASE
from spotthebot.local.errors import AlreadyRunning, StateUnreadable
from spotthebot.local.postgres.home import disk_errors, write_private
from spotthebot.local.runtime.ports import LOCK

KEY_OF_ADMIN = "key/admin"
"""The secret that is made when the database is complete."""
_PORTS = "ports.json"
_BACKUP = "backup.json"
_PID_BYTES = 32
_LOCK_TRIES = 50
_LOCK_WAIT_SECONDS = 0.01


def default_data_dir(root: Path) -> Path:
    """Return the default data folder: in the clone at `root`, or in the working directory if `root` is not a clone."""
    return root / ".stb" if (root / "stb").is_file() else Path(".stb")


DEFAULT_DATA_DIR = default_data_dir(Path(__file__).parents[4])


@dataclass(frozen=True)
class RunningService:
    """A running service and its address."""

    name: str
    url: str
    pid: int | None


@dataclass(frozen=True)
class RunningWorker:
    """A running worker; its name begins with the name of its service."""

    name: str
    pid: int | None


@dataclass(frozen=True)
class State:
    """The running processes, as a file in the folder lists them.

    Every change writes the whole file. Only the suite's user can read it.
    """

    pid: int
    ready: bool
    database_owner_urls: dict[str, str]
    urls: dict[str, str]
    """The URL of each service, whether the suite runs it or a debugger does."""
    environments: dict[str, dict[str, str]]
    """The settings of each service, those that the suite sets and those given."""
    services: tuple[RunningService, ...]
    workers: tuple[RunningWorker, ...]


class DataFolder:
    """A folder on disk; other users can't read anything in it.

    `key` is the API key of the person who works with the suite here; with None, commands use the administrator's key.
    """

    def __init__(self, path: Path, *, key: str | None = None) -> None:
        self.path = path.resolve()
        self.key = key

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def option(self) -> str:
        """The option by which the next command finds this folder, after a space; empty for the default folder."""
        return "" if self.path == DEFAULT_DATA_DIR.resolve() else f" --data-dir {self.path}"

    @property
    def port_base(self) -> int:
        """The number before the services' ports: that of the last `./stb up` here."""
        return int((self._read(_PORTS) or {}).get("port_base", DEFAULT_PORT_BASE))

    def keep_port_base(self, port_base: int) -> None:
        """Store the number before the services' ports for the next start."""
        with disk_errors(self.path):
            write_private(self.path / _PORTS, json.dumps({"port_base": port_base}))

    @property
    def last_backup(self) -> str | None:
        """The moment and the file of the last `./stb backup` of this folder, in words; None before the first."""
        kept = self._read(_BACKUP)
        return f"{kept['made_at']} UTC: {kept['file']}" if kept else None

    def keep_backup(self, file: Path) -> None:
        """Store that a backup was made now."""
        kept = {"made_at": f"{datetime.now(UTC):%Y-%m-%d %H:%M}", "file": str(file.resolve())}
        with disk_errors(self.path):
            write_private(self.path / _BACKUP, json.dumps(kept))

    @property
    def holds_suite(self) -> bool:
        """Whether a suite runs here, or a suite's database was once made here."""
        return self.holder() is not None or self.known_secret(KEY_OF_ADMIN) is not None

    @property
    def was_used(self) -> bool:
        """Whether a suite was ever created here, even incompletely."""
        return (self.path / LOCK).exists()

    def create(self) -> None:
        """Make the folders; raises FolderNotWritable or DiskFull."""
        with disk_errors(self.path):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.logs.mkdir(mode=0o700, exist_ok=True)
            probe = self.path / ".writable"
            probe.write_bytes(b"")
            probe.unlink()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock for running a suite here; raises AlreadyRunning.

        The kernel releases the lock when this process dies.
        """
        with disk_errors(self.path):
            handle = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode=0o600)
        try:
            if not _lock_soon(handle):
                raise AlreadyRunning(folder=self.path, pid=_read_pid(handle) or "unknown", option=self.option)
            with disk_errors(self.path):
                os.pwrite(handle, str(os.getpid()).ljust(_PID_BYTES).encode(), 0)
            yield
        finally:
            os.close(handle)

    def holder(self) -> int | None:
        """Return the process that runs a suite here, if any."""
        try:
            handle = os.open(self.path / LOCK, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read_pid(handle)
        else:
            return None
        finally:
            os.close(handle)

    def write_state(self, state: State) -> None:
        with disk_errors(self.path):
            write_private(self.path / "suite.json", json.dumps(asdict(state), indent=2))

    def read_state(self) -> State | None:
        """Return the running processes; None if nothing runs, even if the file of an earlier run is still there."""
        content = self._read("suite.json")
        if content is None or self.holder() != content.get("pid"):
            return None
        services = tuple(RunningService(**each) for each in content.pop("services"))
        workers = tuple(RunningWorker(**each) for each in content.pop("workers"))
        return State(**content, services=services, workers=workers)

    def secret(self, name: str) -> str:
        """Return a secret of this folder, and make it if it is missing."""
        known = self._read("secrets.json") or {}
        if name not in known:
            self.keep_secret(name, secrets.token_urlsafe(24))
            return self.secret(name)
        return str(known[name])

    def known_secret(self, name: str) -> str | None:
        """Return a stored secret, if any."""
        return (self._read("secrets.json") or {}).get(name)

    def keep_secret(self, name: str, value: str) -> None:
        """Store a secret in a file that only its owner can read."""
        with disk_errors(self.path):
            write_private(self.path / "secrets.json", json.dumps((self._read("secrets.json") or {}) | {name: value}))

    def _read(self, name: str) -> dict[str, Any] | None:
        path = self.path / name
        try:
            content: dict[str, Any] = json.loads(path.read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StateUnreadable(path=path, reason=error) from error
        return content


def _lock_soon(handle: int) -> bool:
    """Lock a file exclusively; return False if a suite holds the lock.

    It waits briefly, because commands share the lock while they read which process holds the file.
    """
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_WAIT_SECONDS)
        else:
            return True
    return False


def _read_pid(handle: int) -> int | None:
    """Return the process that a lock file names; None if the file was just locked and names no process yet."""
    return int(os.pread(handle, _PID_BYTES, 0).strip() or 0) or None

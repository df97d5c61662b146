"""The location of a data folder's cluster, its owner, and the lock of the process that runs it.

A normal user's cluster lies in the data folder. Root's cluster lies outside, in a private folder of the account that
runs it, because that account may be unable to enter the data folder. The data folder keeps the cluster's random id, so
the cluster is found even after the data folder was moved.
"""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path

from spotthebot.local.postgres.account import Account, first_closed_folder, pick_account
from spotthebot.local.postgres.errors import ClusterInUse, DiskFull, FolderNotWritable, HomeUnreachable

HOME_VARIABLE = "SPOTTHEBOT_POSTGRES_HOME"
LOG_NAME = "postgres.log"
SSL_REQUEST = bytes.fromhex("0000000804d2162f")
"""A server answers this message with one byte, before any authentication."""
_DEFAULT_PARENT = Path("/var/lib/spotthebot")


@dataclass(frozen=True)
class Home:
    """The paths of one cluster; `account` is None if the cluster runs under the account of this process."""

    data_folder: Path
    folder: Path
    account: Account | None

    @property
    def cluster(self) -> Path:
        return self.folder / "cluster"

    @property
    def password_file(self) -> Path:
        return self.data_folder / "postgres.password"

    @property
    def log_file(self) -> Path:
        return self.data_folder / LOG_NAME

    @property
    def lock_file(self) -> Path:
        """The lock file, next to the home.

        It is not in the home, because another account could put a link there, which root must not open.
        """
        return self.folder.with_name(f"{self.folder.name}.lock")


def settle(data_folder: Path, parent: Path | None = None) -> Home:
    """Create the folders of a data folder's cluster and return its home.

    Root's homes lie in the folder `parent`; None means SPOTTHEBOT_POSTGRES_HOME, else /var/lib/spotthebot. Raises
    FolderNotWritable, DiskFull, HomeUnreachable, NoUnprivilegedAccount.
    """
    data_folder = data_folder.resolve()
    with disk_errors(data_folder):
        data_folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() != 0:
            folder = data_folder / "postgres"
            folder.mkdir(mode=0o700, exist_ok=True)
            return Home(data_folder=data_folder, folder=folder, account=None)
        cluster_id = _read_or_make_id(data_folder / "postgres.id")
    parent = _parent_of_homes(parent)
    folder = parent / cluster_id
    account = pick_account(folder)
    with disk_errors(parent):
        if not parent.exists():
            parent.mkdir(parents=True)
            parent.chmod(0o755)  # the account has to enter it, whatever the umask is
        if account and (closed := first_closed_folder(account, parent)):
            raise HomeUnreachable(account=account.name, folder=closed)
        folder.mkdir(mode=0o700, exist_ok=True)
        if account:
            os.chown(folder, account.uid, account.gid)
    return Home(data_folder=data_folder, folder=folder, account=account)


def find(data_folder: Path, parent: Path | None = None) -> Home | None:
    """Return the home of a data folder's cluster, or None; creates nothing. For `parent`, see `settle`."""
    data_folder = data_folder.resolve()
    id_file = data_folder / "postgres.id"
    with disk_errors(data_folder):
        folder = _parent_of_homes(parent) / _read_id(id_file) if id_file.exists() else data_folder / "postgres"
        return Home(data_folder=data_folder, folder=folder, account=None) if folder.is_dir() else None


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the operating system into DiskFull and FolderNotWritable."""
    try:
        yield
    except shutil.Error as error:  # from a copied tree: one reason for each file, as text
        reasons = [str(reason) for _, _, reason in error.args[0]]
        if any(os.strerror(ENOSPC) in reason for reason in reasons):
            raise DiskFull(folder=folder) from error
        raise FolderNotWritable(folder=folder, reason=reasons[0]) from error
    except OSError as error:
        if error.errno == ENOSPC:
            raise DiskFull(folder=folder) from error
        raise FolderNotWritable(folder=error.filename or folder, reason=error.strerror or error) from error


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, completely or not at all."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode=0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Let only one process at a time be in this block for the same folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class Lock:
    """The lock on running one cluster, held from construction to `release`.

    The kernel also releases the lock when this process dies.
    """

    def __init__(self, home: Home) -> None:
        with disk_errors(home.data_folder):
            self._handle = os.open(home.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode=0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(self._handle, 32, 0).decode() or "unknown"
            os.close(self._handle)
            raise ClusterInUse(folder=home.data_folder, pid=holder) from error
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        os.close(self._handle)


def _read_or_make_id(path: Path) -> str:
    with one_at_a_time(path.parent):
        if not path.exists():
            write_private(path, secrets.token_hex(8))
    return _read_id(path)


def _read_id(path: Path) -> str:
    cluster_id = path.read_text().strip()
    # The id becomes part of a path that root writes to.
    if not re.fullmatch(r"[0-9a-f]{16}", cluster_id):
        raise FolderNotWritable(folder=path, reason="it does not hold the id of a cluster")
    return cluster_id


def _parent_of_homes(given: Path | None) -> Path:
    return (given or Path(os.environ.get(HOME_VARIABLE) or _DEFAULT_PARENT)).resolve()

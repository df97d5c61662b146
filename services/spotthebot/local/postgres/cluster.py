"""The suite's own PostgreSQL: made in a data folder on first use, started and stopped with the suite."""

from pathlib import Path
from types import TracebackType
from typing import Self

from spotthebot.local.postgres import postmaster
from spotthebot.local.postgres.binaries import Binaries, find_binaries
from spotthebot.local.postgres.creation import ADMIN, create_cluster, remove_if_empty
from spotthebot.local.postgres.errors import AdminPasswordMissing, ClusterMissing, DatabasePortTaken
from spotthebot.local.postgres.home import LOG_NAME, Home, Lock, disk_errors, settle
from spotthebot.local.postgres.postmaster import Postmaster
from spotthebot.local.postgres.private_copy import readable_binaries

_PORTS_TO_TRY = 5


class Cluster:
    """The database server of one data folder, on 127.0.0.1 only, for one process at a time.

    With `port=None`, the first start takes a free port, and later starts of this object take the same port.
    `durable=False` trades the safety of the data for speed, for tests. `home` and `binaries` replace the automatic
    search for root's folder of homes and for PostgreSQL.

    All methods block. Start the server from the main thread: then the server dies with this process even after SIGKILL
    (see `kit.processes.lifeline`).
    """

    def __init__(
        self,
        data_folder: Path,
        *,
        port: int | None = None,
        durable: bool = True,
        home: Path | None = None,
        binaries: Binaries | None = None,
        start_timeout_seconds: float = 60,
    ) -> None:
        self.data_folder = data_folder
        self._fixed_port = port
        self._port = port
        self._durable = durable
        self._parent = home
        self._binaries = binaries
        self._start_timeout_seconds = start_timeout_seconds
        self._home: Home | None = None
        self._lock: Lock | None = None
        self._postmaster: Postmaster | None = None

    def start(self) -> None:
        """Create the cluster if it is missing, start it and wait until it accepts connections.

        Does nothing if the server runs. Restarts the server on its old port if it died. Raises a subclass of
        Unavailable, Conflict or Invalid from `postgres.errors`; after an error, no server runs and nothing is locked.
        """
        if self.running:
            return
        home = settle(self.data_folder, self._parent)
        lock = self._lock or Lock(home)
        try:
            binaries = self._ready_cluster(home)
            with disk_errors(home.folder):
                postmaster.clear_the_way(home, self._start_timeout_seconds)
            self._postmaster = self._launch(home, binaries)
        except BaseException:
            lock.release()
            self._lock = None
            raise
        self._home, self._lock = home, lock

    def stop(self, timeout_seconds: float = 30) -> None:
        """Stop the server and release the cluster; does nothing if it is not started."""
        if self._postmaster and self._postmaster.running:
            self._postmaster.stop(timeout_seconds)
        self._postmaster = None
        if self._lock:
            self._lock.release()
            self._lock = None

    def kill(self) -> None:
        """Kill a server that hangs; `start` restarts it on its old port. Does nothing if the server does not run."""
        if self._postmaster and self._postmaster.running:
            self._postmaster.kill()

    @property
    def running(self) -> bool:
        return self._postmaster is not None and self._postmaster.running

    @property
    def pid(self) -> int:
        """The server's process id; only after a start."""
        return self._started()[1].pid

    @property
    def port(self) -> int:
        """The TCP port; only after a start."""
        return self._started()[1].port

    @property
    def admin_url(self) -> str:
        """The superuser's URL, password included; only after a start."""
        home, server = self._started()
        return _admin_url(home, server.port)

    @property
    def log_file(self) -> Path:
        return self.data_folder / LOG_NAME

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _started(self) -> tuple[Home, Postmaster]:
        if self._home is None or self._postmaster is None:
            message = "the cluster is not started"
            raise RuntimeError(message)
        return self._home, self._postmaster

    def _ready_cluster(self, home: Home) -> Binaries:
        version_file = home.cluster / "PG_VERSION"
        if version_file.exists():
            if not home.password_file.exists():
                raise AdminPasswordMissing(folder=home.cluster, password_file=home.password_file)
            # Another major version could not read the files.
            return self._readable(home, self._binaries or find_binaries(version_file.read_text().strip()))
        if home.password_file.exists():
            raise ClusterMissing(data_folder=home.data_folder, folder=home.cluster, password_file=home.password_file)
        try:
            binaries = self._readable(home, self._binaries or find_binaries())
            create_cluster(home, binaries, durable=self._durable)
        except BaseException:
            remove_if_empty(home)
            raise
        return binaries

    def _readable(self, home: Home, binaries: Binaries) -> Binaries:
        with disk_errors(home.folder.parent):
            return readable_binaries(binaries, home.account, home.folder.parent)

    def _launch(self, home: Home, binaries: Binaries) -> Postmaster:
        tries = 1 if self._fixed_port or self._port else _PORTS_TO_TRY
        while True:
            # Another process may take the port between the search for it and its use.
            port = self._port or postmaster.free_port()
            tries -= 1
            try:
                started = Postmaster(
                    home,
                    binaries,
                    port=port,
                    durable=self._durable,
                    timeout_seconds=self._start_timeout_seconds,
                )
            except DatabasePortTaken:
                if tries == 0:
                    raise
            else:
                self._port = port
                return started


def running_admin_url(data_folder: Path, port: int) -> str:
    """Return the superuser's URL of a cluster that another process runs on this port; raises AdminPasswordMissing."""
    data_folder = data_folder.resolve()
    return _admin_url(Home(data_folder=data_folder, folder=data_folder, account=None), port)


def _admin_url(home: Home, port: int) -> str:
    if not home.password_file.exists():
        raise AdminPasswordMissing(folder=home.data_folder, password_file=home.password_file)
    return f"postgresql://{ADMIN}:{home.password_file.read_text()}@127.0.0.1:{port}/postgres"

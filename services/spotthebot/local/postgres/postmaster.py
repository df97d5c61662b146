"""Runs one PostgreSQL server process: starts it, waits for it, stops it, and prepares a start after a crash."""

import os
import signal
import socket
import time
from contextlib import suppress

import psutil

from spotthebot.kit.errors import Error
from spotthebot.kit.processes.log_file import cut
from spotthebot.kit.processes.process import Process
from spotthebot.local.postgres.account import OURSELVES, child_environment
from spotthebot.local.postgres.binaries import Binaries
from spotthebot.local.postgres.errors import ClusterDidNotStart, DatabasePortTaken, DiskFull
from spotthebot.local.postgres.home import Home, disk_errors

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_line_prefix": "%m [%p] %u@%d ",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
_FORGETFUL = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "500",
    "scram_iterations": "1",  # passwords of tests are random, and hashing one takes longer than most statements
}
_POLL_SECONDS = 0.01
_QUIT_SECONDS = 5.0
_LOG_LINES = 8


class Postmaster:
    """A server process that accepts connections on 127.0.0.1; the constructor waits until it does.

    Raises DatabasePortTaken, ClusterDidNotStart, DiskFull, FolderNotWritable.
    """

    def __init__(self, home: Home, binaries: Binaries, *, port: int, durable: bool, timeout_seconds: float) -> None:
        self.port = port
        self._home = home
        self._pid_file = home.cluster / "postmaster.pid"
        settings = _SETTINGS | {"port": str(port)} | ({} if durable else _FORGETFUL)
        argv = [str(binaries.folder / "postgres"), "-D", str(home.cluster)]
        argv += [f"--{name}={value}" for name, value in settings.items()]
        with disk_errors(home.data_folder):
            cut(home.log_file)
            # Private, because failing statements are logged with their values.
            log = os.open(home.log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, mode=0o600)
        try:
            self._log_start = os.lseek(log, 0, os.SEEK_END)
            self._process = self._launch(argv, log)
        finally:
            os.close(log)
        try:
            self._wait_until_ready(timeout_seconds)
        except BaseException:  # an interrupt by the user leaves no server behind either
            self.stop(timeout_seconds=0)
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    def stop(self, timeout_seconds: float) -> None:
        """Stop the server by SIGINT (cuts sessions, flushes data). If it does not end, send SIGQUIT.

        After SIGQUIT, the next start recovers the data.
        """
        self._process.end((signal.SIGINT, timeout_seconds), (signal.SIGQUIT, _QUIT_SECONDS))

    def kill(self) -> None:
        """Kill the server and all its sessions at once, even stopped processes; the next start recovers the data."""
        sessions: list[psutil.Process] = []
        with suppress(psutil.Error):
            sessions = psutil.Process(self.pid).children(recursive=True)
        self._process.end()
        for session in sessions:
            with suppress(psutil.Error):
                session.kill()
        psutil.wait_procs(sessions, timeout=_QUIT_SECONDS)

    def _launch(self, argv: list[str], log: int) -> Process:
        account = self._home.account
        try:
            return Process(
                argv,
                output=log,
                env=child_environment(),
                death_signal=signal.SIGINT,
                cwd=self._home.folder,
                umask=0o077,
                **(account.identity if account else OURSELVES),
            )
        except OSError as error:
            reason = f"{argv[0]}: {error.strerror}"
            raise self._did_not_start(reason) from error

    def _wait_until_ready(self, timeout_seconds: float) -> None:
        deadline = time.monotonic() + timeout_seconds
        while not self._is_ready():
            if not self.running:
                raise self._why_it_ended()
            if time.monotonic() > deadline:
                reason = f"it is not ready after {timeout_seconds:g} s"
                raise self._did_not_start(reason)
            time.sleep(_POLL_SECONDS)

    def _why_it_ended(self) -> Error:
        log = self._new_log()
        if "could not create any TCP/IP sockets" in log:
            return DatabasePortTaken(port=self.port)
        if "No space left on device" in log:
            return DiskFull(folder=self._home.folder)
        return self._did_not_start(f"it ended with status {self._process.returncode}")

    def _is_ready(self) -> bool:
        # As pg_ctl reads it: line 1 is the server's process id, line 8 its state.
        with suppress(OSError):
            lines = self._pid_file.read_text().splitlines()
            return len(lines) >= 8 and lines[0] == str(self.pid) and lines[7].strip() == "ready"
        return False

    def _new_log(self) -> str:
        with self._home.log_file.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def _did_not_start(self, reason: str) -> ClusterDidNotStart:
        last = "\n".join(self._new_log().splitlines()[-_LOG_LINES:])
        return ClusterDidNotStart(reason=reason, log_file=self._home.log_file, log=last)


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def clear_the_way(home: Home, timeout_seconds: float) -> None:
    """Make a start possible although a server that was not stopped left its pid file.

    Stops the server if it survived its supervisor. If the pid in the file now belongs to another process or to a
    zombie, PostgreSQL would refuse to start. So our own pid replaces this pid, because PostgreSQL does not take the pid
    of its parent for a running server. The file itself stays, because it names the shared memory by which PostgreSQL
    checks that no session of the former server is left.
    """
    pid_file = home.cluster / "postmaster.pid"
    try:
        lines = pid_file.read_text().splitlines(keepends=True)
        pid = int(lines[0])
    except (OSError, ValueError, IndexError):
        return
    with suppress(psutil.Error):
        former = psutil.Process(pid)
        if str(home.cluster) in former.cmdline():
            _end(former, timeout_seconds)
    if pid_file.exists() and psutil.pid_exists(pid):
        handle = os.open(pid_file, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(handle, "w") as file:
            file.writelines([f"{os.getpid()}\n", *lines[1:]])


def _end(process: psutil.Process, timeout_seconds: float) -> None:
    for last_word in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        process.send_signal(last_word)
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            # It is not our child; without a parent that waits for it, it stays a zombie.
            if process.status() == psutil.STATUS_ZOMBIE:
                return
            time.sleep(_POLL_SECONDS)

"""What a container's HEALTHCHECK runs: asks a server whether it is ready, and looks for the heartbeat of a worker.

An engine restarts a container that ended, and leaves alone one that hangs. So where `SPOTTHEBOT_END_WHEN_HUNG` is
"true", the third check in a row that finds no sign of life kills the container's processes. Its first process has to be
an init, which ends with them: no signal from inside reaches process 1.

Standard library alone, and as little of it as will do: every container runs this all the time.
"""

import contextlib
import os
import signal
import socket
import sys
import time

_PORT = 8000
_READY_SECONDS, _ALIVE_SECONDS = 2.5, 2.0  # together well below the 8 s of the check, whose own start may take long
_OLDEST_BEAT_SECONDS = 15.0
_MAX_SILENT_CHECKS = 3
_SILENT_CHECKS = os.path.join(os.environ.get("TMPDIR", "/tmp"), "silent-checks")  # noqa: PTH118, S108 - of this container


def _heartbeat_file() -> str | None:
    """Return the file that a worker touches every second; None in a container that serves."""
    return next((value for name, value in os.environ.items() if name.endswith("_HEARTBEAT_FILE")), None)


def _beats(file: str) -> str | None:
    try:
        age = time.time() - os.stat(file).st_mtime  # noqa: PTH116 - pathlib takes longer to import than this to run
    except OSError as error:
        return f"the worker has not begun: {error.strerror} ({file})"
    return None if age < _OLDEST_BEAT_SECONDS else f"the worker's event loop has stood still for {age:.0f} s"


def _ask(path: str, seconds: float) -> bytes:
    answer = b""
    with socket.create_connection(("127.0.0.1", _PORT), timeout=seconds) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        while piece := connection.recv(4096):
            answer += piece
    return answer


def _answers() -> str | None:
    try:
        answer = _ask("/readyz", _READY_SECONDS)
    except OSError as error:
        return f"no answer on port {_PORT}: {error}"
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " in head.partition(b"\r\n")[0]:
        return None
    return body.decode(errors="replace")[:500] or "the server closed the connection without an answer"


def _hangs(file: str | None) -> bool:
    """Return whether nothing moves any more; a process that begins, ends or waits for the database does."""
    try:
        if file:
            return time.time() - os.stat(file).st_mtime >= _OLDEST_BEAT_SECONDS  # noqa: PTH116 - as above
        _ask("/healthz", _ALIVE_SECONDS)
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


def _end_if_hung(file: str | None) -> None:
    if not _hangs(file):
        if os.path.exists(_SILENT_CHECKS):  # noqa: PTH110 - as above
            os.remove(_SILENT_CHECKS)  # noqa: PTH107 - as above
        return
    with open(_SILENT_CHECKS, "ab") as checks:  # noqa: PTH123 - as above
        checks.write(b".")
        checks.flush()
        silent = checks.tell()
    if silent >= _MAX_SILENT_CHECKS:
        for name in os.listdir("/proc"):  # noqa: PTH208 - as above
            if name.isdigit() and int(name) not in {1, os.getpid()}:
                _kill(int(name))


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
        os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    file = _heartbeat_file()
    fault = _beats(file) if file else _answers()
    if os.environ.get("SPOTTHEBOT_END_WHEN_HUNG") == "true":
        _end_if_hung(file)
    sys.exit(fault)

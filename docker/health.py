"""What a container's HEALTHCHECK runs: asks a server whether it is ready, and looks for the heartbeat of a worker.

Standard library alone, and as little of it as will do: every container runs this all the time.
"""

import os
import socket
import sys
import time

_PORT = 8000
_SECONDS = 5.0
_OLDEST_BEAT_SECONDS = 15.0


def _heartbeat_file() -> str | None:
    """Return the file that a worker touches every second; None in a container that serves."""
    return next((value for name, value in os.environ.items() if name.endswith("_HEARTBEAT_FILE")), None)


def _beats(file: str) -> str | None:
    try:
        age = time.time() - os.stat(file).st_mtime  # noqa: PTH116 - pathlib takes longer to import than this to run
    except OSError as error:
        return f"the worker has not begun: {error.strerror} ({file})"
    return None if age < _OLDEST_BEAT_SECONDS else f"the worker's event loop has stood still for {age:.0f} s"


def _answers() -> str | None:
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", _PORT), timeout=_SECONDS) as connection:
            connection.sendall(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            while piece := connection.recv(4096):
                answer += piece
    except OSError as error:
        return f"no answer on port {_PORT}: {error}"
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " in head.partition(b"\r\n")[0]:
        return None
    return body.decode(errors="replace")[:500] or "the server closed the connection without an answer"


if __name__ == "__main__":
    file = _heartbeat_file()
    if fault := _beats(file) if file else _answers():
        sys.exit(fault)

"""A wire that answers as a test wants: for the clients, instead of a service."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socket import SHUT_WR

from spotthebot.clients import Retries
from spotthebot.kit.processes.sockets import bind

BASE = "http://peer.example"
AT_ONCE = Retries(first_wait_seconds=0, jitter_seconds=0)


@contextmanager
def answering(answer: bytes, *, hold_open: bool = False) -> Iterator[str]:
    """Serve these bytes to every connection once it has sent a request, then end it, unless it is held open."""
    sock = bind("127.0.0.1", 0)
    sock.listen()
    held = []

    def serve() -> None:
        while True:
            try:
                connection, _ = sock.accept()
            except OSError:
                return
            connection.recv(65536)
            connection.sendall(answer)
            held.append(connection)
            if not hold_open:
                connection.shutdown(SHUT_WR)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        host, port = sock.getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        sock.shutdown(2)
        sock.close()
        thread.join()
        for connection in held:
            connection.close()

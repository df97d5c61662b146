"""Listening sockets that belong to the supervisor, so that a restarted child keeps its port.

The child is given the socket's number (`ProcessSpec.listener`, `--fd`). While it restarts, callers
wait in the socket's queue instead of being refused.
"""

import errno
import socket
from contextlib import ExitStack

from spotthebot.kit.processes.errors import CannotListen, PortTaken

_QUEUE = 2048


def bind(host: str, port: int) -> socket.socket:
    """Return a listening, inheritable TCP socket on an IPv4 or IPv6 address; port 0 takes a free one.

    Raises PortTaken, and CannotListen for a port or an address that is not ours to use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with ExitStack() as on_failure:
        try:
            listening = on_failure.enter_context(socket.socket(family, socket.SOCK_STREAM))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Accepted connections inherit it on Linux. uvicorn takes an inherited socket for a Unix one, and
            # asyncio then leaves Nagle's algorithm on: an answer sent in parts took 44 ms instead of 1 ms.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            listening.bind((host, port))
            listening.listen(_QUEUE)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(port=port) from error
            raise CannotListen(host=host, port=port, reason=error.strerror or error) from error
        on_failure.pop_all()
    listening.set_inheritable(True)
    return listening

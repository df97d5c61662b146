"""A webhook bot that costs next to nothing: a bare protocol that always says the same, `/after/100` after 100 ms.

`python -m benchmarks.bots.lean_bot FD [FD ...]` serves on listening sockets that it inherits.
"""

import asyncio
import json
import re
import socket
import sys

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_AFTER = re.compile(rb"^POST /after/(\d+) ")
_BODY = json.dumps({"text": "I went to the market and bought a melon. Do you like melons?"}).encode()
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)


class LeanBot(asyncio.Protocol):
    """One connection, on which questions come one after another."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer once the whole question is there."""
        self._read += data
        end = self._read.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._read, 0, end)
        if len(self._read) < end + 4 + (int(length[1]) if length else 0):
            return
        after = _AFTER.match(self._read)
        self._read = b""
        if after and int(after[1]):
            asyncio.get_running_loop().call_later(int(after[1]) / 1000, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(_ANSWER)


async def _serve(descriptors: list[int]) -> None:
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(LeanBot, sock=socket.socket(fileno=each)) for each in descriptors]
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(_serve(list(map(int, sys.argv[1:]))))

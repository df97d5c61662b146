"""A network that hostile URLs lead to in tests: names with prepared answers, and connections that are only noted."""

import asyncio
import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from spotthebot.bots.protocols import triton
from spotthebot.inference.errors import TritonRefused

PUBLIC, PUBLIC_6 = "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
NAMES: dict[str, list[list[str]]] = {
    "localhost": [["127.0.0.1", "::1"]],
    "localhost.": [["127.0.0.1"]],
    "bot.localhost": [["127.0.0.1"]],
    "private.example.org": [["10.0.0.1"]],
    "metadata.example.org": [["169.254.169.254"]],
    "metadata.google.internal": [["169.254.169.254"]],
    "mixed.example.org": [[PUBLIC, "127.0.0.1"]],
    "mixed-first.example.org": [["127.0.0.1", PUBLIC]],
    "mixed-6.example.org": [[PUBLIC_6, "::1"]],
    "mixed-families.example.org": [[PUBLIC, "fd00::1"]],
    "mapped.example.org": [["::ffff:127.0.0.1"]],
    "scoped.example.org": [["fe80::1%2"]],
    "site.example.org": [["fec0::1"]],
    "nat64.example.org": [["64:ff9b::7f00:1"]],
    "7f000001.rebind.example.org": [["127.0.0.1"]],
    "xn--lcalhost-n4a.example.org": [["127.0.0.1"]],
}
"""Names by the answers that a name server gives, one after another; the last one is repeated."""
REBINDING = "rebinding.example.org"
"""Public when it is checked, loopback when it is called."""


_REASON = "no connection leaves a test"


@dataclass
class HostileNetwork:
    """Answers for names, and addresses that were to be connected to; connections go to `open_to` alone."""

    open_to: set[tuple[str, int]] = field(default_factory=set)
    dialled: list[str] = field(default_factory=list)
    answers: dict[str, list[list[str]]] = field(
        default_factory=lambda: {name: [*found] for name, found in NAMES.items()}
    )

    def resolve(self, host: str) -> list[str]:
        answers = self.answers.get(host.lower())
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]


@contextmanager
def hostile_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileNetwork]:
    """Let no connection of this process out but those of the test itself; note the others and refuse them."""
    network = HostileNetwork()
    resolve, connect = asyncio.BaseEventLoop.getaddrinfo, asyncio.SelectorEventLoop.sock_connect

    async def getaddrinfo(loop: Any, host: Any, port: Any, **more: Any) -> Any:
        if not isinstance(host, str) or not any(each.isalpha() for each in host) or ":" in host:
            return await resolve(loop, host, port, **more)  # an address, or the wildcard
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", _socket_address(each, port))
            for each in network.resolve(host)
        ]

    async def sock_connect(loop: Any, sock: socket.socket, address: Any) -> None:
        if address[:2] not in network.open_to:
            network.dialled.append(str(address[0]))
            raise ConnectionRefusedError(errno.ECONNREFUSED, _REASON)
        await connect(loop, sock, address)

    class NotedChannel:
        """A channel of gRPC, which makes its connections itself."""

        def __init__(self, address: str, **_options: Any) -> None:
            self._address = address

        async def infer(self, _model: str, _request: str) -> str:
            network.dialled.append(self._address)
            raise TritonRefused(status="UNAVAILABLE", reason=_REASON)

        async def close(self) -> None:
            return

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", sock_connect)
    monkeypatch.setattr(triton, "TritonClient", NotedChannel)
    yield network


def _socket_address(address: str, port: Any) -> tuple[Any, ...]:
    host, _, scope = address.partition("%")
    return (host, port, 0, int(scope or 0)) if ":" in host else (host, port)

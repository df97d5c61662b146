"""The open connections of a server: limits how many an address may have, and how long each may take."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final, Protocol

_SWEEP_SECONDS: Final = 1.0
_NETWORK_BITS: Final = 64


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of an address and of a connection.

    If `per_address` is 0, an address may have any number of connections.
    """

    per_address: int
    head_seconds: float
    body_seconds: float


class Connection(Protocol):
    """What the connection table knows of a connection."""

    address: str

    @property
    def expendable(self) -> tuple[bool, float] | None:
        """Return the place of this connection in the order in which connections of its address are closed to make room.

        Connections with an unfinished head are closed first, then idle connections; among each kind the oldest is
        first. Return None while a request is running: the connection may not be closed.
        """

    def check(self, now: float, seconds: float) -> None:
        """Close the connection if its time is over. `seconds` is the time since the last check."""

    def abort(self) -> None:
        """Close the connection at once."""


class ConnectionTable:
    """Counts connections by address, and checks all of them once a second. This costs nothing for each request.

    If an address is at its limit, a new connection replaces the connection that has been idle for the longest time. So
    unused connections lock nobody out, even if many clients share one address.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._by_address: defaultdict[str, set[Connection]] = defaultdict(set)
        self._next_sweep: asyncio.TimerHandle | None = None

    def add(self, connection: Connection) -> bool:
        """Count a new connection.

        Return False if its address is at its limit and all its connections are answering requests.
        """
        mine = self._by_address.get(connection.address, set())
        if self.limits.per_address and len(mine) >= self.limits.per_address:
            spare = {each: order for each in mine if (order := each.expendable) is not None}
            if not spare:
                return False
            first = min(spare, key=spare.__getitem__)
            self.discard(first)
            first.abort()
        self._by_address[connection.address].add(connection)
        if self._next_sweep is None:
            self._sweep_later(asyncio.get_running_loop())
        return True

    def discard(self, connection: Connection) -> None:
        """Remove a closed connection, if it was counted."""
        mine = self._by_address[connection.address]
        mine.discard(connection)
        if not mine:
            del self._by_address[connection.address]

    def _sweep_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._next_sweep = loop.call_later(_SWEEP_SECONDS, self._sweep, loop, loop.time())

    def _sweep(self, loop: asyncio.AbstractEventLoop, last: float) -> None:
        now = loop.time()
        for connection in [each for mine in self._by_address.values() for each in mine]:
            connection.check(now, now - last)
        self._next_sweep = None
        if self._by_address:
            self._sweep_later(loop)


def network_of(host: str) -> str:
    """Return the key under which a caller's connections are counted: an IPv4 address, or the /64 of an IPv6 address.

    One machine usually has a whole /64.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Address(int(address) >> _NETWORK_BITS << _NETWORK_BITS))

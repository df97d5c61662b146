"""The open connections of a server: how many an address may have, and which have had their time."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final, Protocol

_SWEEP_SECONDS: Final = 1.0
_NETWORK_BITS: Final = 64


@dataclass(frozen=True)
class ConnectionLimits:
    """What an address and a connection may take; `per_address` 0: any number."""

    per_address: int
    head_seconds: float
    body_seconds: float


class Connection(Protocol):
    """A connection, as the table sees it."""

    address: str

    @property
    def expendable(self) -> tuple[bool, float] | None:
        """How soon it may go where its address wants another: unfinished heads first, then idle ones, each the oldest.

        None while a request is under way.
        """

    def check(self, now: float, seconds: float) -> None:
        """End it if it has had its time; `seconds` went by since the last check."""

    def abort(self) -> None:
        """End it at once."""


class ConnectionTable:
    """Counts connections by address, and checks all of them once a second, which costs a request nothing.

    An address that has as many as it may gets another one in exchange for the one that has been without a request for
    the longest time. So unused connections keep nobody out, not even behind one address.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._by_address: defaultdict[str, set[Connection]] = defaultdict(set)
        self._next_sweep: asyncio.TimerHandle | None = None

    def add(self, connection: Connection) -> bool:
        """Count a new connection; False where its address has too many requests under way."""
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
        """Forget a connection that is closed, if it was counted."""
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
    """Return what one caller is counted by: an IPv4 address, or the /64 of an IPv6 address, which one machine has."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Address(int(address) >> _NETWORK_BITS << _NETWORK_BITS))

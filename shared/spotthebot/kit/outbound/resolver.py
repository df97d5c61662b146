"""Resolves names to checked addresses. The connection is made to exactly these addresses."""

import asyncio
import socket
from collections.abc import Sequence

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from spotthebot.kit.outbound.addresses import Network, refusal_of
from spotthebot.kit.outbound.errors import AddressNotAllowed
from spotthebot.kit.outbound.urls import HTTP, SOCKET, read_url

_SECONDS = 10.0
"""Time limit for one name: a slow name server must not delay other names."""


class CheckingResolver(AbstractResolver):
    """Resolves names with the system's resolver. Refuses a name if one of its addresses may not be called."""

    def __init__(self, allowed: Sequence[Network], resolver: AbstractResolver | None = None) -> None:
        self._allowed = allowed
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return checked addresses; raises AddressNotAllowed, and OSError if the name is not known."""
        try:
            async with asyncio.timeout(_SECONDS):
                found = await self._resolver.resolve(host, port, family)
        except (UnicodeError, TimeoutError) as error:
            message = "the name can't be resolved"
            raise OSError(message) from error
        for result in found:
            self.check(host, result["host"])
        return found

    def check(self, host: str, address: str) -> None:
        """Check one address of `host`; raises AddressNotAllowed.

        The error does not show the address of a name, since callers must not learn the answers of our name server.
        """
        if reason := refusal_of(address, self._allowed):
            shown = reason if host == address else "not all its addresses are public"
            raise AddressNotAllowed(host=host, reason=shown)

    async def addresses_of(self, host: str, port: int) -> list[str]:
        """Return the checked addresses of a host. The host is a name or an address."""
        try:
            self.check(host, host)
        except ValueError:
            return [found["host"] for found in await self.resolve(host, port)]
        return [host]

    async def check_url(self, url: str) -> None:
        """Check a URL and the addresses of its host; raises UrlNotUsable, and the errors of `resolve`."""
        read = read_url(url, HTTP | SOCKET)
        await self.addresses_of(read.host, read.port)

    async def close(self) -> None:
        await self._resolver.close()

"""Names to addresses, checked and pinned: what is returned is what the connection is made to."""

import socket
from collections.abc import Sequence

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from spotthebot.kit.outbound.addresses import Network, refusal_of
from spotthebot.kit.outbound.errors import AddressNotAllowed


class CheckingResolver(AbstractResolver):
    """Resolves through the system and refuses a name of which any address may not be called."""

    def __init__(self, allowed: Sequence[Network], resolver: AbstractResolver | None = None) -> None:
        self._allowed = allowed
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return checked addresses; raises AddressNotAllowed, and OSError where the name is not known."""
        found = await self._resolver.resolve(host, port, family)
        for result in found:
            self.check(host, result["host"])
        return found

    def check(self, host: str, address: str) -> None:
        """Check one address that `host` stands for; raises AddressNotAllowed."""
        if reason := refusal_of(address, self._allowed):
            raise AddressNotAllowed(host=host, reason=reason)

    async def addresses_of(self, host: str, port: int) -> list[str]:
        """Return checked addresses of a host, given as a name or as an address in any notation."""
        try:
            self.check(host, host)
        except ValueError:
            return [found["host"] for found in await self.resolve(host, port)]
        return [host]

    async def check_host(self, host: str, port: int) -> str:
        """Return an address of a host, given as a name or as an address in any notation, that may be called."""
        return (await self.addresses_of(host, port))[0]

    async def close(self) -> None:
        await self._resolver.close()

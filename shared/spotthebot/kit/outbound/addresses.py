"""Which addresses may be called: the public internet, and what the administrator allows beside it.

A stranger's URL is hostile until shown otherwise. The address that a connection is made to is checked, after
resolution: other spellings of a name or number end up here as the same address.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
_TRANSLATED = ip_network("64:ff9b::/96")  # NAT64 (RFC 6052): the last 32 bits are an IPv4 address


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Read networks such as `127.0.0.0/8`; raises ValueError."""
    return tuple(ip_network(text) for text in texts)


EVERYWHERE = networks(["0.0.0.0/0", "::/0"])
"""For calls to servers of our own, or from a user's own machine."""


def refusal_of(text: str, allowed: Sequence[Network]) -> str | None:
    """Say why an address may not be called; None where it may. Raises ValueError where it is none.

    Only global unicast addresses may: not private, loopback, link-local (where clouds keep their metadata), shared,
    multicast, reserved ones (RFC 6890). An IPv4 address inside an IPv6 one is checked as well.
    """
    for address in _addresses_in(ip_address(text.partition("%")[0])):
        if any(address.version == network.version and address in network for network in allowed):
            continue
        if not address.is_global or address.is_multicast:
            return f"{address} is {_kind(address)}"
    return None


def _addresses_in(address: Address) -> list[Address]:
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    found: list[Address] = [address]
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found.extend(address.teredo)
    if address in _TRANSLATED or 1 < int(address) < 2**32:
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return found


def _kind(address: Address) -> str:
    kinds = {
        "a loopback address": address.is_loopback,
        "a link-local address": address.is_link_local,
        "a multicast address": address.is_multicast,
        "unspecified": address.is_unspecified,
        "a private address": address.is_private,
    }
    return next((kind for kind, holds in kinds.items() if holds), "not a public address")

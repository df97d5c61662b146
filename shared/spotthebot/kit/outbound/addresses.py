"""Defines which addresses may be called: the public internet, and networks that the administrator allows in addition.

A stranger's URL is treated as hostile. The connector checks each address after name resolution, just before it
connects: by that time every spelling of a name or a number has become an address. The forbidden networks are listed one
by one, so that the result is the same with every release of Python.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

FORBIDDEN: tuple[tuple[str, str], ...] = (
    # The whole IANA IPv4 Special-Purpose Address Registry (RFC 6890): its reachable networks hold no bots either.
    ("0.0.0.0/8", "on this network (RFC 791)"),
    ("10.0.0.0/8", "a private address (RFC 1918)"),
    ("100.64.0.0/10", "an address of a provider's shared space (RFC 6598)"),
    ("127.0.0.0/8", "a loopback address (RFC 1122)"),
    ("169.254.0.0/16", "a link-local address (RFC 3927)"),
    ("172.16.0.0/12", "a private address (RFC 1918)"),
    ("192.0.0.0/24", "an address of an IETF protocol (RFC 6890)"),
    ("192.0.2.0/24", "an address for documentation (RFC 5737)"),
    ("192.31.196.0/24", "an address of AS112 (RFC 7535)"),
    ("192.52.193.0/24", "an address of multicast tunnels (RFC 7450)"),
    ("192.88.99.0/24", "an address of 6to4 relays (RFC 7526)"),
    ("192.168.0.0/16", "a private address (RFC 1918)"),
    ("192.175.48.0/24", "an address of AS112 (RFC 7534)"),
    ("198.18.0.0/15", "an address for benchmarks (RFC 2544)"),
    ("198.51.100.0/24", "an address for documentation (RFC 5737)"),
    ("203.0.113.0/24", "an address for documentation (RFC 5737)"),
    ("224.0.0.0/4", "a multicast address (RFC 5771)"),
    ("240.0.0.0/4", "a reserved address (RFC 1112)"),
    ("168.63.129.16/32", "the address of a cloud's host (Azure)"),
    # The whole IANA IPv6 Special-Purpose Address Registry, and networks that RFC 4291 and others reserve in addition.
    ("::1/128", "a loopback address (RFC 4291)"),
    ("::/128", "the unspecified address (RFC 4291)"),
    ("::/96", "an IPv4-compatible address (RFC 4291)"),
    ("::ffff:0:0/96", "an IPv4-mapped address (RFC 4291)"),
    ("::ffff:0:0:0/96", "an IPv4-translated address (RFC 2765)"),
    ("64:ff9b::/96", "a translated address (RFC 6052)"),
    ("64:ff9b:1::/48", "a translated address (RFC 8215)"),
    ("100::/64", "a discard address (RFC 6666)"),
    ("100:0:0:1::/64", "a dummy address (RFC 9780)"),
    ("2001::/23", "an address of an IETF protocol, such as Teredo or ORCHID (RFC 2928)"),
    ("2001:db8::/32", "an address for documentation (RFC 3849)"),
    ("2002::/16", "a 6to4 address (RFC 3056)"),
    ("2620:4f:8000::/48", "an address of AS112 (RFC 7534)"),
    ("3fff::/20", "an address for documentation (RFC 9637)"),
    ("5f00::/16", "a segment identifier (RFC 9602)"),
    ("fc00::/7", "a private address (RFC 4193)"),
    ("fe80::/10", "a link-local address (RFC 4291)"),
    ("fec0::/10", "a site-local address (RFC 3879)"),
    ("ff00::/8", "a multicast address (RFC 4291)"),
)
"""Networks that hold no bot, each with the kind of its addresses."""
_FORBIDDEN = tuple((ip_network(text), kind) for text, kind in FORBIDDEN)
_GLOBAL_UNICAST = ip_network("2000::/3")  # all that IANA has assigned for it (RFC 4291, section 2.4)
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
"""The first 32 bits of an interface identifier whose last 32 bits are an IPv4 address (RFC 5214)."""
_HOLD_IPV4 = tuple(
    (IPv6Network(text), shift)
    for text, shift in (
        *(("::/96", 0), ("::ffff:0:0/96", 0), ("::ffff:0:0:0/96", 0), ("64:ff9b::/96", 0)),
        *(("2002::/16", 80), ("2001::/32", 64)),
    )
)
"""Networks whose IPv6 addresses contain an IPv4 address, and by how many bits that is shifted."""
_TEREDO = IPv6Network("2001::/32")


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Read networks such as `127.0.0.0/8`; raises ValueError."""
    return tuple(ip_network(text) for text in texts)


EVERYWHERE = networks(["0.0.0.0/0", "::/0"])
"""For calls to our own servers, or from a user's own machine."""


def refusal_of(text: str, allowed: Sequence[Network]) -> str | None:
    """Return why an address may not be called; None if it may. Raises ValueError for a malformed address.

    An address may be called if it is in an allowed network, or if it is global unicast and in no forbidden network. If
    an IPv6 address contains an IPv4 address, that IPv4 address must be allowed as well.
    """
    for address in _addresses_in(ip_address(text.partition("%")[0])):
        if any(address.version == network.version and address in network for network in allowed):
            continue
        if (kind := _forbidden_kind(address)) is not None:
            return f"{address} is {kind}"
    return None


def _forbidden_kind(address: Address) -> str | None:
    for network, kind in _FORBIDDEN:
        if address.version == network.version and address in network:
            return kind
    if isinstance(address, IPv4Address):
        return None
    if address not in _GLOBAL_UNICAST:
        return "not a global address (RFC 4291)"
    return "an ISATAP address (RFC 5214)" if _is_isatap(address) else None


def _addresses_in(address: Address) -> list[Address]:
    if isinstance(address, IPv4Address):
        return [address]
    number = int(address)
    held = [IPv4Address(number >> shift & 0xFFFFFFFF) for network, shift in _HOLD_IPV4 if address in network]
    if _is_isatap(address):
        held.append(IPv4Address(number & 0xFFFFFFFF))
    if address in _TEREDO:
        held.append(IPv4Address(~number & 0xFFFFFFFF))  # the client's, next to its server's
    return [address, *held]


def _is_isatap(address: IPv6Address) -> bool:
    return int(address) >> 32 & 0xFFFFFFFF in _ISATAP

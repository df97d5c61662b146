"""Parses URLs of other people once, by one strict grammar, so that all code sees the same host in a URL.

The grammar is narrower than RFC 3986. A URL has no user, no fragment, and no host that a resolver, TLS or another
parser could read as a different host. A host is an IPv6 address in brackets, an IPv4 address as four decimal numbers,
or a name of letters, digits, `-` and `_` as in DNS (RFC 1035, section 2.3.1). A name in another script is written in
ASCII (RFC 5891).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from spotthebot.kit.outbound.errors import UrlNotUsable

HTTP = frozenset({"http", "https"})
SOCKET = frozenset({"ws", "wss"})
_TLS = frozenset({"https", "wss"})
_URL = re.compile(r"([A-Za-z]+)://([^/?#]*)(/[\x21-\x7e]*|\?[\x21-\x7e]*)?")
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_PART = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_NAME = 253


@dataclass(frozen=True)
class Url:
    """The parts of a URL.

    `host` is in lower case, an IPv6 address without brackets; `target` is the path with the query.
    """

    host: str
    port: int
    is_tls: bool
    target: str
    authority: str
    """The host and port, as the `Host` header has them."""


@lru_cache(maxsize=4096)
def read_url(text: str, schemes: frozenset[str], *, default_port: int | None = None) -> Url:
    """Parse a URL with one of `schemes`; raises UrlNotUsable.

    If the URL has no port, the port is `default_port`, or else the usual port of the scheme.
    """
    found = _URL.fullmatch(text)
    scheme = found[1].lower() if found else ""
    if found is None or scheme not in schemes:
        schemes_shown = " or ".join(f"{each}://" for each in sorted(schemes))
        raise UrlNotUsable(reason=f"it must begin with {schemes_shown} and a host")
    authority, target = found[2], found[3] or "/"
    if "#" in target:
        raise UrlNotUsable(reason="it has a fragment (#...)")
    if "@" in authority:
        raise UrlNotUsable(reason="it holds a user or a password")
    parts = _HOST_AND_PORT.fullmatch(authority)
    if parts is None:
        raise UrlNotUsable(reason="its host must be a name or an address, and its port a number")
    is_tls = scheme in _TLS
    usual = 443 if is_tls else 80
    port = int(parts[2]) if parts[2] else default_port or usual
    if not 0 < port < 2**16:
        raise UrlNotUsable(reason=f"its port {port} must be from 1 to 65535")
    host = _host(parts[1].lower())
    shown = f"[{host}]" if ":" in host else host
    return Url(
        host=host,
        port=port,
        is_tls=is_tls,
        target=target if target.startswith("/") else f"/{target}",
        authority=shown if port == usual else f"{shown}:{port}",
    )


def _host(text: str) -> str:
    if text.startswith("["):
        try:
            return str(IPv6Address(text[1:-1]))
        except ValueError as error:
            raise UrlNotUsable(reason=f"{text} is not an IPv6 address") from error
    dotted = text.removesuffix(".").split(".")
    if _NUMBER.fullmatch(dotted[-1]):  # resolvers read any spelling of a number as an IPv4 address
        try:
            return str(IPv4Address(text))
        except ValueError as error:
            raise UrlNotUsable(reason=f"{text} is not a canonical IPv4 address") from error
    if len(text) > _MAX_NAME:
        raise UrlNotUsable(reason=f"its host is longer than {_MAX_NAME} characters")
    if not all(map(_PART.fullmatch, dotted)):
        raise UrlNotUsable(reason="a part of its host is empty, too long, or begins or ends with a hyphen")
    return text

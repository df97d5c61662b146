"""Names in place of others, which only the holder of a key can make again."""

import base64
import hashlib
import hmac
import re
from typing import Final

_PSEUDONYM_BYTES: Final = 16
_PSEUDONYM: Final = re.compile(r"p-[0-9a-v]{26}")
_PROGRAM: Final = re.compile(r"simulated-\d{1,9}")


def keyed_name(key: bytes, named: bytes, *, size: int) -> str:
    """Return HMAC-SHA-256 of what is named under a key, of which `size` bytes are kept, in lower-case base32hex.

    >>> keyed_name(b"key", b"eliza", size=5)
    'qvqel4j0'
    """
    digest = hmac.digest(key, named, hashlib.sha256)[:size]
    return base64.b32hexencode(digest).decode().rstrip("=").lower()


def is_pseudonym(name: str) -> bool:
    """Return whether exports would show a name as somebody's pseudonym."""
    return _PSEUDONYM.fullmatch(name) is not None


def name_in_exports(key: bytes, named: bytes, name: str) -> str:
    """Return what exports call a person: HMAC-SHA-256 of what is named under a key, of which 128 bits are kept.

    Simulated people keep their name, and a pseudonym with which somebody came stays: an export that is imported again
    gives the same export.
    """
    if _PROGRAM.fullmatch(name) or is_pseudonym(name):
        return name
    return f"p-{keyed_name(key, named, size=_PSEUDONYM_BYTES)}"

"""Pseudonyms: names that replace other names. Only somebody with the secret key can compute them again."""

import base64
import hashlib
import hmac
import re
import secrets
from typing import Final

ERASED: Final = "erased"
"""Replaces texts about an erased person, and the frontend of their annotators; no frontend has this name."""
_PSEUDONYM_BYTES: Final = 16
_PSEUDONYM: Final = re.compile(r"p-[0-9a-v]{26}")


def keyed_name(key: bytes, named: bytes, *, size: int) -> str:
    """Return the first `size` bytes of HMAC-SHA-256 of `named` under `key`, in lower-case base32hex.

    >>> keyed_name(b"key", b"eliza", size=5)
    'qvqel4j0'
    """
    digest = hmac.digest(key, named, hashlib.sha256)[:size]
    return base64.b32hexencode(digest).decode().rstrip("=").lower()


def erased_name() -> str:
    """Draw a random name for a person who is erased; nobody can derive the person from it."""
    return f"{ERASED}-{secrets.token_hex(_PSEUDONYM_BYTES)}"


def is_pseudonym(name: str) -> bool:
    """Return whether a name has the form that pseudonyms have in exports."""
    return _PSEUDONYM.fullmatch(name) is not None


def name_in_exports(key: bytes, named: bytes, name: str) -> str:
    """Return the name of a person in exports: 128 bits of HMAC-SHA-256 of `named` under `key`.

    A `name` that already is a pseudonym stays, so that an export that was imported is exported unchanged.
    """
    if is_pseudonym(name):
        return name
    return f"p-{keyed_name(key, named, size=_PSEUDONYM_BYTES)}"

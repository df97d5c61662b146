"""Names in place of others, which only the holder of a key can make again."""

import base64
import hashlib
import hmac


def keyed_name(key: bytes, named: bytes, *, size: int) -> str:
    """Return HMAC-SHA-256 of what is named under a key, of which `size` bytes are kept, in lower-case base32hex.

    >>> keyed_name(b"key", b"eliza", size=5)
    'qvqel4j0'
    """
    digest = hmac.digest(key, named, hashlib.sha256)[:size]
    return base64.b32hexencode(digest).decode().rstrip("=").lower()

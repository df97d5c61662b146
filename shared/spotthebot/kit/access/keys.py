"""The form of an API key: `stb_<role>_<id>_<secret>`, of which only a hash of the secret is kept.

The secret is 256 random bits, so one round of SHA-256 is enough: there is no guessable password to slow down for.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

_FORM = re.compile(r"stb_([a-z]+)_([0-9a-f]{32})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class ApiKey:
    """A key without its secret, of which only a hash is stored."""

    id: UUID
    role: str
    team: str | None
    note: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True)
class Principal:
    """The caller of an endpoint: its key, role and team."""

    key_id: UUID
    role: str
    team: str | None


def make_key(role: str, key_id: UUID) -> tuple[str, bytes]:
    """Return a new key's text, to be shown once, and the hash of its secret, to be stored."""
    secret = secrets.token_urlsafe(32)
    return f"stb_{role}_{key_id.hex}_{secret}", hash_secret(secret)


def parse_key(text: str) -> tuple[UUID, str] | None:
    """Split a key into its id and its secret; None where the text has another form."""
    match = _FORM.fullmatch(text)
    return (UUID(match[2]), match[3]) if match else None


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 that is stored."""
    return hashlib.sha256(secret.encode()).digest()


def same_secret(secret: str, stored: bytes) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(hash_secret(secret), stored)

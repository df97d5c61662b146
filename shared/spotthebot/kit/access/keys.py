"""API keys have the form `stb_<role>_<id>_<secret>`. Only a hash of the secret is stored.

The secret is 256 random bits, so one round of SHA-256 is enough. A slow hash would protect only a password that can be
guessed.
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
    """A stored API key. It has only a hash of the secret, not the secret itself."""

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

    @property
    def owner(self) -> str:
        """Return the owner of what the caller stores: its team, or the key itself if it has no team.

        The team stays the owner when its key is replaced.
        """
        return f"team {self.team}" if self.team else f"key {self.key_id}"


def make_key(role: str, key_id: UUID) -> tuple[str, bytes]:
    """Return a new key's text, which is shown once, and the hash of its secret, which is stored."""
    secret = secrets.token_urlsafe(32)
    return f"stb_{role}_{key_id.hex}_{secret}", hash_secret(secret)


def parse_key(text: str) -> tuple[UUID, str] | None:
    """Split the text of a key into its id and its secret; None if the text has another form."""
    match = _FORM.fullmatch(text)
    return (UUID(match[2]), match[3]) if match else None


def role_of(text: str) -> str | None:
    """Return the role that the text of a key claims; None if the text has another form."""
    match = _FORM.fullmatch(text)
    return match[1] if match else None


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 hash of a secret. Only this hash is stored."""
    return hashlib.sha256(secret.encode()).digest()


def same_secret(secret: str, stored: bytes) -> bool:
    """Return whether a secret has the stored hash. The comparison takes constant time."""
    return hmac.compare_digest(hash_secret(secret), stored)

"""Encrypts secrets for storage. The database never sees the key."""

import contextlib
import os
import tempfile
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class KeyFileOpen(ValueError):
    """The file of keys can be read by others: `chmod 600` it."""


class Unreadable(Exception):
    """The value was sealed with another key, or too long ago."""


class Vault:
    """Seals and opens secrets (Fernet: AES-128-CBC with HMAC-SHA-256).

    The first key seals; each of the keys can open.
    """

    def __init__(self, keys: str) -> None:
        self._fernet = MultiFernet([Fernet(key) for key in keys.replace(",", " ").split()])

    def seal(self, secret: str) -> bytes:
        return self._fernet.encrypt(secret.encode())

    def open(self, sealed: bytes, *, max_age_seconds: int | None = None) -> str:
        """Return the secret; raises Unreadable if no key fits, or if it was sealed too long ago."""
        try:
            return self._fernet.decrypt(sealed, ttl=max_age_seconds).decode()
        except InvalidToken:
            raise Unreadable from None


def vault_from(keys: str, key_file: Path) -> Vault:
    """Return a vault with the given keys, or else with the keys in a file.

    If the file is missing, it is made with a new key, readable only by its owner. Raises KeyFileOpen if others may read
    the file, and ValueError for a malformed key.
    """
    return Vault(keys or _read_or_make(key_file))


def _read_or_make(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # Mode 0600, and complete before it gets its name. Unbuffered, so that a full disk fails here and not at close.
        with tempfile.NamedTemporaryFile(dir=path.parent, buffering=0) as made:
            made.write(Fernet.generate_key())
            with contextlib.suppress(FileExistsError):
                os.link(made.name, path)
    return read_private(path)


def read_private(path: Path) -> str:
    """Return the text of a file of keys; raises KeyFileOpen if others may read it."""
    if path.stat().st_mode & 0o077:
        raise KeyFileOpen(KeyFileOpen.__doc__)
    return path.read_text(encoding="utf-8")

"""Secrets at rest: encrypted with a key that the database never sees."""

import contextlib
import os
import tempfile
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class KeyFileOpen(ValueError):
    """The file of the encryption key can be read by others: `chmod 600` it."""


class Unreadable(Exception):
    """Sealed with another key, or too long ago."""


class Vault:
    """Seals and opens secrets (Fernet: AES-128-CBC with HMAC-SHA-256). The first key seals, any of them opens."""

    def __init__(self, keys: str) -> None:
        self._fernet = MultiFernet([Fernet(key) for key in keys.replace(",", " ").split()])

    def seal(self, secret: str) -> bytes:
        return self._fernet.encrypt(secret.encode())

    def open(self, sealed: bytes, *, max_age_seconds: int | None = None) -> str:
        """Return the secret; raises Unreadable where none of the keys fits, or it was sealed too long ago."""
        try:
            return self._fernet.decrypt(sealed, ttl=max_age_seconds).decode()
        except InvalidToken:
            raise Unreadable from None


def vault_from(keys: str, key_file: Path) -> Vault:
    """Open the vault with the keys given, or with those in a file, which is made, readable by us alone, if missing.

    Raises KeyFileOpen where others may read the file, and ValueError for what is no key.
    """
    return Vault(keys or _read_or_make(key_file))


def _read_or_make(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # 0600, and whole before it has its name; without a buffer, which a full disk would leave to be written.
        with tempfile.NamedTemporaryFile(dir=path.parent, buffering=0) as made:
            made.write(Fernet.generate_key())
            with contextlib.suppress(FileExistsError):
                os.link(made.name, path)
    if path.stat().st_mode & 0o077:
        raise KeyFileOpen(KeyFileOpen.__doc__)
    return path.read_text()

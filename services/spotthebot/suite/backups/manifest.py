"""What a backup says of itself: its release, the schemas' revisions, the size and hash of each member."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

FORMAT = 1
"""Counted up when a file is made that an earlier release can't read."""
NAME = "manifest.json"
DATABASE, MODELS, KEYS = "database", "models", "keys"
"""The folders in a backup."""


@dataclass(frozen=True)
class Member:
    """A file in the backup: its size in bytes and its SHA-256 in hexadecimal."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The content of a backup."""

    format: int
    release: str
    """The version of Spot The Bot."""
    created_at: str
    postgresql: int
    """The server's major version."""
    schemas: Mapping[str, str]
    """The newest migration of each schema."""
    members: Mapping[str, Member]

    def text(self) -> bytes:
        return (json.dumps(asdict(self), indent=2) + "\n").encode()


def read_manifest(text: bytes) -> Manifest:
    """Return a manifest; raises ValueError, TypeError or KeyError for what is none."""
    content: dict[str, Any] = json.loads(text)
    members = {str(name): Member(**facts) for name, facts in content.pop("members").items()}
    for name in members:
        parts = name.split("/")
        if len(parts) < 2 or parts[0] not in {DATABASE, MODELS, KEYS} or not {"", ".", ".."}.isdisjoint(parts):
            message = f"it holds a file called {name!r}"
            raise ValueError(message)
    return Manifest(**content, members=members)


def member_of(schema: str) -> str:
    """Return the name of a schema's dump."""
    return f"{DATABASE}/{schema}.dump"

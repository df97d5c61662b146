"""The manifest of a backup: the release that made it, the schemas' revisions, and the size and hash of each member."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import Field, StringConstraints, TypeAdapter

FORMAT: Final = 1
"""Increased whenever earlier releases can't read the new files."""
NAME: Final = "manifest.json"
DATABASE, MODELS, KEYS = "database", "models", "keys"
"""The folders in a backup."""
_MAX_FOLDERS: Final = 50
_LONGEST_NAME: Final = 255
"""The maximum of bytes in a file's name, as file systems allow."""

_Word = Annotated[str, StringConstraints(pattern=r"^[\w.+-]{1,100}$")]
_Moment = Annotated[str, StringConstraints(pattern=r"^[0-9T:.+Z-]{1,40}$")]
"""Shown in the terminal exactly as in the file."""


@dataclass(frozen=True)
class Member:
    """A file in a backup: its size in bytes, and its SHA-256 in hexadecimal."""

    bytes: Annotated[int, Field(ge=0)]
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The manifest of a backup, which describes its content."""

    format: Annotated[int, Field(ge=1)]
    release: _Word
    """The version of Spot The Bot."""
    created_at: _Moment
    postgresql: Annotated[int, Field(ge=1)]
    """The server's major version."""
    schemas: Mapping[_Word, _Word]
    """The newest migration of each schema."""
    members: Mapping[str, Member]

    def text(self) -> bytes:
        return (json.dumps(asdict(self), indent=2) + "\n").encode()


_MANIFEST: Final = TypeAdapter(Manifest)


def read_manifest(text: bytes) -> Manifest:
    """Parse a manifest; raises ValidationError if it is not valid, and ValueError for an unsafe file name.

    Unknown fields come from a newer format and are ignored.
    """
    manifest = _MANIFEST.validate_json(text, strict=True)
    for name in manifest.members:
        if (fault := _fault_of(name)) is not None:
            message = f"it holds a file called {name[:100]!a}{fault}"
            raise ValueError(message)
    if (both := _file_and_folder(manifest.members)) is not None:
        message = f"{both!a} is a file and a folder in it"
        raise ValueError(message)
    return manifest


def member_of(schema: str) -> str:
    """Return the name of the member that has a schema's dump."""
    return f"{DATABASE}/{schema}.dump"


def _fault_of(name: str) -> str | None:
    parts = name.split("/")
    if len(parts) < 2 or parts[0] not in {DATABASE, MODELS, KEYS} or not {"", ".", ".."}.isdisjoint(parts):
        return ""
    if len(parts) > _MAX_FOLDERS:
        return f", {len(parts):,} folders deep"
    if not name.isprintable() or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return ", which is not a valid file name"
    return None


def _file_and_folder(names: Iterable[str]) -> str | None:
    """Return the first name that is the name of a file and also of a folder."""
    files = set(names)
    folders = {str(parent) for name in files for parent in PurePosixPath(name).parents}
    return min(files & folders, default=None)

"""The file of a backup: a ZIP archive, which is written sequentially and can be read by common tools.

Its members are not compressed, because dumps are compressed already and the weights of models don't shrink. Its
manifest names the release that made it, the schemas' revisions, and the size and hash of each member.
"""

import hashlib
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Annotated, Final

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from spotthebot.kit.text.characters import printable
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.whole_files import written
from spotthebot.operations.backups.errors import BackupDamaged, NewerBackup, NotABackup

PIECE_BYTES: Final = 1024 * 1024
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, ValueError, OSError, OverflowError),
    RuntimeError,  # encrypted members, or members with an unknown compression
)
"""The errors of `zipfile` for a damaged archive."""
_MANIFEST_BYTES = 64 * 1024 * 1024
Advance = Callable[[int], None]
"""A function that gets the number of processed bytes."""
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


class BackupWriter:
    """Adds members to a backup and remembers their hashes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.members: dict[str, Member] = {}

    def add(self, name: str, pieces: Iterable[bytes], advance: Advance) -> None:
        """Write a member piece by piece. Only one piece is in memory at a time."""
        digest, size = hashlib.sha256(), 0
        with self._archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                digest.update(piece)
                size += len(piece)
                advance(len(piece))
        self.members[name] = Member(size, digest.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest, which completes the backup."""
        self._archive.writestr(zipfile.ZipInfo(NAME), manifest.text())


@contextmanager
def writing(path: Path) -> Iterator[BackupWriter]:
    """Open a backup for writing. Only its owner can read it. It gets its name if the block ends without an error."""
    with written(path) as file:
        os.fchmod(file.fileno(), 0o600)
        with zipfile.ZipFile(file, "w") as archive:
            yield BackupWriter(archive)
        file.flush()
        os.fsync(file.fileno())


class BackupReader:
    """A backup opened for reading: its manifest and its members."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, release: str) -> None:
        self.path = path
        self._archive = archive
        self.manifest = self._read_manifest(release)

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the content of a member piece by piece; raises BackupDamaged."""
        try:
            if self._archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
                raise BackupDamaged(path=self.path, reason=f"{name} is compressed, which backups never do")
            with self._archive.open(name) as member:
                yield from pieces_of(member)
        except _BROKEN as error:
            raise BackupDamaged(path=self.path, reason=f"{name}: {_sentence(error)}") from error

    def verify(self, advance: Advance) -> None:
        """Read the whole backup; raises BackupDamaged if a byte differs from the written backup."""
        for name, expected in self.manifest.members.items():
            digest, size = hashlib.sha256(), 0
            for piece in self.pieces(name):
                digest.update(piece)
                size += len(piece)
                advance(len(piece))
            if (size, digest.hexdigest()) != (expected.bytes, expected.sha256):
                raise BackupDamaged(path=self.path, reason=f"{name} has changed since it was written")

    def _read_manifest(self, release: str) -> Manifest:
        try:
            info = self._archive.getinfo(NAME)
        except KeyError as error:
            raise NotABackup(path=self.path) from error
        try:
            with self._archive.open(info) as file:
                manifest = read_manifest(file.read(_MANIFEST_BYTES))
        except _BROKEN as error:
            raise BackupDamaged(path=self.path, reason=f"{NAME}: {_sentence(error)}") from error
        if manifest.format > FORMAT:
            raise NewerBackup(path=self.path, made_by=manifest.release, release=release)
        return manifest


@contextmanager
def reading(path: Path, release: str) -> Iterator[BackupReader]:
    """Open a backup for reading; raises NotABackup, BackupDamaged, NewerBackup, and OSError if the file is missing."""
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise NotABackup(path=path) from error
        with archive:
            yield BackupReader(path, archive, release)


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the rest of an open file piece by piece."""
    while piece := file.read(PIECE_BYTES):
        yield piece


def _sentence(error: Exception) -> str:
    said = faults_of(error)[0] if isinstance(error, ValidationError) else printable(str(error))
    return said.rstrip(".") or type(error).__name__


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

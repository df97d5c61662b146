"""Model directories on the disk: which directories a request may name, which files it may upload, and their hashes."""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spotthebot.inference.errors import DirectoryOutside, FileTooLarge, NotAModelFile

_UPLOADS = "uploads"
_NAME = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,200}")
_KINDS = (".safetensors", ".json", ".txt", ".model", ".jinja")
_PIECE = 1024 * 1024


@dataclass(frozen=True)
class ModelFile:
    """A file of a model; `name` is its path below the model's directory."""

    name: str
    bytes: int
    sha256: str


class ModelFolder:
    """The folder of hosted models.

    Uploads are in `uploads/NAME`; a request may name any other directory by its path.
    """

    def __init__(self, path: Path, *, largest_file_bytes: int) -> None:
        self._path = path
        self._largest = largest_file_bytes

    def directory_of(self, name: str, named: str | None) -> Path:
        """Return a hosted model's directory: `named`, or the folder of its uploads.

        Raises DirectoryOutside if `named` is not below the folder.
        """
        return self._path / _UPLOADS / name if named is None else self.named(named)

    def named(self, directory: str) -> Path:
        """Return a directory below the folder; raises DirectoryOutside."""
        root = self._path.resolve()
        found = (root / directory).resolve()
        if not found.is_relative_to(root) or found == root or not found.is_dir():
            raise DirectoryOutside(directory=directory)
        return found

    def find(self, model: str) -> Path | None:
        """Return the directory of a model; None if the text can only be a name on a model hub.

        Raises DirectoryOutside for a path that leads out of the folder, and for a missing directory below an existing
        one.
        """
        parent = model.rpartition("/")[0]
        if any((self._path / each).is_dir() for each in (model, parent) if each) or model.startswith(("/", ".", "~")):
            return self.named(model)
        return None

    async def receive(self, model: str, name: str, pieces: AsyncIterator[bytes]) -> ModelFile:
        """Write an upload to the disk, completely or not at all; raises NotAModelFile and FileTooLarge."""
        if not _NAME.fullmatch(name) or not (name.endswith(_KINDS) or name == "README.md"):
            raise NotAModelFile(name=name)
        directory = self._path / _UPLOADS / model
        directory.mkdir(parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        unfinished = self._path / f".upload-{secrets.token_hex(8)}"
        try:
            with unfinished.open("xb") as file:
                async for piece in pieces:
                    size += len(piece)
                    if size > self._largest:
                        raise FileTooLarge(name=name, largest=self._largest)
                    digest.update(piece)
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, directory / name)  # noqa: PTH105 - one call of the system, which is over at once
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(unfinished)  # noqa: PTH108 - as above
        return ModelFile(name=name, bytes=size, sha256=digest.hexdigest())

    def remove_uploads(self, model: str) -> None:
        """Delete the uploaded files of a model. A directory that a request named is never touched."""
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._path / _UPLOADS / model)


def files_in(directory: Path) -> list[ModelFile]:
    """Hash all files of a directory and its subdirectories. Call it in a thread: it is slow for large files."""
    return [
        ModelFile(name=str(path.relative_to(directory)), bytes=path.stat().st_size, sha256=_sha256(path))
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    ]


def files_sha256_of(files: Sequence[ModelFile]) -> str:
    """Return one SHA-256 for all files: the hash of the lines that `sha256sum` would print for them, sorted by name."""
    lines = sorted((file.name, file.sha256) for file in files)
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()

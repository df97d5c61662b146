"""The location of a dump: a folder, or the published zip, possibly with its files in a sub-folder."""

import zipfile
import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, TypeVar

from spotthebot.importers.published_dump.errors import DumpFileMissing, DumpIsTooLarge, DumpNotReadable
from spotthebot.readers.files.json_rows import Source

_JUNK = "__MACOSX"
_Place = TypeVar("_Place")


def open_source(path: Path, files: Iterable[str], limit: int) -> Source:
    """Open the folder or zip that holds all of `files`, searched by name in all sub-folders.

    Raises an `Invalid` error if a file is missing, damaged or found twice, or if the unpacked files have more than
    `limit` bytes. A zip is unpacked once to compare its checksums, so that damage is found before the first row is
    used.
    """
    if not path.exists():
        raise DumpNotReadable(place=path, reason="there is no such file or folder")
    return _Folder(path, files, limit) if path.is_dir() else _Zip(path, files, limit)


class _Folder:
    def __init__(self, path: Path, files: Iterable[str], limit: int) -> None:
        self._paths: dict[str, Path] = {}
        for file in files:
            candidates = (path / file, *sorted(path.glob(f"*/{file}")))
            found = [place for place in candidates if place.is_file() and not _is_junk(place, path)]
            self._paths[file] = _only_one(found, file, path)
        _check_size(sum(place.stat().st_size for place in self._paths.values()), path, limit)

    def open(self, file: str) -> AbstractContextManager[IO[bytes]]:
        return self._paths[file].open("rb")

    def close(self) -> None:
        """Do nothing, because no file stays open between two reads."""


class _Zip:
    def __init__(self, path: Path, files: Iterable[str], limit: int) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise DumpNotReadable(place=path, reason=f"it is not a complete zip file ({error})") from error
        try:
            self._entries = {file: _only_one(self._named(file), file, path) for file in files}
            _check_size(sum(entry.file_size for entry in self._entries.values()), path, limit)
            self._check_contents(path)
        except BaseException:
            self._zip.close()
            raise

    def open(self, file: str) -> AbstractContextManager[IO[bytes]]:
        return self._zip.open(self._entries[file])

    def close(self) -> None:
        self._zip.close()

    def _named(self, file: str) -> list[zipfile.ZipInfo]:
        return [
            entry
            for entry in self._zip.infolist()
            if (place := PurePosixPath(entry.filename)).name == file and not _is_junk(place, PurePosixPath())
        ]

    def _check_contents(self, path: Path) -> None:
        for file, entry in self._entries.items():
            try:
                with self._zip.open(entry) as content:
                    while content.read(1024**2):
                        pass
            # An encrypted entry is a RuntimeError to zipfile, an unknown compression a NotImplementedError.
            except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
                raise DumpNotReadable(place=path, reason=f"{file} inside it is damaged ({error})") from error


def _is_junk(place: PurePath, root: PurePath) -> bool:
    """Return whether a file is a shadow file that macOS adds to zips."""
    return _JUNK in place.relative_to(root).parts


def _only_one(found: list[_Place], file: str, path: Path) -> _Place:
    if not found:
        raise DumpFileMissing(place=path, file=file)
    if len(found) > 1:
        raise DumpNotReadable(place=path, reason=f"it holds {len(found)} files named {file}")
    return found[0]


def _check_size(size: int, path: Path, limit: int) -> None:
    if size > limit:
        raise DumpIsTooLarge(place=path, size=size, limit=limit)

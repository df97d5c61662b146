"""A log that is bounded: a file that is full becomes the first of a few older ones, the last of which goes."""

import os
from contextlib import suppress
from pathlib import Path

MAX_BYTES = 10_000_000
OLDER_FILES = 2


class LogFile:
    """A file that lines are appended to; `NAME.log.1` and `NAME.log.2` hold what was written before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)

    def write(self, line: bytes) -> None:
        """Append a line; one that the disk has no room for is lost, and the process that wrote it goes on."""
        with suppress(OSError):
            if self._file.tell() > MAX_BYTES:
                shift_older(self._path)
                full, self._file = self._file, self._path.open("ab", buffering=0)
                full.close()
            self._file.write(line + b"\n")

    def close(self) -> None:
        self._file.close()


def shift_older(path: Path) -> None:
    """Make a log the first of its older files."""
    for number in range(OLDER_FILES, 0, -1):
        before = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
        with suppress(FileNotFoundError):
            before.replace(path.with_name(f"{path.name}.{number}"))


def cut(path: Path) -> None:
    """Move what a log holds to its first older file where another process keeps the log open for appending.

    What that process writes at this very moment is lost.
    """
    with suppress(OSError):
        if path.stat().st_size <= MAX_BYTES:
            return
        older = path.with_name(f"{path.name}.1")
        with suppress(OSError):  # on a full disk the older file stays behind
            older.unlink(missing_ok=True)
            handle = os.open(older, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode=0o600)
            with os.fdopen(handle, "wb") as copy:
                copy.write(path.read_bytes()[-MAX_BYTES:])
        os.truncate(path, 0)

"""Log files of limited size.

A full file is renamed to become the first of a few older files, and the oldest is deleted.
"""

import os
from contextlib import suppress
from pathlib import Path

MAX_BYTES = 10_000_000
OLDER_FILES = 2


class LogFile:
    """A file to which lines are appended. `NAME.log.1` and `NAME.log.2` hold earlier lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)

    def write(self, line: bytes) -> None:
        """Append a line. If the disk is full, the line is lost, and the process that printed it continues."""
        with suppress(OSError):
            if self._file.tell() > MAX_BYTES:
                shift_older(self._path)
                full, self._file = self._file, self._path.open("ab", buffering=0)
                full.close()
            self._file.write(line + b"\n")

    def close(self) -> None:
        self._file.close()


def shift_older(path: Path) -> None:
    """Rename a log to the first of its older files, after renaming each older file to the next."""
    for number in range(OLDER_FILES, 0, -1):
        before = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
        with suppress(FileNotFoundError):
            before.replace(path.with_name(f"{path.name}.{number}"))


def cut(path: Path) -> None:
    """Copy a full log to its first older file, and empty the log. Another process keeps the log open for appending.

    Lines that the process writes at this very moment are lost.
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

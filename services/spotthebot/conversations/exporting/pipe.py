"""A file that is written at one end and taken away at the other, so that it never has to exist as a whole."""

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer  # collections.abc has it from Python 3.12


class Pipe(io.RawIOBase):
    """Takes what writers of files write, and gives it out in the same order; it can't be sought in."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        part = bytes(data)
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken

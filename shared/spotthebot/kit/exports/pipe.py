"""A file that one end writes and the other takes, so that it never exists as a whole."""

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer  # collections.abc has it from Python 3.12


class Pipe(io.RawIOBase):
    """Collects the writes of a file's writer and returns them in the same order; it can't be sought in."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        part = bytes(data)
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        """Return the bytes that were written since the last call."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken

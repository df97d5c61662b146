"""A file in memory that one side writes and the other side reads, so that the whole file is never in memory."""

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer  # collections.abc has it from Python 3.12


class Pipe(io.RawIOBase):
    """Collects the bytes that a writer writes, and returns them in the same order. It can't seek."""

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

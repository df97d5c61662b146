"""The rejected rows of files, and the faults of their fields."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rejected:
    """A row that could not be read, or that contradicts an earlier row; lines count from 1.

    `bots` are the bots that the row names; `rows` counts the rows rejected together with it.
    """

    file: str
    line: int
    reason: str
    bots: tuple[str, ...] = ()
    rows: int = 1

    @property
    def summary(self) -> dict[str, str | int]:
        """The form that `--json` writes."""
        return {"file": self.file, "line": self.line, "reason": self.reason}


class FieldFault(Exception):
    """A fault of a row, explained to the person who has to correct the row."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)

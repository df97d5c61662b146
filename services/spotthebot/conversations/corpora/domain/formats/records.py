"""The records of a file: dialogues, rejected lines with the reason, and skipped dialogues."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class ReadDialogue:
    """A valid dialogue; `line` is its first line, counted from 1.

    `key` is the source's key, or a hash of the turns. `split` is the split that the line names, if any. `persona` has
    one text for each speaker.
    """

    line: int
    key: str
    turns: tuple[str, ...]
    split: str | None = None
    persona: tuple[str, str] | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class RejectedLine:
    """A line without a valid dialogue; lines count from 1."""

    line: int
    reason: str


@dataclass(frozen=True)
class Skipped:
    """A dialogue that the upload does not want, such as one with a bot."""

    line: int


Outcome: TypeAlias = ReadDialogue | RejectedLine | Skipped


class Fault(Exception):
    """The reason why a line is rejected."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)

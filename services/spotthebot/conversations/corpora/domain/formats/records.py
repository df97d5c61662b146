"""The records of a file: dialogues, rejected lines with the reason, and dialogues that were not requested."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class ReadDialogue:
    """A dialogue that keeps the rules; `line` is where it begins, counted from 1.

    `key` is the source's own, or a hash of the turns where it has none. `split` is the line's own, if it names one.
    `persona` has one text for each speaker.
    """

    line: int
    key: str
    turns: tuple[str, ...]
    split: str | None = None
    persona: tuple[str, str] | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class RejectedLine:
    """A line that holds no dialogue that could be kept; lines count from 1."""

    line: int
    reason: str


@dataclass(frozen=True)
class Skipped:
    """A dialogue that was not asked for."""

    line: int


Outcome: TypeAlias = ReadDialogue | RejectedLine | Skipped


class Fault(Exception):
    """Why a line is rejected."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)

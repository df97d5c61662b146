"""The errors of declaration files.

Invalid
└── DeclarationFaulty
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spotthebot.kit.errors import Invalid


@dataclass(frozen=True)
class Fault:
    """One fault of a file: its line, its key, and what to do about it."""

    line: int | None
    key: str
    reason: str

    def message(self, file: Path) -> str:
        place = f"{file}" if self.line is None else f"{file}, line {self.line}"
        return ": ".join(part for part in (place, self.key, self.reason) if part)


class DeclarationFaulty(Invalid):
    """{messages}"""  # noqa: D400 - each fault is a sentence with its place

    def __init__(self, file: Path, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(messages="\n".join(fault.message(file) for fault in faults))

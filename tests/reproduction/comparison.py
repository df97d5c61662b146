"""A table of published figures beside ours and the reference's; `pytest -s` shows it."""

from dataclasses import dataclass, field
from typing import Final, Literal

_SHORTENED: Final = {
    "rounded": lambda value, digits: round(value + 1e-9, digits),
    "truncated": lambda value, digits: int(value * 10**digits + 1e-9) / 10**digits,
}


@dataclass
class Comparison:
    """Rows of (what, paper, ours, reference); the paper's figure is None where it prints none."""

    title: str
    _rows: list[tuple[str, float | None, float | None, float | None]] = field(default_factory=list)

    def add(self, what: str, paper: float | None, ours: float | None, reference: float | None) -> None:
        self._rows.append((what, paper, ours, reference))

    def print(self) -> None:
        """Print `paper | ours | reference | difference`, the difference being ours from the paper's."""
        print(f"\n{self.title}\n{'':32}{'paper':>10}{'ours':>12}{'reference':>12}{'difference':>12}")
        for what, paper, ours, reference in self._rows:
            difference = None if paper is None or ours is None else ours - paper
            cells = [_cell(paper, 10, 2), _cell(ours, 12, 6), _cell(reference, 12, 6), _cell(difference, 12, 4)]
            print(f"{what:32}{''.join(cells)}")

    def furthest_from_reference(self) -> float:
        """Return the largest distance of ours from the reference; a figure that one has and the other lacks is inf."""
        return max((_distance(ours, reference) for _, _, ours, reference in self._rows), default=float("inf"))

    def furthest_from_print(self) -> float:
        """Return the largest distance of ours from the paper's figure."""
        return max((_distance(ours, paper) for _, paper, ours, _ in self._rows), default=float("inf"))

    def printed_alike(self, *digitisings: Literal["rounded", "truncated"], digits: int = 2) -> int:
        """Count the rows whose figure, rounded or cut to so many digits (either, where both are given), is printed."""
        return sum(
            paper is not None
            and ours is not None
            and any(abs(_SHORTENED[how](ours, digits) - paper) < 1e-9 for how in digitisings)
            for _, paper, ours, _ in self._rows
        )

    def __len__(self) -> int:
        return len(self._rows)


def _distance(ours: float | None, reference: float | None) -> float:
    if ours is None or reference is None:
        return 0.0 if ours is reference else float("inf")
    return abs(ours - reference)


def _cell(value: float | None, width: int, digits: int) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.{digits}f}"

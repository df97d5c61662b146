"""What a benchmark measures: our seconds against a named rival's in the same run, and whether both say the same."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Measurement:
    """One row of the table; `rival_seconds` is None where there is no rival, and `scaled` says how a rival was scaled.

    `goal` and `reached` are sentences for people; `agreement` says how far apart the two answers are.
    """

    work: str
    rival: str
    seconds: float
    rival_seconds: float | None
    scaled: str
    agreement: str
    goal: str
    reached: bool

    @property
    def ratio(self) -> float | None:
        """How many times faster than the rival."""
        return None if self.rival_seconds is None else self.rival_seconds / self.seconds

    def cells(self) -> list[str]:
        """Return the cells of the table's row."""
        rival = "-" if self.rival_seconds is None else f"{self.rival_seconds:,.1f} s"
        scaled = f" ({self.scaled})" if self.scaled else ""
        return [
            self.work,
            f"{self.seconds:.3g} s",
            self.rival,
            rival + scaled,
            "-" if self.ratio is None else f"{self.ratio:,.0f}x",
            self.agreement,
            self.goal,
            "yes" if self.reached else "**no**",
        ]


def timed(work: Callable[[], Answer], *, repeats: int = 1) -> tuple[Answer, float]:
    """Return what `work` answers and the seconds of its fastest run."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - start)
    return answer, best

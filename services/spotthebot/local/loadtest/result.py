"""The results of a soak."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from spotthebot.local.loadtest.plan import BOUNDS_MS, LoadPlan


@dataclass(frozen=True)
class Requests:
    """The requests of one kind: percentiles of their times, in milliseconds."""

    kind: str
    count: int
    p50: float
    p99: float
    longest: float

    @property
    def bound(self) -> int:
        return BOUNDS_MS[self.kind]

    @property
    def is_in_bounds(self) -> bool:
        return self.p99 <= self.bound


@dataclass(frozen=True)
class Memory:
    """The memory of one process, in MiB: at the end of the warm-up, at the end, and all samples."""

    name: str
    first: float
    last: float
    samples: tuple[tuple[float, float], ...]
    """Minutes since the warm-up, and MiB."""


@dataclass(frozen=True)
class LoadResult:
    """A soak: its plan, the requests and the memory after the warm-up, and the reasons for which it failed."""

    plan: LoadPlan
    requests: tuple[Requests, ...]
    memory: tuple[Memory, ...]
    processor: Mapping[str, float]
    """Seconds of processor time of each process after the warm-up, and of the load itself."""
    faults: Mapping[str, int]
    labels: int
    """Labels that were acknowledged, those of the warm-up too."""
    turns: int
    """Turns of bots in collections that were completed."""
    restarts: int
    """Processes that died or hung."""

    @property
    def failures(self) -> list[str]:
        """Return the reasons of the failure; empty if the soak passed."""
        found = [f"{count} times: {text}" for text, count in self.faults.items()]
        if self.restarts:
            found.append(f"{self.restarts} processes died or hung")
        found += [
            f"{each.kind}: p99 {each.p99:.0f} ms, and {each.bound} are allowed"
            for each in self.requests
            if not each.is_in_bounds
        ]
        return found

    @property
    def account(self) -> dict[str, Any]:
        """Return all results as values for JSON."""
        requests = [asdict(each) | {"bound": each.bound} for each in self.requests]
        return {**asdict(self), "requests": requests, "failures": self.failures}

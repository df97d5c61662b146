"""Intervals and claims of one judge and kind, and their figures."""

from dataclasses import dataclass, field

import numpy as np

from spotthebot.analytics.stats.judged.intervals import Interval

_ROUNDING = 1e-9


@dataclass
class Tally:
    """All intervals of one judge and kind in a cell, as lists, and the false claims of `claims` campaigns."""

    held: list[bool] = field(default_factory=list)
    people_held: list[bool] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    people_error: list[float] = field(default_factory=list)
    wider: list[float] = field(default_factory=list)
    saved: list[tuple[float, float, float]] = field(default_factory=list)
    false: int = 0
    claims: int = 0

    def add(self, truth: float, people: Interval, corrected: Interval, saved: Interval) -> None:
        """Add an estimate; without a bound it does not count."""
        if people.low is None or people.high is None or people.estimate is None:
            return
        if corrected.low is None or corrected.high is None or corrected.estimate is None:
            return
        self.people_held.append(people.low <= truth <= people.high)
        self.held.append(corrected.low <= truth <= corrected.high)
        self.people_error.append(people.estimate - truth)
        self.error.append(corrected.estimate - truth)
        self.wider.append((corrected.high - corrected.low) / (people.high - people.low))
        if saved.estimate is not None and saved.low is not None and saved.high is not None:
            self.saved.append((saved.estimate, saved.low, saved.high))

    def figures(self) -> dict[str, float]:
        """Return the figures of the cell. `saved` is of the true errors, with its standard error over intervals."""
        square, of_people = np.square(self.error), np.square(self.people_error)
        truth = 1 - square.sum() / of_people.sum()
        noise = np.std(square - (1 - truth) * of_people) * np.sqrt(len(square)) / of_people.sum()
        slack = 2 * noise + _ROUNDING
        saved = np.array(self.saved).reshape(-1, 3)
        holds = (saved[:, 1] <= truth + slack) & (saved[:, 2] >= truth - slack)
        found = {
            "coverage": np.mean(self.held),
            "people's coverage": np.mean(self.people_held),
            "rmse": np.sqrt(1 - truth),
            "width": np.mean(self.wider),
            "widest": np.max(self.wider),
            "saved": truth,
            "saved, error": noise,
            "saved, estimate": saved[:, 0].mean(),
            "saved, holds": holds.mean(),
            "n": float(len(square)),
        }
        if self.claims:
            found["false"] = self.false / self.claims
        return {name: float(value) for name, value in found.items()}

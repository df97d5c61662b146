"""What all cells of the simulation share."""

from collections.abc import Iterator
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
Held: TypeAlias = tuple[str, float | None, float | None, float]
"""The name of an interval, its bounds, and the truth."""

_ALIKE: Final = 0.5
"""The share of the variance that the turns of a dialogue have in common."""


class Cell(Protocol):
    """A setting: what it is called in the table, its truth, and the intervals of one sample."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return what the setting is, column by column."""

    def truth(self) -> Any:  # noqa: ANN401 - each cell knows its own
        """Return the true values."""

    def intervals(self, chance: np.random.Generator, truth: Any) -> Iterator[Held]:  # noqa: ANN401
        """Draw a sample and yield its intervals."""


def alike(chance: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    """Draw standard normal values, those of a row as alike as the turns of a dialogue."""
    shared = chance.normal(size=(shape[0], 1))
    drawn: FloatArray = np.sqrt(_ALIKE) * shared + np.sqrt(1 - _ALIKE) * chance.normal(size=shape)
    return drawn

"""Types of arrays, and single numbers of arrays."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]


def defined(value: float) -> float | None:
    """Return a number of an array as a float; None for NaN."""
    return None if np.isnan(value) else float(value)

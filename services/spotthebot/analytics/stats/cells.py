"""The combinations of two integer codes that occur, such as a statistic and a cluster, and what they weigh."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray

_CODES_WITHOUT_SORTING: Final = 4
"""So many possible codes an entry are counted in a table, which is quicker than sorting the entries."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The pairs of codes that occur, in order: the outer code and the total weight of each; the pair of each entry."""

    outer: IntArray
    weight: FloatArray
    entry: IntArray


def occurring_cells(outer: IntArray, inner: IntArray, weight: FloatArray) -> Cells:
    """Find the combinations of `outer` (n,) and `inner` (n,), and total `weight` (n,) over each.

    >>> found = occurring_cells(np.array([0, 1, 0]), np.array([2, 0, 2]), np.array([1.0, 1.0, 3.0]))
    >>> found.outer.tolist(), found.weight.tolist(), found.entry.tolist()
    ([0, 1], [4.0, 1.0], [0, 1, 0])
    """
    at, n = cell_code(outer, inner)
    n_codes = int(at.max()) + 1 if len(at) else 0
    if n_codes <= _CODES_WITHOUT_SORTING * len(at):
        seen = np.bincount(at) > 0
        codes, entry = np.flatnonzero(seen), (np.cumsum(seen) - 1)[at]
    else:
        codes, entry = np.unique(at, return_inverse=True)
    return Cells(codes // n, np.bincount(entry, weights=weight, minlength=len(codes)).astype(np.float64), entry)


def cell_code(outer: IntArray, inner: IntArray) -> tuple[IntArray, int]:
    """Code two codes as one; the number by which it is divided to have them back."""
    n = int(inner.max()) + 1 if len(inner) else 1
    return outer.astype(np.int64) * n + inner, n

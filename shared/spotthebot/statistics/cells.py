"""The combinations of two integer codes that occur, such as a statistic and a cluster, with their weights."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.statistics.arrays import FloatArray, IntArray

_CODES_WITHOUT_SORTING: Final = 4
"""Up to this many possible codes an entry are counted in a table, which is faster than sorting the entries."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The pairs of codes that occur, in order: each pair's outer code and total weight, and the pair of each entry."""

    outer: IntArray
    weight: FloatArray
    entry: IntArray


def occurring_cells(outer: IntArray, inner: IntArray, weight: FloatArray) -> Cells:
    """Return the combinations of `outer` (n,) and `inner` (n,) that occur, with the total `weight` (n,) of each.

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
    """Return a code that joins two codes, and the number n with which they can be separated again.

    The joined code divided by n is `outer`, and the rest of the division is `inner`.
    """
    n = int(inner.max()) + 1 if len(inner) else 1
    return outer.astype(np.int64) * n + inner, n

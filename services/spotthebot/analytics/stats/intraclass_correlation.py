"""The intraclass correlation of values in clusters that are nested in groups, such as the dialogues of bots."""

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray


def intraclass_correlation(deviation: FloatArray, cluster: IntArray, group: IntArray) -> float:
    """Estimate the intraclass correlation of n values within their clusters by an analysis of variance (Donner 1986).

    `deviation` (n,) has the values minus the means of their groups. `cluster` and `group` (n,) have codes. Values of
    two groups are never in one cluster, even if their codes are equal. The correlation is limited to the range from 0
    to just below 1. It is 0 if no cluster has two values, or no group two clusters.

    >>> cluster, group = np.array([0, 0, 1, 1]), np.zeros(4, dtype=int)
    >>> round(intraclass_correlation(np.array([1.0, 1.0, -1.0, -1.0]), cluster, group), 6)  # no variance within
    1.0
    """
    _, group = np.unique(group, return_inverse=True)
    _, cell = np.unique(np.column_stack([group, cluster]), axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    sizes = np.bincount(cell)
    n, cells, of_group = len(deviation), len(sizes), np.bincount(group)
    groups = len(of_group)
    if n <= cells or cells <= groups:
        return 0.0
    means = np.bincount(cell, weights=deviation) / sizes
    between = float(np.sum(sizes * means**2)) / (cells - groups)
    within = float(np.sum((deviation - means[cell]) ** 2)) / (n - cells)
    group_of_cell = np.zeros(cells, dtype=np.int64)
    group_of_cell[cell] = group
    squares = np.bincount(group_of_cell, weights=sizes**2)
    typical = (n - float(np.sum(squares / of_group))) / (cells - groups)
    total = between + (typical - 1) * within
    return float(np.clip((between - within) / total, 0.0, 1 - 1e-9)) if total > 0 else 0.0

"""The cluster bootstrap: whole conversations (or annotators) are drawn with replacement, as weighted sums.

A statistic that is a function of sums over rows needs no resampled rows: each cluster's sums are taken once, and a
replicate is its draw counts times those sums. So a thousand replicates are one matrix product.
"""

from typing import Final

import numpy as np
from scipy import sparse

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.randomness import Seed, generator_of

_DRAWS_AT_ONCE: Final = 4_000_000
_FEW_CELLS: Final = 512
"""Up to here clusters by cells is a small dense matrix; beyond, most of it is zero (100 bots make 10,001 cells)."""


def cluster_counts(cluster: IntArray, cell: IntArray, n_cells: int) -> FloatArray:
    """Count rows by cluster and cell: (n_clusters, n_cells), one row per cluster code that occurs, in their order."""
    values, codes = np.unique(cluster, return_inverse=True)
    counts = np.bincount(codes * n_cells + cell, minlength=len(values) * n_cells)
    return counts.reshape(len(values), n_cells).astype(np.float64)


def resampled_cells(
    cluster: IntArray, cell: IntArray, n_cells: int, n_resamples: int, seed: Seed
) -> tuple[FloatArray, int]:
    """Count rows by cell over clusters drawn with replacement: (n_resamples, n_cells), and how many clusters there are.

    The same as `resampled_totals` of `cluster_counts`, draw for draw; with many cells the memory grows with the rows
    and the answer, not with clusters times cells.

    >>> resampled_cells(np.array([7, 7, 7]), np.array([0, 2, 2]), 3, 2, seed=0)  # one cluster: always the same
    (array([[1., 0., 2.],
           [1., 0., 2.]]), 1)
    """
    if n_cells <= _FEW_CELLS:
        counts = cluster_counts(cluster, cell, n_cells)
        return resampled_totals(counts, n_resamples, seed), len(counts)
    values, codes = np.unique(cluster, return_inverse=True)
    few = sparse.csr_array((np.ones(len(codes)), (codes, cell)), shape=(len(values), n_cells))
    return resampled_totals(few, n_resamples, seed), len(values)


def resampled_totals(totals: FloatArray | sparse.csr_array, n_resamples: int, seed: Seed) -> FloatArray:
    """Total over as many clusters as there are, drawn with replacement: (n_resamples, d) from (n_clusters, d).

    The same seed, number of clusters and number of resamples give the same draws.

    >>> totals = np.array([[1.0, 10.0], [1.0, 20.0]])
    >>> resampled_totals(totals, 500, seed=0)[:, 0].tolist() == [2.0] * 500  # two clusters, each with a 1
    True
    """
    require_resamples(n_resamples)
    n_clusters, width = totals.shape
    if n_clusters == 0:
        return np.zeros((n_resamples, width))
    generator = generator_of(seed)
    replicates = np.empty((n_resamples, width))
    step = max(1, _DRAWS_AT_ONCE // n_clusters)
    for start in range(0, n_resamples, step):
        stop = min(start + step, n_resamples)
        drawn = generator.integers(n_clusters, size=(stop - start, n_clusters))
        drawn += np.arange(stop - start)[:, None] * n_clusters
        weights = np.bincount(drawn.ravel(), minlength=(stop - start) * n_clusters)
        replicates[start:stop] = weights.reshape(-1, n_clusters).astype(np.float64) @ totals
    return replicates


def resampled_counts(counts: IntArray, n_resamples: int, seed: Seed) -> FloatArray:
    """Redraw single rows that fall into d cells: (n_resamples, d) from their counts (d,)."""
    require_resamples(n_resamples)
    n = int(counts.sum())
    if n == 0:
        return np.zeros((n_resamples, len(counts)))
    return generator_of(seed).multinomial(n, counts / n, size=n_resamples).astype(np.float64)


def percentile_interval(replicates: FloatArray, confidence_level: float) -> tuple[FloatArray, FloatArray]:
    """Percentile bounds along the first axis; undefined replicates (NaN) are left out, NaN where none is defined."""
    require_confidence_level(confidence_level)
    low, high = np.full(replicates.shape[1:], np.nan), np.full(replicates.shape[1:], np.nan)
    defined = ~np.all(np.isnan(replicates), axis=0)
    if np.any(defined):
        tail = (1 - confidence_level) / 2
        low[defined], high[defined] = np.nanquantile(replicates[:, defined], [tail, 1 - tail], axis=0)
    return low, high


def require_confidence_level(confidence_level: float) -> None:
    """Raise `SettingOutOfRange` unless the level is a share strictly between 0 and 1."""
    if not 0 < confidence_level < 1:
        raise SettingOutOfRange(
            setting="confidence_level", allowed="between 0 and 1, both excluded", value=confidence_level
        )


def require_resamples(n_resamples: int) -> None:
    """Raise `SettingOutOfRange` unless there is at least one replicate."""
    if n_resamples < 1:
        raise SettingOutOfRange(setting="n_resamples", allowed="1 or more", value=n_resamples)


def defined(value: float) -> float | None:
    """Turn an array's NaN into the None of a record."""
    return None if np.isnan(value) else float(value)

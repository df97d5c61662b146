"""Separation: whether some direction of the coefficients raises a likelihood without end, by linear programming.

A likelihood of this kind has a finite maximum if and only if there is no such direction (Albert & Anderson 1984,
Silvapulle 1981; found by linear programming as in Konis 2007). Directions make a cone: each one is scaled until a
coefficient is 1, so that the programme's tolerance does not depend on the units of the covariates.
"""

from typing import Any, Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray

_TOLERANCE: Final = 1e-10
_ALIKE: Final = 1e-9
"""Columns whose combination is so small beside them depend on each other but for rounding."""
_STILL: Final = 1e-13
"""A column that varies by so small a share of its values does not vary but for rounding."""


def standardised(covariates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return covariates (n, p) less their means, of at most 1, and their units (p,): 0 for one that does not vary."""
    largest = np.abs(covariates).max(axis=0, initial=0.0)
    shares = covariates / np.where(largest > 0, largest, 1.0)
    apart = shares - (shares.mean(axis=0) if len(shares) else 0.0)
    reach = np.abs(apart).max(axis=0, initial=0.0)
    varies = np.ptp(shares, axis=0) > _STILL if len(shares) else np.zeros(len(largest), dtype=np.bool_)
    apart = np.where(varies, apart / np.where(varies, reach, 1.0), 0.0)
    return apart, np.where(varies, reach * largest, 0.0)


def column_rank(columns: FloatArray) -> int:
    """Return the rank of columns (n, p) of comparable size."""
    if not columns.size:
        return 0
    values = np.linalg.svd(columns, compute_uv=False)
    return int(np.sum(values > _ALIKE * values[0])) if values[0] > 0 else 0


def is_separated(design: FloatArray, events: FloatArray, trials: FloatArray) -> bool:
    """Tell whether the likelihood of `events` of `trials` (rows,) rises without end, for any binomial link.

    That is so if a combination of the columns of `design` (rows, p) is nowhere negative where there were events,
    nowhere positive where there were non-events, and not all zero. Columns should be of comparable size.
    """
    outward = np.vstack([design[events > 0], -design[events < trials]])
    if not outward.size:
        return False
    left, values, _ = np.linalg.svd(outward, full_matrices=False)
    kept = values > _ALIKE * values[0]
    # In these coordinates no direction but 0 leaves all rows at 0.
    rows = np.unique((left[:, kept] * values[kept]).round(15), axis=0) if kept.any() else outward[:, :0]
    sizes = np.abs(rows).max(axis=1, initial=0.0)
    rows = rows[sizes > _ALIKE * values[0]] / sizes[sizes > _ALIKE * values[0], None]
    gains, bounds = rows.sum(axis=0), [(-1.0, 1.0)] * rows.shape[1]
    # Mostly no direction gains anything, which one programme says.
    return _most(gains, rows, bounds) > _TOLERANCE and _has_direction(rows, rows.shape[1])


def is_separated_in_time(covariates: FloatArray, by: IntArray, beyond: IntArray) -> bool:
    """Tell whether a regression of times with any baseline has a likelihood that rises, or stays level, without end.

    Row i happened `by` the time of this code and not before `beyond` it (n,), codes from 0 in the order of time and -1
    for nothing. The coefficients d run off if (x_i - x_k) d >= 0 for all rows i that happened by a time beyond which
    row k had not: there is then a baseline, which does not fall, that lies between. Columns should be of comparable
    size.
    """
    p = covariates.shape[1]
    m = int(max(by.max(initial=-1), beyond.max(initial=-1))) + 1
    happened, waited = np.flatnonzero(by >= 0), np.flatnonzero(beyond >= 0)
    if not (p and len(happened) and len(waited)):
        return bool(p)
    baseline = [_selected(by[happened], m), -_selected(beyond[waited], m)]
    rises = _selected(np.arange(1, m), m) - _selected(np.arange(m - 1), m)
    constraints = scipy.sparse.vstack(
        [
            scipy.sparse.hstack([scipy.sparse.csr_array(covariates[happened]), baseline[0]]),
            scipy.sparse.hstack([scipy.sparse.csr_array(-covariates[waited]), baseline[1]]),
            scipy.sparse.hstack([scipy.sparse.csr_array((m - 1, p)), rises]),
        ]
    )
    return _has_direction(scipy.sparse.csr_array(constraints), p)


def _selected(code: IntArray, m: int) -> "scipy.sparse.csr_array":
    return scipy.sparse.csr_array((np.ones(len(code)), (np.arange(len(code)), code)), shape=(len(code), m))


def _has_direction(constraints: Any, sought: int) -> bool:  # noqa: ANN401 - scipy's stubs know no sparse constraints
    """Tell whether some b with constraints b >= 0 has a part other than 0 among its first `sought` coefficients."""
    q = constraints.shape[1]
    # Beside covariates of at most 1 no baseline has to go farther than all coefficients together.
    reach = float(max(sought, 1))
    bounds = [(-1.0, 1.0)] * sought + [(-reach, reach)] * (q - sought)
    # A cone: where there is a direction at all, one with a coefficient of 1 is in some programme.
    signed = np.concatenate([np.eye(sought, q), -np.eye(sought, q)])
    return any(_most(each, constraints, bounds) > 1 - 1e-6 for each in signed)


def _most(gains: FloatArray, constraints: Any, bounds: list[tuple[float, float]]) -> float:  # noqa: ANN401 - as above
    """Return the largest gain of a direction b within the bounds with constraints b >= 0."""
    found = scipy.optimize.linprog(
        -gains,
        A_ub=-constraints,
        b_ub=np.zeros(constraints.shape[0]),
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
    )
    return 0.0 if found.fun is None else -float(found.fun)

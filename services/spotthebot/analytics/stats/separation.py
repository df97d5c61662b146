"""Separation: whether a likelihood rises without limit in some direction of the coefficients, by linear programming.

A likelihood has a finite maximum if and only if there is no such direction (Albert & Anderson 1984, Silvapulle 1981;
found by linear programming as in Konis 2007). The directions form a cone. Each is scaled until one coefficient is 1, so
that the tolerance of the linear program does not depend on the units of the covariates.
"""

from typing import Any, Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray

_TOLERANCE: Final = 1e-10
_ALIKE: Final = 1e-9
"""Columns with a combination this small relative to them are dependent, up to rounding."""
_STILL: Final = 1e-13
"""A column that varies by a smaller share of its values is constant, up to rounding."""


def standardised(covariates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return covariates (n, p) minus their means, divided by their units (p,), so that values are at most 1.

    The unit of a constant covariate is 0.
    """
    largest = np.abs(covariates).max(axis=0, initial=0.0)
    shares = covariates / np.where(largest > 0, largest, 1.0)
    apart = shares - (shares.mean(axis=0) if len(shares) else 0.0)
    reach = np.abs(apart).max(axis=0, initial=0.0)
    varies = np.ptp(shares, axis=0) > _STILL if len(shares) else np.zeros(len(largest), dtype=np.bool_)
    apart = np.where(varies, apart / np.where(varies, reach, 1.0), 0.0)
    return apart, np.where(varies, reach * largest, 0.0)


def scaled(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return columns (n, p), divided by their units (p,), so that values are at most 1.

    The unit of a column of zeros is 0.
    """
    units = np.abs(columns).max(axis=0, initial=0.0)
    return columns / np.where(units > 0, units, 1.0), units


def column_rank(columns: FloatArray) -> int:
    """Return the rank of columns (n, p) of comparable size."""
    if not columns.size:
        return 0
    values = np.linalg.svd(columns, compute_uv=False)
    return int(np.sum(values > _ALIKE * values[0])) if values[0] > 0 else 0


def is_separated(design: FloatArray, events: FloatArray, trials: FloatArray) -> bool:
    """Return whether the likelihood of `events` of `trials` (rows,) rises without limit, for any binomial link.

    It does if some combination of the columns of `design` (rows, p) is not zero in all rows, not negative in any row
    with events, and not positive in any row with non-events. Columns should be of comparable size.
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
    # Mostly no direction gains anything, which one programme shows.
    return _most(gains, rows, bounds) > _TOLERANCE and _has_direction(rows, rows.shape[1])


def is_separated_in_time(covariates: FloatArray, by: IntArray, beyond: IntArray) -> bool:
    """Return whether a regression of times is separated, with any baseline: its likelihood has no finite maximum.

    Row i happened by the time with the code `by[i]`, and had not happened at the time with the code `beyond[i]`. Codes
    are from 0 in the order of time, or -1 for no time. The coefficients diverge in a direction d if (x_i - x_k) d >= 0
    for all rows i and k such that row i happened by a time at which row k had not happened. In this case some
    non-decreasing baseline separates the rows. Columns should be of comparable size.
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
    """Return whether there is a b with constraints b >= 0, of which one of the first `sought` coefficients is not 0."""
    q = constraints.shape[1]
    # With covariates of at most 1, a baseline never has to exceed the sum of all coefficients.
    reach = float(max(sought, 1))
    bounds = [(-1.0, 1.0)] * sought + [(-reach, reach)] * (q - sought)
    # A cone: if there is any direction, some programme contains one with a coefficient of 1.
    signed = np.concatenate([np.eye(sought, q), -np.eye(sought, q)])
    return any(_most(each, constraints, bounds) > 1 - 1e-6 for each in signed)


def _most(gains: FloatArray, constraints: Any, bounds: list[tuple[float, float]]) -> float:  # noqa: ANN401 - as above
    """Return the largest gain of a direction b that is within the bounds and has constraints b >= 0."""
    found = scipy.optimize.linprog(
        -gains,
        A_ub=-constraints,
        b_ub=np.zeros(constraints.shape[0]),
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
    )
    return 0.0 if found.fun is None else -float(found.fun)

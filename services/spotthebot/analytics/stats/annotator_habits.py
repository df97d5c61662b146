"""Annotators' habits, such as leniency: how much they differ, and how they change a coefficient of agreement.

At each level of measurement, the distance of two values is the squared distance of two points, so a value is treated as
a point. Half of the disagreement by chance is the variance T of the points. A coefficient c is the mean product of the
deviations of two values of a unit, divided by T. If every annotator adds a habit of their own to all their points, c
changes by

    a' Q a / T,    Q = W - c diag(w) - (1 - c) w w'

where `a` has the habits, w has each annotator's share of the values, and W has each two annotators' share of the pairs
of values within units. The terms of this sum are squares and products, so a dozen annotators would be too few to
estimate its variance from the terms. For normal habits with a mean square s, the variance is 2 s² tr(Q²) / T² (Searle
1971, chapter 2), and s comes from one analysis of variance over all annotators.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.disagreement import Distances

_OF_A_SQUARE: Final = 4
"""A mean square with f degrees of freedom varies by 2 / f of its square, and its square by 8 / f, as with f / 4."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """The n values that annotators gave to units.

    The columns (n,) are codes from 0 of the unit, annotator and value.
    """

    unit: IntArray
    annotator: IntArray
    value: IntArray


@dataclass(frozen=True)
class Habits:
    """The effect of habits on a coefficient: the `variance` that they add, with its degrees of freedom.

    `coefficient` computes the disagreement by chance only from values of different annotators. So do Cohen's kappa and,
    for more than two annotators, Conger's kappa (1980). Other coefficients compute it from all values. This includes
    pairs of values of one annotator, who has one habit, and makes coefficients of few annotators too low.
    """

    coefficient: float
    variance: float
    degrees: float


def annotator_habits(ratings: Ratings, distances: Distances, coefficient: float) -> Habits:
    """Estimate the effect of habits on a coefficient of agreement, from units with at least two values.

    >>> from spotthebot.analytics.stats.disagreement import Measurement, Scale
    >>> ratings = Ratings(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 0, 0, 1]))
    >>> distances = Scale.of([0, 1], Measurement.NOMINAL).distances(np.array([3.0, 1.0]))
    >>> found = annotator_habits(ratings, distances, 0.0)
    >>> found.coefficient  # Cohen's kappa: half of the units agree, as by chance
    0.0
    >>> found.degrees  # two annotators differ by one number, and its square has 1 / 4
    0.25
    """
    _, who = np.unique(ratings.annotator, return_inverse=True)
    ratings = Ratings(ratings.unit, who, ratings.value)
    n, sizes = len(who), np.bincount(who).astype(np.float64)
    counts = counts_of(ratings.unit, ratings.value, len(distances.scale))
    of_annotators = counts_of(who, ratings.value, len(distances.scale))
    others = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel() - 1
    given, weighted = (
        scipy.sparse.csr_array((weight, (ratings.unit, who)), shape=(counts.shape[0], len(sizes)))
        for weight in (np.ones(n), 1 / others[ratings.unit])
    )
    # The pairs of values that each two annotators gave a unit, divided by the unit's number of values minus one.
    pairs: scipy.sparse.csr_array = (given.T @ weighted - scipy.sparse.diags_array(weighted.sum(axis=0))).tocsr()
    mean_square, degrees = _mean_square(ratings, counts, others, pairs, distances)

    marginals = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
    total = float(marginals @ distances.times(marginals))
    within = float(distances.within(counts) @ (1 / others)) / n
    between = (total - float(distances.within(of_annotators).sum())) / float(n**2 - sizes @ sizes)
    # The square of a mean square is 1 + 2 / degrees times too large in the mean.
    square = (2 * mean_square * n**2 / total) ** 2 / (1 + 2 / degrees)
    return Habits(
        coefficient=1 - within / between,
        variance=2 * square * _trace_of_square(pairs, sizes, coefficient),
        degrees=degrees / _OF_A_SQUARE,
    )


def _mean_square(
    ratings: Ratings,
    counts: "scipy.sparse.csr_array",
    others: FloatArray,
    pairs: "scipy.sparse.csr_array",
    distances: Distances,
) -> tuple[float, float]:
    """Return the mean square of habits and its degrees of freedom, from one analysis of variance.

    The deviation of a value from the mean of the other values of its unit contains the habit of its annotator minus the
    mean habit of the other annotators.
    """
    n, sizes = len(ratings.value), np.bincount(ratings.annotator).astype(np.float64)
    own = counts_of(np.arange(n), ratings.value, len(distances.scale))
    apart = own - scipy.sparse.diags_array(1 / others[ratings.unit]) @ (counts[ratings.unit] - own)
    by_own = counts_of(ratings.annotator, np.arange(n), n)
    sums = scipy.sparse.diags_array(1 / np.sqrt(sizes)) @ (by_own @ apart)
    by_annotator = _squares(sums, distances)
    chance = max(_squares(apart, distances) - by_annotator, 0.0) / max(n - len(sizes), 1)
    # The annotators' sum of squares is this form of their habits.
    form: scipy.sparse.csr_array = (
        scipy.sparse.diags_array(sizes) - 2 * pairs + pairs @ scipy.sparse.diags_array(1 / sizes) @ pairs
    ).tocsr()
    seen = float(form.trace())
    if seen <= 0:
        return 0.0, math.inf
    return max(by_annotator - len(sizes) * chance, 0.0) / seen, seen**2 / float(form.power(2).sum())


def _trace_of_square(pairs: "scipy.sparse.csr_array", sizes: FloatArray, coefficient: float) -> float:
    """Return tr(Q²), with the matrices Q and W and the vector w of this module's formula.

    Only sparse matrices are used: Q = M - (1 - c) w w' with M = W - c diag(w).
    """
    n, share = sizes.sum(), sizes / sizes.sum()
    rest: scipy.sparse.csr_array = ((pairs - scipy.sparse.diags_array(coefficient * sizes)) / n).tocsr()
    mixed = float(share @ (rest @ share))
    return float(rest.power(2).sum()) - 2 * (1 - coefficient) * mixed + ((1 - coefficient) * float(share @ share)) ** 2


def counts_of(row: IntArray, column: IntArray, columns: int) -> "scipy.sparse.csr_array":
    """Count how often each row and column occur together, as a matrix (rows, columns). Both arguments are (n,)."""
    shape = (int(row.max(initial=-1)) + 1, columns)
    return scipy.sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape).tocsr()


def _squares(points: "scipy.sparse.csr_array", distances: Distances) -> float:
    """Return the sum of squares of n points.

    A point is a difference of shares of values, so `points` is (n, values).
    """
    return -float(distances.within(scipy.sparse.csr_array(points)).sum()) / 2

"""Whether annotators give both sides of a conversation the same label more often than by chance (footnote 3)."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, IntArray, LabelCode
from spotthebot.analytics.stats.bootstrap import require_resamples
from spotthebot.statistics.randomness import Seed, generator_of, seed_of


@dataclass(frozen=True)
class SidesAlike:
    """How often both sides of an annotation have the same label, compared with chance.

    `estimate` is the share of annotations that have the same label on both sides, of `n` annotations in all; `expected`
    is this share by chance. `p_value` is the share of permutations, including the data, with at least as many equal
    sides. If nothing can be permuted, `standard_deviation` and `p_value` are None, and `reason` says why. Without
    annotations `estimate` and `expected` are None, too.
    """

    estimate: float | None
    expected: float | None
    standard_deviation: float | None
    p_value: float | None
    n: int
    n_resamples: int
    method: str
    seed: int | None
    reason: str | None


def sides_alike(table: AnnotationTable, *, n_resamples: int = 1000, seed: Seed = 0) -> SidesAlike:
    """Compare the data with permutations.

    Each annotator keeps their labels of first sides and their labels of second sides.

    Under the null hypothesis, an annotator's label of one side tells nothing about their label of the other side. So
    labels of second sides are exchanged among the annotations of the same annotator. Only conversations of two bots
    count. The expected share is exact. For each annotator, the count of a label on first sides is multiplied by its
    count on second sides; the sum over labels is divided by the number of annotations.

    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0, 1]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 2]),
    ...     label=np.array([[2, 2], [0, 0]]),
    ...     annotator=np.array([0, 0]),
    ... )
    >>> alike = sides_alike(table)
    >>> alike.estimate, alike.expected  # exchanging the second labels makes it 0 half of the time
    (1.0, 0.5)
    """
    require_resamples(n_resamples)
    bots = table.between_bots()
    n, labels = len(bots), len(LabelCode)
    annotators, who = np.unique(bots.annotator, return_inverse=True)
    first, second = (
        np.bincount(who * labels + bots.label[:, side], minlength=len(annotators) * labels).reshape(-1, labels)
        for side in (0, 1)
    )
    observed = int(np.sum(bots.label[:, 0] == bots.label[:, 1]))
    sizes = first.sum(axis=1)
    expected = float(np.sum(first * second / np.maximum(sizes, 1)[:, None]))
    mixed = (np.count_nonzero(first, axis=1) > 1) & (np.count_nonzero(second, axis=1) > 1)
    reason = None
    if not n:
        reason = "no annotation of a conversation between bots"
    elif not mixed.any():
        reason = "no annotator gave different labels to both sides"
    alike = np.array([observed]) if reason else _permuted(first, second, n_resamples, seed)
    return SidesAlike(
        estimate=observed / n if n else None,
        expected=expected / n if n else None,
        standard_deviation=None if reason else float(alike.std()) / n,
        p_value=None if reason else (1 + int(np.sum(alike >= observed))) / (1 + n_resamples),
        n=n,
        n_resamples=n_resamples,
        method="permutation of second sides' labels within annotators",
        seed=seed_of(seed),
        reason=reason,
    )


def _permuted(first: IntArray, second: IntArray, n_resamples: int, seed: Seed) -> IntArray:
    """Count the equal sides in each permutation. Tables with both margins fixed are drawn, one label at a time."""
    generator = generator_of(seed)
    alike = np.zeros(n_resamples, dtype=np.int64)
    for mine, other in zip(first, second, strict=True):
        left = np.tile(other, (n_resamples, 1))
        for label, count in enumerate(mine.tolist()):
            # The second labels of these first ones: a multivariate hypergeometric draw from the remaining labels.
            drawn = np.zeros_like(left)
            still = np.full(n_resamples, count)
            for at in range(left.shape[1]):
                rest = left[:, at + 1 :].sum(axis=1)
                drawn[:, at] = generator.hypergeometric(left[:, at], rest, still)
                still -= drawn[:, at]
            alike += drawn[:, label]
            left -= drawn
    return alike

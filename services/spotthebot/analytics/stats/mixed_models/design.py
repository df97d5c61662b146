"""The rows of a mixed model: bots, two crossed groupings, and the reason why a model cannot be estimated from them."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.mixed_models.crossed_intercepts import CrossedIntercepts
from spotthebot.analytics.stats.mixed_models.results import VarianceComponent
from spotthebot.analytics.stats.rating_estimates import Ratings

MAX_CELLS: Final = 5_000_000
"""Pairs of a dialogue and an annotator: a matrix of them, and a few copies, are in memory (40 MB each)."""
MAX_ANNOTATORS: Final = 2_000
"""Groups of the smaller grouping, which have a dense Cholesky factor."""
AT_BOUND: Final = "the estimate is at its bound, 0: these ratings do not show that the groups differ"
_SINGULAR: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Design:
    """The n rows: `bot` has codes of the k `rated` bots, `groups` the dialogues and annotators.

    `groupings` names the two groupings in the order of `groups`.
    """

    rated: IntArray
    bot: IntArray
    groups: CrossedIntercepts
    groupings: tuple[str, str]

    @classmethod
    def of(cls, ratings: Ratings) -> "Design":
        """Code the rows of at least one rating. Bots without ratings are left out."""
        rated, bot = np.unique(ratings.bot, return_inverse=True)
        (dialogues, dialogue), (annotators, annotator) = (
            np.unique(column, return_inverse=True) for column in (ratings.item, ratings.annotator)
        )
        if len(dialogues) >= len(annotators):
            return cls(rated, bot, CrossedIntercepts.of(dialogue, annotator), ("dialogue", "annotator"))
        return cls(rated, bot, CrossedIntercepts.of(annotator, dialogue), ("annotator", "dialogue"))

    def of_bots(self, column: FloatArray) -> FloatArray:
        """Return the sums of a column (n,) over each bot's rows (k,)."""
        return np.asarray(np.bincount(self.bot, weights=column, minlength=len(self.rated)), dtype=np.float64)

    def of_bots_and_groups(self, weight: FloatArray) -> FloatArray:
        """Return Z' W X (q, k): the sum of weights (n,) of each group and bot."""
        return np.column_stack([self.groups.sums(weight * (self.bot == at)) for at in range(len(self.rated))])

    def components(self, deviations: FloatArray) -> tuple[VarianceComponent, ...]:
        """Return the components of the two groupings (2,), dialogues first."""
        named = zip(self.groupings, deviations.tolist(), self.groups.sizes, strict=True)
        found = (VarianceComponent(name, sd, n, None if sd else AT_BOUND) for name, sd, n in named)
        return tuple(sorted(found, key=lambda each: each.grouping, reverse=True))


def why_not(ratings: Ratings) -> str | None:
    """Return the reason why no mixed model can be estimated from these ratings, if there is one."""
    if np.unique(ratings.bot).size < 2:
        return "fewer than two bots have ratings"
    if np.all(ratings.value == ratings.value[0]):
        return "all ratings are alike"
    n, dialogues, annotators = len(ratings.value), np.unique(ratings.item).size, np.unique(ratings.annotator).size
    for name, size in (("dialogue", dialogues), ("annotator", annotators)):
        if size in (1, n):
            only = f"all ratings are of one {name}, so nothing shows how {name}s differ"
            return only if size == 1 else f"each {name} has one rating, so nothing tells {name}s from the residuals"
    if dialogues * annotators > MAX_CELLS or min(dialogues, annotators) > MAX_ANNOTATORS:
        return f"{dialogues:,} dialogues and {annotators:,} annotators are too many for this form"
    if not _identified(Design.of(ratings)):
        return "dialogues, annotators and bots divide the ratings alike, so their effects cannot be told apart"
    return None


def _identified(design: Design) -> bool:
    """Return whether two variances and that of the residuals can be estimated together.

    So it is if the matrices M Z1 Z1' M, M Z2 Z2' M and M are linearly independent: M removes the bots' means. Their
    inner products follow from counts of rows.
    """
    groups, ones = design.groups, np.ones(len(design.bot))
    n_of_bots = design.of_bots(ones)
    counts, of_bots = groups.sums(ones), design.of_bots_and_groups(ones)
    at = groups.sizes[0]
    products = np.empty((3, 3))
    for place, rows in enumerate((slice(None, at), slice(at, None))):
        explained = of_bots[rows] / n_of_bots
        shared = of_bots[rows].T @ explained
        own = counts[rows] - np.sum(of_bots[rows] * explained, axis=1)
        squares = np.sum(counts[rows] ** 2) - 2 * counts[rows] @ np.sum(of_bots[rows] * explained, axis=1)
        products[place, place] = squares + np.sum(shared.T * (shared / n_of_bots[:, None]).T)
        products[place, 2] = products[2, place] = own.sum()
    crossed = groups.table(ones) - (of_bots[:at] / n_of_bots) @ of_bots[at:].T
    products[0, 1] = products[1, 0] = np.sum(crossed**2)
    products[2, 2] = len(design.bot) - len(n_of_bots)
    lengths = np.diag(products)
    if np.any(lengths <= _SINGULAR * len(design.bot)):
        return False
    return bool(np.linalg.eigvalsh(products / np.sqrt(np.outer(lengths, lengths)))[0] > _SINGULAR)

"""Ratings of items by known annotators, and each item's mean rating, also without some of the annotators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from spotthebot.statistics.arrays import BoolArray, FloatArray, IntArray
from spotthebot.statistics.columns import read_numbers, require_present, unit_of
from spotthebot.statistics.errors import ColumnMalformed, ColumnsDiffer

_DECIMALS: Final = 9
"""Decimals relative to the largest rating, so that equal means stay tied in any order of summation."""


@dataclass(frozen=True, eq=False)
class AnnotatorRatings:
    """One mean rating for each item and annotator who rated it.

    `item`, `annotator` (codes from 0) and `value` have one element for each of the r ratings.
    """

    n_items: int
    item: IntArray
    annotator: IntArray
    value: FloatArray

    @property
    def n_annotators(self) -> int:
        return len(np.unique(self.annotator))

    def means(self) -> FloatArray:
        """Return each item's mean over its annotators (n_items,); NaN if it has no rating."""
        return self.means_without(np.zeros(len(self.item), dtype=np.intp), 1, 2).ravel()

    def means_without(self, group: IntArray, first: int, last: int) -> FloatArray:
        """Return the items' means (last - first, n_items). Each row leaves out the ratings of one group.

        `group` (r,) has the group of each rating. The rows leave out the groups from `first` to `last - 1`.
        """
        sums = np.bincount(self.item, weights=self.value, minlength=self.n_items)
        counts = np.bincount(self.item, minlength=self.n_items)
        chosen = (group >= first) & (group < last)
        place = (group[chosen] - first) * self.n_items + self.item[chosen]
        shape, size = (last - first, self.n_items), (last - first) * self.n_items
        less = np.bincount(place, weights=self.value[chosen], minlength=size).reshape(shape)
        fewer = np.bincount(place, minlength=size).reshape(shape)
        left = counts - fewer
        unit = unit_of(self.value)
        means = unit * np.round((sums - less) / np.maximum(left, 1) / unit, _DECIMALS)
        return np.where(left > 0, means, np.nan)

    def of_items(self, kept: BoolArray) -> "AnnotatorRatings":
        """Return the ratings of the items that `kept` (n_items,) selects. These items are numbered from 0 again."""
        chosen = kept[self.item]
        _, annotator = np.unique(self.annotator[chosen], return_inverse=True)
        item = (np.cumsum(kept) - 1)[self.item[chosen]]
        return AnnotatorRatings(int(kept.sum()), item, annotator.ravel(), self.value[chosen])


def annotator_ratings(
    item: npt.ArrayLike, annotator: Sequence[str], value: npt.ArrayLike, *, n_items: int
) -> AnnotatorRatings:
    """Return the ratings of items by named annotators. Each argument has one element for each rating.

    Items are numbered from 0. Several ratings of an item by one annotator count as their mean. Annotators are numbered
    in the order of their first ratings. Raises ColumnsDiffer and ColumnMalformed.

    >>> annotator_ratings([0, 0, 0, 1], ["ann", "ann", "ben", "ben"], [1, 3, 5, 4], n_items=3).means().tolist()
    [3.5, 4.0, nan]
    """
    numbered, values = read_numbers(item, "item", finite=True), read_numbers(value, "value", finite=True)
    if not numbered.shape == values.shape == (len(annotator),):
        raise ColumnsDiffer(first=numbered.shape, second=values.shape)
    require_present(annotator, "annotator")
    wrong = (numbered < 0) | (numbered >= n_items) | (numbered % 1 != 0)
    if wrong.any():
        raise ColumnMalformed(
            column="item", row=int(wrong.argmax()), fault=f"is not the number of an item, from 0 to {n_items - 1}"
        )
    items = numbered.astype(np.intp)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(annotator))}
    who = np.array([numbers[name] for name in annotator], dtype=np.intp)
    cells, cell = np.unique(items * max(len(numbers), 1) + who, return_inverse=True)
    cell = cell.ravel()
    means = np.bincount(cell, weights=values, minlength=len(cells)) / np.bincount(cell, minlength=len(cells))
    return AnnotatorRatings(n_items, cells // max(len(numbers), 1), cells % max(len(numbers), 1), means)

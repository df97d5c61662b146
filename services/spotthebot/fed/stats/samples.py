"""Items with scores and their annotators' ratings; samples that leave out one dialogue or one annotator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.statistics.arrays import BoolArray, FloatArray, IntArray
from spotthebot.statistics.cells import cell_code
from spotthebot.statistics.columns import read_codes, read_numbers, require_present, unit_of
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


Ratings: TypeAlias = npt.ArrayLike | AnnotatorRatings
"""The rating of each item (n,), or the ratings by annotator."""
MAX_GROUPS: Final = 200
"""If there are more clusters, they are left out in groups, so that an interval takes at most this many fits."""
_VALUES_AT_ONCE: Final = 1_000_000


class Rows:
    """Samples of the same n items, one sample in each row. Items and columns have the shape (rows, n)."""

    def __init__(self, kept: BoolArray, columns: Sequence[FloatArray]) -> None:
        self.kept, self.columns = kept, columns
        self._ranks: dict[int, FloatArray] = {}

    def values(self, at: int) -> FloatArray:
        """Return the values of column `at`, minus each row's mean; 0 for items that are missing in a row."""
        return self._centred(self.columns[at] / unit_of(self.columns[at]))

    def ranks(self, at: int) -> FloatArray:
        """Return the ranks of column `at` in each row, minus their mean; 0 for items that are missing in a row."""
        if at not in self._ranks:
            # Items that a row lacks rank above all others, so they change no other rank.
            found = scipy.stats.rankdata(np.where(self.kept, self.columns[at], np.inf), axis=1)
            self._ranks[at] = self._centred(found)
        return self._ranks[at]

    def _centred(self, column: FloatArray) -> FloatArray:
        present = np.where(self.kept, column, 0.0)
        means = present.sum(axis=1, keepdims=True) / np.maximum(self.kept.sum(axis=1, keepdims=True), 1)
        return np.where(self.kept, column - means, 0.0)


@dataclass(frozen=True, eq=False)
class Sample:
    """The items without a NaN, as columns (n,): scores, ratings and, if requested, lengths.

    `dialogue` (n,) has the code of each item's dialogue. `ratings` has the ratings by annotator if they are known.
    """

    columns: tuple[FloatArray, ...]
    dialogue: IntArray
    ratings: AnnotatorRatings | None

    @property
    def n(self) -> int:
        return len(self.dialogue)

    @cached_property
    def n_dialogues(self) -> int:
        return len(np.unique(self.dialogue))

    @property
    def n_annotators(self) -> int | None:
        return None if self.ratings is None else self.ratings.n_annotators

    @property
    def whole(self) -> Rows:
        """Return the whole sample, as one row."""
        return Rows(np.ones((1, self.n), dtype=np.bool_), [each[None] for each in self.columns])

    @property
    def dialogue_sizes(self) -> IntArray:
        """Return how many items each sample of `without_dialogues` lacks."""
        return np.bincount(few_groups(self.dialogue))

    @property
    def annotator_sizes(self) -> IntArray:
        """Return how many ratings each sample of `without_annotators` lacks."""
        return np.bincount(self._annotator_groups)

    @property
    def shared_sizes(self) -> IntArray:
        """Return how many ratings each sample of `without_shared` lacks."""
        return np.bincount(self._shared_groups)

    def without_dialogues(self) -> Iterator[Rows]:
        """Yield samples. Each leaves out one dialogue, or one group of dialogues."""
        group = few_groups(self.dialogue)
        for first, last in self._steps(group):
            kept = group[None] != np.arange(first, last)[:, None]
            yield Rows(kept, [np.broadcast_to(each, kept.shape) for each in self.columns])

    def without_annotators(self) -> Iterator[Rows]:
        """Yield samples. Each leaves out one annotator's ratings, and the items that only this annotator rated."""
        yield from self._without(self._annotator_groups)

    def without_shared(self) -> Iterator[Rows]:
        """Yield samples. Each leaves out the ratings that one annotator gave in one dialogue."""
        yield from self._without(self._shared_groups)

    @property
    def _annotator_groups(self) -> IntArray:
        return few_groups(self.ratings.annotator) if self.ratings is not None else np.empty(0, dtype=np.int64)

    @cached_property
    def _shared_groups(self) -> IntArray:
        if self.ratings is None:
            return np.empty(0, dtype=np.int64)
        dialogue = self.dialogue[self.ratings.item]
        cell, _ = cell_code(dialogue, self.ratings.annotator)
        _, cell = np.unique(cell, return_inverse=True)
        # In any order, so that no group has an annotator or a dialogue more often than by chance.
        shuffled = np.random.default_rng(0).permutation(int(cell.max(initial=-1)) + 1)
        return few_groups(shuffled[cell.ravel()])

    def _without(self, group: IntArray) -> Iterator[Rows]:
        ratings = self.ratings
        if ratings is None:
            return
        for first, last in self._steps(group):
            means = ratings.means_without(group, first, last)
            kept = ~np.isnan(means)
            scores, *others = (np.broadcast_to(each, kept.shape) for each in (self.columns[0], *self.columns[2:]))
            yield Rows(kept, [scores, means, *others])

    def _steps(self, group: IntArray) -> Iterator[tuple[int, int]]:
        count, step = int(group.max(initial=-1)) + 1, max(1, _VALUES_AT_ONCE // max(self.n, 1))
        return ((first, min(first + step, count)) for first in range(0, count, step))


def few_groups(code: IntArray) -> IntArray:
    """Join neighbouring clusters, coded from 0, into at most MAX_GROUPS groups.

    >>> few_groups(np.arange(400))[:4].tolist()
    [0, 0, 1, 1]
    """
    count = int(code.max(initial=-1)) + 1
    return code if count <= MAX_GROUPS else code * MAX_GROUPS // count


def dialogue_codes(dialogue: npt.ArrayLike | None, n: int) -> IntArray:
    """Return the code of each item's dialogue (n,). Codes start from 0, in the order in which dialogues first appear.

    Without `dialogue` each item is a dialogue of its own.

    >>> dialogue_codes(["z", "a", "z"], 3).tolist()
    [0, 1, 0]
    """
    if dialogue is None:
        return np.arange(n)
    _, first, code = np.unique(np.asarray(dialogue), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code.ravel()]  # so that equal data has equal groups


def sample_of(
    scores: npt.ArrayLike, ratings: Ratings, *others: npt.ArrayLike, dialogue: npt.ArrayLike | None
) -> Sample:
    """Return the items with a finite number in every column; raises ColumnsDiffer and ColumnMalformed."""
    known = ratings if isinstance(ratings, AnnotatorRatings) else None
    rated = ratings if not isinstance(ratings, AnnotatorRatings) else ratings.means()
    columns = [("scores", scores), ("ratings", rated), *(("lengths", each) for each in others)]
    arrays = [read_numbers(each, name) for name, each in columns]
    own = np.arange(arrays[0].size) if dialogue is None else np.asarray(dialogue, dtype=object)
    for each in (*arrays, own):
        if each.ndim != 1 or each.shape != arrays[0].shape:
            raise ColumnsDiffer(first=arrays[0].shape, second=each.shape)
    kept: BoolArray = np.all(np.isfinite(np.array(arrays)), axis=0)
    return Sample(
        columns=tuple(each[kept] for each in arrays),
        dialogue=dialogue_codes(read_codes(own, "dialogue").code[kept], int(kept.sum())),
        ratings=None if known is None else known.of_items(kept),
    )


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

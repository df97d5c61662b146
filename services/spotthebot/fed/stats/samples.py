"""Items with their scores and ratings, and samples that leave out one dialogue or one annotator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.fed.stats.annotator_ratings import AnnotatorRatings
from spotthebot.statistics.arrays import BoolArray, FloatArray, IntArray
from spotthebot.statistics.cells import cell_code
from spotthebot.statistics.columns import read_codes, read_numbers, unit_of
from spotthebot.statistics.errors import ColumnsDiffer

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

"""Items with their scores and ratings, and the samples that are left of them without a dialogue or an annotator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.fed.stats.annotator_ratings import AnnotatorRatings, BoolArray, FloatArray, IntArray
from spotthebot.statistics.columns import read_codes, read_numbers, unit_of
from spotthebot.statistics.errors import ColumnsDiffer

Ratings: TypeAlias = npt.ArrayLike | AnnotatorRatings
"""The rating of each item (n,), or who rated which item how."""

MAX_GROUPS: Final = 200
"""With more clusters, groups of them are left out, so that an interval takes as many fits at most."""
_VALUES_AT_ONCE: Final = 1_000_000


class Rows:
    """Samples of the same n items, one a row: which items a row has (rows, n), and columns that each are (rows, n)."""

    def __init__(self, kept: BoolArray, columns: Sequence[FloatArray]) -> None:
        self.kept, self.columns = kept, columns
        self._ranks: dict[int, FloatArray] = {}

    def values(self, at: int) -> FloatArray:
        """Return a column in its unit, less each row's mean; 0 where a row lacks the item."""
        return self._centred(self.columns[at] / unit_of(self.columns[at]))

    def ranks(self, at: int) -> FloatArray:
        """Return a column's ranks in each row less their mean; 0 where a row lacks the item."""
        if at not in self._ranks:
            # Items that a row lacks rank above all others, and so change no other's rank.
            found = scipy.stats.rankdata(np.where(self.kept, self.columns[at], np.inf), axis=1)
            self._ranks[at] = self._centred(found)
        return self._ranks[at]

    def _centred(self, column: FloatArray) -> FloatArray:
        present = np.where(self.kept, column, 0.0)
        means = present.sum(axis=1, keepdims=True) / np.maximum(self.kept.sum(axis=1, keepdims=True), 1)
        return np.where(self.kept, column - means, 0.0)


@dataclass(frozen=True, eq=False)
class Sample:
    """Columns (n,) of items without a NaN: scores, ratings and, where asked for, lengths.

    `dialogue` (n,) codes the dialogue of each item; `ratings` has who gave the ratings, where that is known.
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
        """The sample itself, as one row."""
        return Rows(np.ones((1, self.n), dtype=np.bool_), [each[None] for each in self.columns])

    def without_dialogues(self) -> Iterator[Rows]:
        """Yield the samples without each dialogue, or without each group of them."""
        group = few_groups(self.dialogue)
        for first, last in self._steps(group):
            kept = group[None] != np.arange(first, last)[:, None]
            yield Rows(kept, [np.broadcast_to(each, kept.shape) for each in self.columns])

    def without_annotators(self) -> Iterator[Rows]:
        """Yield the samples without each annotator's ratings; an item that nobody else rated is left out."""
        if self.ratings is not None:
            yield from self._without(few_groups(self.ratings.annotator))

    def without_shared(self) -> Iterator[Rows]:
        """Yield the samples without the ratings that one annotator gave in one dialogue."""
        if self.ratings is not None:
            dialogue = self.dialogue[self.ratings.item]
            cells = dialogue * (int(self.ratings.annotator.max(initial=0)) + 1) + self.ratings.annotator
            _, cell = np.unique(cells, return_inverse=True)
            # In any order, so that no group has an annotator or a dialogue more often than by chance.
            shuffled = np.random.default_rng(0).permutation(int(cell.max(initial=-1)) + 1)
            yield from self._without(few_groups(shuffled[cell.ravel()]))

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
    """Join clusters, coded from 0, into groups of neighbours where they are more than MAX_GROUPS.

    >>> few_groups(np.arange(400))[:4].tolist()
    [0, 0, 1, 1]
    """
    count = int(code.max(initial=-1)) + 1
    return code if count <= MAX_GROUPS else code * MAX_GROUPS // count


def dialogue_codes(dialogue: npt.ArrayLike | None, n: int) -> IntArray:
    """Return the number of each item's dialogue (n,), counted by first items; without dialogues each item is one.

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
    """Return the items whose number is finite in every column; raises ColumnsDiffer and ColumnMalformed."""
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

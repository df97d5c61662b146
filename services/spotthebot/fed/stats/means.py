"""Means of contexts by dialogue or by bot. Correlations at these levels compare the means."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from spotthebot.statistics.arrays import FloatArray
from spotthebot.statistics.columns import read_numbers, require_present, unit_of
from spotthebot.statistics.errors import ColumnsDiffer

Group = TypeVar("Group", bound=Hashable)


def group_means(values: npt.ArrayLike, groups: Sequence[Group]) -> tuple[list[Group], FloatArray]:
    """Return the groups in the order of their first items, and the mean of each group's values.

    NaN values are left out. The mean of a group with only NaN values is NaN. Raises ColumnsDiffer, and ColumnMalformed
    for a missing group.

    >>> names, means = group_means([1.0, 3.0, 5.0, float("nan")], ["a", "a", "b", "b"])
    >>> names, means.tolist()
    (['a', 'b'], [2.0, 5.0])
    """
    column = read_numbers(values, "values")
    if column.shape != (len(groups),):
        raise ColumnsDiffer(first=column.shape, second=(len(groups),))
    require_present(groups, "groups")
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    of = np.array([numbers[group] for group in groups], dtype=np.intp)
    known = ~np.isnan(column)
    counts = np.bincount(of[known], minlength=len(numbers))
    unit = unit_of(column)
    totals = np.bincount(of[known], weights=column[known] / unit, minlength=len(numbers))
    means: FloatArray = np.where(counts > 0, totals / np.maximum(counts, 1) * unit, np.nan)
    return list(numbers), means

"""Standard errors by leaving dialogues out: the turns of one dialogue are alike, so they go together.

Intervals of rank correlations from Fisher's z, this standard error and Student's t hold the truth at least as often as
a percentile bootstrap over dialogues, more often where there are ten of them (`benchmarks/fed/coverage.py`),
and need no seed.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

MAX_GROUPS: Final = 200
"""With more dialogues, groups of them are left out, so that an interval takes as many fits at most."""
MIN_GROUPS: Final = 3


def dialogue_groups(dialogue: npt.ArrayLike | None, n: int) -> IntArray:
    """Return for each of n items the group that it is left out with; without dialogues each item is one.

    >>> dialogue_groups(["a", "a", "b"], 3).tolist()
    [0, 0, 1]
    """
    if dialogue is None:
        code: IntArray = np.arange(n)
    else:
        _, first, code = np.unique(np.asarray(dialogue), return_index=True, return_inverse=True)
        code = np.argsort(np.argsort(first))[code.ravel()]  # by their first item, so that equal data has equal groups
    count = int(code.max(initial=-1)) + 1
    return code if count <= MAX_GROUPS else code * MAX_GROUPS // count


def jackknife_error(statistic: Callable[[BoolArray], float], groups: IntArray) -> tuple[float, int]:
    """Return a statistic's standard error and the number of groups, from its values with each group left out.

    `statistic` maps which items to keep to a value. The error is NaN where one of the values is, or with fewer than
    three groups (Efron & Tibshirani 1993, section 11.5).

    >>> x = np.array([1.0, 2.0, 3.0, 6.0])
    >>> error, n = jackknife_error(lambda kept: float(x[kept].mean()), np.arange(4))
    >>> bool(np.isclose(error, x.std(ddof=1) / 2)), n  # of a mean, it is the usual one
    (True, 4)
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups < MIN_GROUPS:
        return float("nan"), n_groups
    values = np.array([statistic(groups != group) for group in range(n_groups)])
    return float(np.sqrt((n_groups - 1) / n_groups * np.sum((values - values.mean()) ** 2))), n_groups

"""Sets of annotators.

A unit needs a set if it joins several annotations, such as two labels of one side of a segment.
"""

from typing import Final, TypeVar

import numpy as np
import scipy

from spotthebot.statistics.arrays import FloatArray, IntArray
from spotthebot.statistics.cells import cell_code

_Sums = TypeVar("_Sums", "scipy.sparse.csr_array", FloatArray)
_MAX_SUBSETS: Final = 20_000_000
"""With more subsets, as for sets of twenty annotators, it is cheaper to list the pairs of sets."""


def annotator_sets(unit: IntArray, annotator: IntArray) -> tuple[IntArray, "scipy.sparse.csr_array"]:
    """Return the code of each unit's set of annotators (units,), and the members of each set, for `Observations`.

    `members` is a matrix (sets, annotators). `unit` (n,) has codes from 0 without a gap, `annotator` (n,) any codes. An
    annotator who occurs twice in a unit is one member.

    >>> codes, members = annotator_sets(np.array([0, 0, 1, 1, 2, 2]), np.array([7, 9, 7, 8, 9, 7]))
    >>> codes.tolist(), members.toarray().tolist()
    ([1, 0, 1], [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    """
    names, code = np.unique(annotator, return_inverse=True)
    n_annotators = max(len(names), 1)
    found = np.unique(unit.astype(np.int64) * n_annotators + code)
    of, who = found // n_annotators, found % n_annotators
    sizes = np.bincount(of)
    listed = np.full((len(sizes), int(sizes.max(initial=0))), -1)
    listed[of, np.arange(len(found)) - np.repeat(np.cumsum(sizes) - sizes, sizes)] = who
    sets, codes = np.unique(listed, axis=0, return_inverse=True)
    entries = sets >= 0
    rows = np.repeat(np.arange(len(sets)), entries.sum(axis=1))
    members = scipy.sparse.csr_array((np.ones(len(rows)), (rows, sets[entries])), shape=(len(sets), n_annotators))
    return codes.reshape(-1), members


def set_members(code: IntArray, members: "scipy.sparse.csr_array") -> tuple[IntArray, IntArray]:
    """Return each annotator in the set of each of n entries, as two columns: the entries and the annotators.

    >>> entry, annotator = set_members(np.array([1, 0]), scipy.sparse.csr_array(np.array([[1.0, 0.0], [1.0, 1.0]])))
    >>> entry.tolist(), annotator.tolist()
    ([0, 0, 1], [0, 1, 0])
    """
    sizes = np.diff(members.indptr)[code]
    entry = np.repeat(np.arange(len(code)), sizes)
    offsets = np.arange(len(entry)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return entry, members.indices[members.indptr[code][entry] + offsets].astype(np.int64)


def shared_cells(
    conversation: IntArray, annotator: IntArray, members: "scipy.sparse.csr_array | None"
) -> tuple[IntArray, "scipy.sparse.csr_array | None"]:
    """Return the cell of each entry (n,): its conversation together with its annotator or its set of annotators.

    For sets, also return a matrix (cells, cells). It is 1 if two cells of one conversation have an annotator in common.

    >>> cell, alike = shared_cells(np.array([4, 4, 5]), np.array([0, 1, 0]), scipy.sparse.csr_array(np.eye(2)))
    >>> cell.tolist(), alike.toarray().tolist()
    ([0, 1, 2], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """
    pair, n_sets = cell_code(conversation, annotator)
    pairs, cell = np.unique(pair, return_inverse=True)
    if members is None or not len(pairs):
        return cell, None
    conversations, sets = pairs // n_sets, pairs % n_sets
    within = scipy.sparse.csr_array((np.ones(len(pairs)), (np.arange(len(pairs)), conversations)))
    alike = scipy.sparse.coo_array(within @ within.T)
    rows, columns = alike.coords
    kept = np.asarray(members[sets[rows]].multiply(members[sets[columns]]).sum(axis=1)).ravel() > 0
    ones = np.ones(int(kept.sum()))
    return cell, scipy.sparse.csr_array((ones, (rows[kept], columns[kept])), shape=alike.shape)


class SharedMembers:
    """Sums, for each set of annotators, the values of all sets that share an annotator with it, itself included.

    There are too many pairs of such sets to list them. Instead, for every subset of annotators, the values of the sets
    that contain it are summed, with the sign of inclusion and exclusion. So each pair of sets counts once, however many
    annotators they have in common.

    >>> members = scipy.sparse.csr_array(np.array([[1.0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]]))
    >>> (SharedMembers(members) @ scipy.sparse.csr_array(np.eye(3))).toarray().tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(self, members: "scipy.sparse.csr_array") -> None:
        subsets = float(np.sum(2.0 ** np.diff(members.indptr)))
        if subsets > _MAX_SUBSETS:
            self._after, self._before = ((members @ members.T) > 0).astype(np.float64).tocsr(), None
        else:
            self._after, self._before = _subsets(members)

    def __matmul__(self, sums: _Sums) -> _Sums:
        """Return for each set the sums (sets, m) over all sets that share an annotator with it."""
        found: _Sums = self._after @ (sums if self._before is None else self._before @ sums)
        return found


def _subsets(members: "scipy.sparse.csr_array") -> tuple["scipy.sparse.csr_array", "scipy.sparse.csr_array"]:
    """Return which sets contain each subset of annotators, as two matrices.

    The first one, (sets, subsets), has signs; the second one, (subsets, sets), has none.
    """
    n_sets, n_annotators = members.shape
    sizes, starts = np.diff(members.indptr), members.indptr[:-1]
    of = np.repeat(np.arange(n_sets), sizes)
    last = np.arange(len(of)) - starts[of]
    who = members.indices.astype(np.int64)
    code, sign, n_subsets = who, 1.0, 0
    found = []
    while len(of):
        kinds, code = np.unique(code, return_inverse=True)
        found.append((of, code + n_subsets, np.full(len(of), sign)))
        n_subsets, sign = n_subsets + len(kinds), -sign
        # Every subset is visited once: it grows only by members after its last one.
        behind = sizes[of] - 1 - last
        grown = np.repeat(np.arange(len(of)), behind)
        step = np.arange(len(grown)) - np.repeat(np.cumsum(behind) - behind, behind) + 1
        of, last, code = of[grown], last[grown] + step, code[grown]
        code = code * n_annotators + who[starts[of] + last]
    nothing = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    sets, subset, signs = (np.concatenate(column) for column in zip(nothing, *found, strict=True))
    shape = (n_sets, n_subsets)
    signed = scipy.sparse.csr_array((signs, (sets, subset)), shape=shape)
    return signed, scipy.sparse.csr_array((np.ones(len(sets)), (sets, subset)), shape=shape).T.tocsr()

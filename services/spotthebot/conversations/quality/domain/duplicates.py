"""Duplicate conversations: exact, by their words, or near, by shared sequences of words.

Near duplicates are found by MinHash (Broder 1997) and locality-sensitive hashing (Indyk and Motwani 1998; Leskovec,
Rajaraman and Ullman, Mining of Massive Datasets, section 3.4). So the time grows with the number of conversations, not
of pairs.

`rensa` computes MinHash ten times as fast as `datasketch`, and has no dependencies. We compare the bands of signatures
ourselves, because a job that resumes reads signatures from the database.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from rensa import RMinHash

from spotthebot.kit.text.words import words

SHINGLE_WORDS: Final = 3
NEAR: Final = 0.7
"""The Jaccard similarity of near duplicates: about one turn in ten differs."""
PERMUTATIONS: Final = 128
_ROWS = 4
_BANDS = PERMUTATIONS // _ROWS
_SEED = 20201116
_COMPARED_AT_ONCE = 50_000

Signatures = npt.NDArray[np.uint32]


def shingles(turns: Sequence[str]) -> set[str]:
    """Return all sequences of three words of a conversation, also across turns.

    A conversation of fewer words is one sequence.
    """
    said = [word for turn in turns for word in words(turn)]
    return {" ".join(said[start : start + SHINGLE_WORDS]) for start in range(max(1, len(said) - SHINGLE_WORDS + 1))}


def signature(turns: Sequence[str]) -> bytes:
    """Return the MinHash signature of a conversation's shingles: 128 numbers of 32 bits."""
    sketch = RMinHash(num_perm=PERMUTATIONS, seed=_SEED)
    sketch.update(sorted(shingles(turns)))
    return np.array(sketch.digest(), dtype=np.uint32).tobytes()


def near_duplicates(signatures: Signatures) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return for each signature the index of the most similar earlier signature, or -1, and their similarity.

    `signatures` has shape (conversations, 128), in the order of the conversations. The similarity is the share of equal
    numbers. It estimates the Jaccard similarity with a standard error of at most 0.04. Two signatures that agree in one
    of 32 bands of 4 numbers are candidates; this holds for 99.98 % of pairs with similarity 0.7. If many signatures
    agree in a band, each of them is compared only with the first and with the previous of these signatures. So the
    number of comparisons grows only linearly with the number of copies.
    """
    resembled = np.full(len(signatures), -1, dtype=np.int64)
    similarity = np.zeros(len(signatures))
    for start in range(0, _BANDS * _ROWS, _ROWS):
        for later, earlier in _candidates(signatures[:, start : start + _ROWS]):
            for chunk in range(0, len(later), _COMPARED_AT_ONCE):
                one, other = later[chunk : chunk + _COMPARED_AT_ONCE], earlier[chunk : chunk + _COMPARED_AT_ONCE]
                alike = np.mean(signatures[one] == signatures[other], axis=1)
                better = (alike >= NEAR) & (alike > similarity[one])
                resembled[one[better]], similarity[one[better]] = other[better], alike[better]
    return resembled, similarity


def _candidates(band: Signatures) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Pair each conversation with the first and the previous conversation that have its numbers in this band."""
    if not len(band):
        return []
    mixed = np.zeros(len(band), dtype=np.uint64)
    for column in band.T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed, kind="stable")  # stable: earlier conversations stay before later ones
    begins = np.concatenate(([True], mixed[order][1:] != mixed[order][:-1]))
    first = order[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    before = np.concatenate((order[:1], order[:-1]))
    return [(order[~begins], first[~begins]), (order[~begins], before[~begins])]

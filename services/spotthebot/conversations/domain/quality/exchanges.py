"""Exchanges by their words: an utterance and the one that answers it, whatever their case, spacing and punctuation."""

import hashlib
from collections.abc import Sequence
from itertools import pairwise

from spotthebot.kit.words import normalised

HASH_BYTES = 8


def exchange_hashes(turns: Sequence[str]) -> bytes:
    """Return 8 bytes for each two adjacent turns: with a million of each, one in 10 million is mistaken."""
    said = [normalised(turn) for turn in turns]
    return b"".join(hashlib.blake2b(f"{a}\x00{b}".encode(), digest_size=HASH_BYTES).digest() for a, b in pairwise(said))

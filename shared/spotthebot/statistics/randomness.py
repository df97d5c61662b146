"""Where chance comes from: a `numpy.random.Generator` that the caller owns, or a seed to make one from."""

from typing import TypeAlias

import numpy as np

from spotthebot.statistics.errors import SeedMalformed
from spotthebot.statistics.whole_numbers import is_whole

Seed: TypeAlias = int | np.random.Generator


def generator_of(seed: Seed) -> np.random.Generator:
    """Return the generator itself, which goes on from where it stands, or a new one from a seed.

    Raises SeedMalformed for anything else.
    """
    if not isinstance(seed, np.random.Generator):
        require_seed(seed)
    return np.random.default_rng(seed)


def require_seed(seed: int) -> None:
    """Raise SeedMalformed unless the seed is a whole number from 0."""
    if not is_whole(seed, 0):
        raise SeedMalformed(value=f"{seed!r:.60}")


def seed_of(seed: Seed) -> int | None:
    """Return what a result remembers: the seed, or the one that the generator was made from, None if it had none.

    A generator made without a seed has drawn its entropy from the system, and that is what is returned: it starts
    the same sequence again.
    """
    if not isinstance(seed, np.random.Generator):
        return int(seed)
    entropy = getattr(seed.bit_generator.seed_seq, "entropy", None)
    return entropy if isinstance(entropy, int) else None

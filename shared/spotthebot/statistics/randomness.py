"""Sources of randomness: a `numpy.random.Generator` that the caller owns, or a seed to make one from."""

from typing import TypeAlias

import numpy as np

from spotthebot.statistics.errors import SeedMalformed
from spotthebot.statistics.whole_numbers import is_whole

Seed: TypeAlias = int | np.random.Generator


def generator_of(seed: Seed) -> np.random.Generator:
    """Return the given generator, which continues its sequence, or a new generator made from a seed.

    Raises SeedMalformed for anything else.
    """
    if not isinstance(seed, np.random.Generator):
        require_seed(seed)
    return np.random.default_rng(seed)


def require_seed(seed: int) -> None:
    """Raise SeedMalformed unless the seed is a whole number of at least 0."""
    if not is_whole(seed, 0):
        raise SeedMalformed(value=f"{seed!r:.60}")


def seed_of(seed: Seed) -> int | None:
    """Return the seed that a result stores: the given seed, or the generator's seed; None if the generator has none.

    A generator made without a seed has drawn its entropy from the system. This entropy is returned: as a seed it starts
    the same sequence again.
    """
    if not isinstance(seed, np.random.Generator):
        return int(seed)
    entropy = getattr(seed.bit_generator.seed_seq, "entropy", None)
    return entropy if isinstance(entropy, int) else None

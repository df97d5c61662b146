"""Chooses how a model's likelihoods are computed.

The packed path is chosen if the model's class allows it and a comparison with the plain path confirms it.
"""

import random
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from ..pretrained import Pretrained
from .encoder_decoder import EncoderDecoderPath
from .limits import Limits
from .packed import NotPackable, PackedPath
from .plain import PlainPath
from .units import Context, LogProbabilities, Unit, chained

_TRIALS = ((3, 7), (11, 24))
"""Lengths of trial contexts, each a prefix of the next, on which the packed and the plain path are compared."""
_TOLERANCE = {torch.float32: 1e-4}
_HALF_TOLERANCE = 0.25
"""The limit for the mean difference of a token's log-probability; half precision rounds each logit about as much."""


class LikelihoodPath(Protocol):
    """A way to compute the log-probabilities of units."""

    @property
    def name(self) -> str: ...

    def run(self, units: list[Unit]) -> list[LogProbabilities]:
        """Return the log-probabilities of each branch of each unit, in order."""
        ...


def choose_path(loaded: Pretrained, limits: Limits) -> LikelihoodPath:
    """Return the packed path if it returns the same numbers as the plain path, else the plain path."""
    model = loaded.model
    if model.config.is_encoder_decoder:
        return EncoderDecoderPath(model, limits)
    plain = PlainPath(model)
    before = model.config._attn_implementation  # noqa: SLF001 - transformers has no public name for it
    units, tolerance = _trials(loaded), _TOLERANCE.get(model.dtype, _HALF_TOLERANCE)
    try:
        packed = PackedPath(model, limits)
        with torch.inference_mode():
            is_same = _mean_difference(packed.run(units), plain.run(units)) <= tolerance
    except (NotPackable, TypeError, ValueError, RuntimeError, IndexError, AttributeError):  # from code not made for it
        is_same = False
    if is_same:
        return packed
    model.set_attn_implementation(before)
    return plain


def _trials(loaded: Pretrained) -> list[Unit]:
    chance = random.Random(1)  # noqa: S311 - tokens to compare with, no secrets
    size = loaded.model.get_input_embeddings().num_embeddings

    def ids(count: int) -> tuple[int, ...]:
        return tuple(chance.randrange(size) for _ in range(count))

    units: list[Unit] = []
    for lengths in _TRIALS:
        chain, shared = ids(lengths[-1]), ids(2)
        followups = ((*shared, *ids(3)), (*shared, *ids(1)), ids(4), ids(1))
        contexts = [Context(len(units), chain[:length], followups) for length in lengths]
        units += chained(contexts, likelihood=True)
    return units


def _mean_difference(ours: list[LogProbabilities], theirs: list[LogProbabilities]) -> float:
    """Return the mean difference of two paths' log-probabilities of a token; infinite if only one returns a number.

    If neither path returns a number, the difference is 0. Then the model is damaged: each of its requests fails with a
    message that says so.
    """
    mine, plain = _values(ours), _values(theirs)
    differences = np.where(np.isnan(mine) & np.isnan(plain), 0.0, np.abs(mine - plain))
    return float(np.nan_to_num(differences, nan=np.inf).mean())


def _values(found: list[LogProbabilities]) -> NDArray[np.float64]:
    """Return all log-probabilities.

    The sum of a context is divided by its number of tokens, so that it counts as one token.
    """
    means = [np.array([(each.context or 0.0) / max(_TRIALS[-1])]) for each in found]
    return np.concatenate([*means, *(followup for each in found for followup in each.followups)])

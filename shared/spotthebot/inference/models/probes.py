"""Tests whether tokens after a word change the numbers that a loaded model computes for the word."""

import random
from typing import Any

import torch

from .errors import UnknownModelKind

_TOKENS, _CHANGED = 16, 8
_TOLERANCES = {torch.float32: 2e-5}
_HALF_TOLERANCE = 0.02
"""Relative to the largest logit. In an untrained masked model changed tokens already move earlier logits by 1e-3."""


def require_causal(name: str, model: Any) -> None:  # noqa: ANN401 - transformers' classes share no useful type
    """Raise UnknownModelKind if a change of the last tokens changes the model's numbers at earlier tokens.

    A masked model (RoBERTa without `is_decoder`) and a bidirectional model (XLNet) see the token that they predict. So
    their numbers are not likelihoods of a text, and they can't write a text.
    """
    chance = random.Random(1)  # noqa: S311 - tokens to compare with, no secrets
    size = model.get_input_embeddings().num_embeddings
    ids = [chance.randrange(size) for _ in range(_TOKENS)]
    others = [*ids[:-_CHANGED], *((each + 1) % size for each in ids[-_CHANGED:])]
    try:
        one, two = _logits(model, ids), _logits(model, others)
    except Exception as error:  # a foreign model may raise anything
        first = str(error).partition("\n")[0]
        raise UnknownModelKind(name, f"it can't read a text alone ({type(error).__name__}: {first})") from error
    if not bool(one.isfinite().all()) or not bool(two.isfinite().all()):
        return  # its weights are damaged, which each request reports
    tolerance = _TOLERANCES.get(model.dtype, _HALF_TOLERANCE) * float(one.abs().max())
    if float((one - two)[:-_CHANGED].abs().max()) > tolerance:
        reason = "it is not causal: its numbers for a word change with the words after it, as a masked model's do"
        raise UnknownModelKind(name, f"{reason}. Name a causal or an encoder-decoder model")


def _logits(model: Any, ids: list[int]) -> torch.Tensor:  # noqa: ANN401 - as above
    with torch.inference_mode():
        logits: torch.Tensor = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits
    return logits[0].float()

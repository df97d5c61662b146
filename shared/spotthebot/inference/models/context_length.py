"""How many tokens a model can read, and the reason for this limit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

MAX_CONTEXT_LENGTH = 8192
"""The most tokens that a model reads, even if it could read more: memory grows with their number."""

_NAMES = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "max_sequence_length",
    "seq_length",
    "context_length",
    "max_encoder_position_embeddings",
    "max_decoder_position_embeddings",
)
"""The settings that hold the context length in configurations.

Models with relative positions or a state often have none.
"""
_ORIGINAL = "original_max_position_embeddings"
_MIN_UNKNOWN_LENGTH = 10**9  # for a tokenizer without a limit, transformers sets an astronomic one
_CHANGING_ROPE = ("longrope", "dynamic")
"""Rotary positions that change for the whole text once it is longer than the texts of pre-training."""


@dataclass(frozen=True)
class ContextLength:
    """The largest number of tokens that a model can read. `reason` completes "more are not read, since ..."."""

    tokens: int
    reason: str


def context_length(model: Any, tokenizer: Any) -> ContextLength:  # noqa: ANN401 - transformers' classes share no useful type
    """Return how many tokens a model can read."""
    config = model.config.get_text_config()
    found = [(MAX_CONTEXT_LENGTH, "this suite stops there, as memory grows with them")]
    named = [_setting(config, name) for name in _NAMES]
    positions = [*(value for value in named if value), *_numbered_from_padding(model)]
    found += [(value, "its positions end there") for value in positions]
    if tokenizer.model_max_length < _MIN_UNKNOWN_LENGTH:
        found.append((int(tokenizer.model_max_length), "its tokenizer is made for no more"))
    return ContextLength(*min(found, key=lambda each: each[0]))


def steady_context_length(config: Any, limit: ContextLength) -> ContextLength:  # noqa: ANN401 - as above
    """Return how many tokens a model can read before further tokens change its numbers for earlier tokens.

    LongRoPE (Ding et al. 2024, section 3.3) and dynamic NTK scaling use other rotary frequencies for a text that is
    longer than the texts of pre-training. These frequencies change the numbers of all tokens, the first included.
    """
    text = config.get_text_config()
    for rope in _ropes(getattr(text, "rope_parameters", None)):
        kind = str(rope.get("rope_type"))
        named = [rope.get(_ORIGINAL), _setting(text, _ORIGINAL), _setting(text, _NAMES[0])]
        original = next((each for each in named if each), limit.tokens)
        if any(each in kind for each in _CHANGING_ROPE) and original < limit.tokens:
            limit = ContextLength(original, f"its rotary positions ('{kind}') change earlier scores beyond")
    return limit


def has_changing_rope(config: Any) -> bool:  # noqa: ANN401 - as above
    """Return whether a longer text changes the model's numbers for its first tokens."""
    ropes = _ropes(getattr(config.get_text_config(), "rope_parameters", None))
    return any(each in str(rope.get("rope_type")) for rope in ropes for each in _CHANGING_ROPE)


def _ropes(parameters: object) -> Iterator[Mapping[str, Any]]:
    """Yield the settings of rotary positions: one set for the whole model, or one set for each type of layer."""
    if isinstance(parameters, Mapping):
        if "rope_type" in parameters:
            yield parameters
        for each in parameters.values():
            yield from _ropes(each)


def _numbered_from_padding(model: nn.Module) -> Iterator[int]:
    """Yield the number of learned positions if they are numbered from the padding token's number on, as in RoBERTa."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding) and name.endswith("position_embeddings") and module.padding_idx is not None:
            yield module.num_embeddings - module.padding_idx - 1


def _setting(config: Any, name: str) -> int | None:  # noqa: ANN401 - as above
    try:
        value = getattr(config, name, None)
    except NotImplementedError:  # XLNet's, which has no limit
        return None
    return value if isinstance(value, int) and value > 0 else None

"""The packed path: computes each context once, and all its follow-ups as branches of a token trie, without padding.

Embeddings, projections and feed-forward layers see one row with the tokens of all dialogues. Only the attention
distinguishes the contexts that the tokens belong to. It is installed through transformers' AttentionInterface, so that
the model's own code runs.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.activations import NewGELUActivation
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from .limits import Limits
from .log_sum_exp import log_sum_exp
from .packed_pass import ChainSegment, PackedPass
from .units import LogProbabilities, Unit

_ATTENTION = "spotthebot_packed"
_REFUSED = ("sliding_window", "softcap", "position_bias", "s_aux")
"""Options of attention that some models need, and that the packed attention lacks."""


class NotPackable(Exception):
    """The model's attention can't be packed."""


class PackedPath:
    """Runs a causal model. The model must accept positions and allow its attention to be replaced."""

    name = "packed"

    def __init__(self, model: Any, limits: Limits) -> None:  # noqa: ANN401 - transformers' classes are many
        """Prepare the model; raises NotPackable if its class can't be packed."""
        if not getattr(model, "_supports_attention_backend", False):
            message = f"{type(model).__name__} does not let its attention be replaced"
            raise NotPackable(message)
        model.set_attn_implementation(_ATTENTION)
        _fuse_activations(model)
        self._model = model
        self._body = model.base_model
        self._head = _head(model)
        self._limits = limits

    def run(self, units: list[Unit]) -> list[LogProbabilities]:
        """Return the log-probabilities of each branch of each unit, in order."""
        packed = PackedPass(units, self._model.device, self._model.dtype)
        given = torch.empty(1, 1, 1, 1, device=self._model.device)  # a mask of four dimensions is passed on as it is
        output = self._body(
            input_ids=packed.tokens,
            position_ids=packed.positions,
            attention_mask=given,
            use_cache=False,
            packed=packed,
        )
        return packed.shared(self._log_probabilities(output.last_hidden_state[0], packed))

    def _log_probabilities(self, hidden: torch.Tensor, packed: PackedPass) -> NDArray[np.float64]:
        """Return the log-probability of each prediction."""
        predictions = packed.predictions
        sources = hidden[predictions.rows]
        chosen = (sources[predictions.at].float() * self._head.weight[predictions.targets].float()).sum(1)
        if self._head.bias is not None:
            chosen += self._head.bias[predictions.targets].float()
        found = chosen - log_sum_exp(sources, self._head, self._limits.max_logit_bytes)[predictions.at]
        return np.asarray(found.double().cpu().numpy())


def _packed_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    packed: PackedPass | None = None,
    scaling: float | None = None,
    **options: Any,  # noqa: ANN401 - further options of a model
) -> tuple[torch.Tensor, None]:
    """Attend within each segment; query, key and value are [1, heads, tokens, width].

    Without a PackedPass, run `sdpa`.
    """
    if packed is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)
    refused = [name for name in _REFUSED if options.get(name) is not None]
    if refused:
        message = f"its attention has {', '.join(refused)}"
        raise NotPackable(message)
    groups = query.shape[1] // key.shape[1]
    key, value = repeat_kv(key, groups), repeat_kv(value, groups)
    pieces = []
    for segment in packed.segments:
        own = slice(segment.start, segment.start + segment.length)
        if isinstance(segment, ChainSegment):
            keys, values, bias = key[:, :, own], value[:, :, own], None
        else:
            bias = segment.bias
            keys, values = (_seen(each, segment.chain, segment.prefix, own) for each in (key, value))
        attended = functional.scaled_dot_product_attention(
            query[:, :, own], keys, values, attn_mask=bias, is_causal=bias is None, scale=scaling
        )
        pieces.append(attended.transpose(1, 2))
    return torch.cat(pieces, dim=1), None


def _seen(states: torch.Tensor, chain: int, prefix: int, own: slice) -> torch.Tensor:
    """Return the states of a chain's first tokens, followed by the states of a branch.

    Nothing is copied if they are adjacent.
    """
    if chain + prefix == own.start:
        return states[:, :, chain : own.stop]
    return torch.cat([states[:, :, chain : chain + prefix], states[:, :, own]], dim=2)


def _head(model: Any) -> torch.nn.Linear:  # noqa: ANN401 - transformers' classes are many
    head = model.get_output_embeddings()
    if not isinstance(head, torch.nn.Linear):
        message = f"{type(model).__name__} has no linear layer for its logits"
        raise NotPackable(message)
    return head


def _fuse_activations(model: torch.nn.Module) -> None:
    """Replace GPT-2's activation by torch's function with the same formula.

    It reads memory once instead of five times.
    """
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if type(child) is NewGELUActivation:
                setattr(module, name, torch.nn.GELU(approximate="tanh"))


AttentionInterface.register(_ATTENTION, _packed_attention)
AttentionMaskInterface.register(_ATTENTION, sdpa_mask)

"""Encoder-decoder models: the encoder reads the context once, the decoder reads the follow-ups."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from ..errors import ModelFilesDamaged
from .limits import Limits
from .units import Branch, LogProbabilities, Unit


class EncoderDecoderPath:
    """Runs a sequence-to-sequence model of transformers; raises ModelFilesDamaged if it has no start token.

    The attention's keys and values of the encoded context and of the decoder's start token are computed once for all
    follow-ups. The padding of a row is after its tokens, so no token attends to the padding.
    """

    name = "encoder_decoder"

    def __init__(self, model: Any, limits: Limits) -> None:  # noqa: ANN401 - transformers' classes are many
        self._model = model
        self._limits = limits
        named = (model.config, model.generation_config)
        starts = [getattr(each, "decoder_start_token_id", None) for each in named]
        self._start = next((each for each in starts if each is not None), None)
        if self._start is None:
            raise ModelFilesDamaged(model.name_or_path, "its configuration names no token that its decoder starts with")

    def run(self, units: list[Unit]) -> list[LogProbabilities]:
        """Return the log-probabilities of each branch of each unit, in order."""
        return [LogProbabilities(None, list(self._branch(unit, branch))) for unit in units for branch in unit.branches]

    def _branch(self, unit: Unit, branch: Branch) -> list[NDArray[np.float64]]:
        ids = torch.tensor([unit.chain[: branch.length]], device=self._model.device)
        encoded = self._model.get_encoder()(input_ids=ids).last_hidden_state
        first, cache = self._decode(encoded, torch.tensor([[self._start]], device=ids.device), None)
        followups = branch.followups
        found: list[NDArray[np.float64]] = [np.empty(0)] * len(followups)
        starts = first[0, 0].log_softmax(0)
        for group in _groups([len(followup) - 1 for followup in followups], self._max_tokens(first.shape[-1])):
            rest = self._rest(encoded, cache, [followups[index] for index in group])
            for index, row in zip(group, rest, strict=True):
                score = starts[followups[index][0]].double().cpu().numpy()
                found[index] = np.concatenate([[score], row])
        return found

    def _max_tokens(self, vocabulary: int) -> int:
        return max(1, min(self._limits.max_tokens_per_pass, self._limits.max_logit_bytes // (4 * vocabulary)))

    def _rest(
        self, encoded: torch.Tensor, cache: EncoderDecoderCache, followups: Sequence[tuple[int, ...]]
    ) -> list[NDArray[np.float64]]:
        """Return the log-probabilities of all tokens but the first of each follow-up."""
        lengths = [len(followup) - 1 for followup in followups]
        width = max(lengths)
        if width == 0:
            return [np.empty(0)] * len(followups)
        rows = [
            [*followup, *[followup[0]] * (width - length)] for followup, length in zip(followups, lengths, strict=True)
        ]
        ids = torch.tensor(rows, device=encoded.device)
        logits, _ = self._decode(encoded, ids[:, :-1], cache)
        scores = logits.gather(2, ids[:, 1:, None])[:, :, 0] - logits.logsumexp(2)
        return [row[:length] for row, length in zip(scores.double().cpu().numpy(), lengths, strict=True)]

    def _decode(
        self, encoded: torch.Tensor, ids: torch.Tensor, cache: EncoderDecoderCache | None
    ) -> tuple[torch.Tensor, EncoderDecoderCache]:
        """Return float32 logits of rows that follow the start token, and the cache of all tokens read so far."""
        output = self._model(
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded.expand(len(ids), -1, -1)),
            decoder_input_ids=ids,
            past_key_values=None if cache is None else _repeated(cache, len(ids)),
            use_cache=True,
        )
        return output.logits.float(), output.past_key_values


def _repeated(cache: EncoderDecoderCache, rows: int) -> EncoderDecoderCache:
    """Return a cache of one row as a cache of `rows` equal rows. It is a view: nothing is copied."""

    def expanded(part: DynamicCache) -> DynamicCache:
        shown = copy(part)
        shown.layers = [copy(layer) for layer in part.layers]
        for layer in shown.layers:
            states: Any = layer  # states of linear attention have no keys, but no encoder-decoder has linear attention
            states.keys, states.values = (each.expand(rows, -1, -1, -1) for each in (states.keys, states.values))
        return shown

    return EncoderDecoderCache(expanded(cache.self_attention_cache), expanded(cache.cross_attention_cache))


def _groups(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Return the indices of rows that run together: similar lengths, and at most `max_tokens` with their padding."""
    made: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda each: lengths[each], reverse=True):
        if not made or (len(made[-1]) + 1) * lengths[made[-1][0]] > max_tokens:
            made.append([])
        made[-1].append(index)
    return made

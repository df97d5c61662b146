"""Batched replies of causal and sequence-to-sequence models of transformers, by their own method `generate`."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from ..context_length import has_changing_rope
from ..plain_text import tokens_without_text, without_controls
from ..protocol import ModelDescription
from ..row_groups import MAX_ROWS, groups
from .context_window import fitted, split_context
from .prompts import PromptForm
from .requests import GenerationRequest
from .sampler import RowSampler

_KEPT = (
    "eos_token_id",
    "bos_token_id",
    "decoder_start_token_id",
    "suppress_tokens",
    "begin_suppress_tokens",
    "bad_words_ids",
)
_PROBE_TOKENS = 12
_PADDING_TOLERANCES = {torch.float32: 1e-4}
_HALF_TOLERANCE = 0.05
"""Relative to the largest logit: sums over padded rows are computed in another order."""
_KEPT_OF_DECODERS = ("min_length", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "forced_bos_token_id")


class TransformersModel:
    """Any causal or sequence-to-sequence model of transformers, with its tokenizer.

    Prompts of causal models are padded on the left, prompts of encoders on the right. Padding is masked and has no
    position. The checkpoint's generation settings apply if they concern single rows. Its settings of sampling and beams
    do not apply, since every request has its own settings. If padding changes the numbers of a model, it answers one
    request at a time: RWKV has no mask, and LongRoPE depends on the longest row.
    """

    def __init__(self, model: Any, tokenizer: Any, form: PromptForm, context_length: int) -> None:  # noqa: ANN401 - transformers' classes are many
        self._model = model
        self._tokenizer = tokenizer
        self._form = form
        self._is_encoder_decoder = bool(model.config.is_encoder_decoder)
        end = model.generation_config.eos_token_id
        self._ends = {tokenizer.eos_token_id, *(end if isinstance(end, list) else [end])} - {None}
        padding = tokenizer.pad_token_id
        self._padding = tokenizer.eos_token_id if padding is None else padding
        self._generation = self._settings(model.generation_config)
        model.generation_config = self._generation  # settings that `generate` moved from there must not come back
        self.description = ModelDescription(
            kind="sequence_to_sequence" if self._is_encoder_decoder else "causal",
            parameters=model.num_parameters(),
            dtype=str(model.dtype).removeprefix("torch."),
            device=str(model.device),
            context_length=context_length,
        )
        self._max_rows = MAX_ROWS if self._ignores_padding() else 1

    def _settings(self, theirs: Any) -> GenerationConfig:  # noqa: ANN401 - loosely typed by transformers
        names = (*_KEPT, *_KEPT_OF_DECODERS) if self._is_encoder_decoder else _KEPT
        kept = {name: value for name in names if (value := getattr(theirs, name, None)) is not None}
        silent = tokens_without_text(self._tokenizer, self._model.get_input_embeddings().num_embeddings)
        never = {*kept.get("suppress_tokens", ()), *silent} - self._ends - {kept.get("forced_bos_token_id")}
        kept["suppress_tokens"] = sorted(never) or None
        kept["begin_suppress_tokens"] = sorted({*kept.get("begin_suppress_tokens", ()), *self._ends}) or None
        return _settings(**{**kept, "eos_token_id": sorted(self._ends), "pad_token_id": self._padding})

    def replies(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """Return one reply for each request, in order."""
        prompts = [self._prompt(request) for request in requests]
        replies = [""] * len(requests)
        length = 2**31 if self._is_encoder_decoder else self.description.context_length
        for group in groups([(len(prompt), limit) for prompt, limit in prompts], length, max_rows=self._max_rows):
            with torch.inference_mode():
                texts = self._generate([requests[index] for index in group], [prompts[index] for index in group])
            for index, text in zip(group, texts, strict=True):
                replies[index] = text
        return replies

    def _prompt(self, request: GenerationRequest) -> tuple[list[int], int]:
        length = self.description.context_length
        if self._is_encoder_decoder:
            room, limit = length, min(request.max_new_tokens, length - 1)
        else:
            room, limit = split_context(length, request.max_new_tokens)
            limit = min(limit, request.max_new_tokens)
        return fitted(partial(self._form.encode, persona=request.persona), request.turns, room), limit

    def _generate(self, requests: Sequence[GenerationRequest], prompts: Sequence[tuple[list[int], int]]) -> list[str]:
        ids, mask = self._padded([prompt for prompt, _ in prompts])
        limits = torch.tensor([limit for _, limit in prompts], device=ids.device)
        sampler = RowSampler(requests, ids.device)
        rows = _Rows(sampler, limits, None if self._is_encoder_decoder else mask)
        written = self._model.generate(
            input_ids=ids,
            attention_mask=mask,
            generation_config=_settings(max_new_tokens=int(limits.max())),
            logits_processor=LogitsProcessorList([_Choice(rows)]),
            stopping_criteria=StoppingCriteriaList([_Limit(rows)]),
        )
        new = written[:, rows.width :].tolist()
        return [self._text(row[:limit]) for row, (_, limit) in zip(new, prompts, strict=True)]

    def _padded(self, prompts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        width = max(len(prompt) for prompt in prompts)
        ids = torch.full((len(prompts), width), self._padding, dtype=torch.int64)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            columns = slice(0, len(prompt)) if self._is_encoder_decoder else slice(width - len(prompt), width)
            ids[row, columns] = torch.tensor(prompt)
            mask[row, columns] = 1
        return ids.to(self._model.device), mask.to(self._model.device)

    def _ignores_padding(self) -> bool:
        """Return whether a short prompt gets the same logits in a batch with a long prompt as alone, up to rounding."""
        if has_changing_rope(self._model.config):
            return False
        size = self._model.get_input_embeddings().num_embeddings
        long = [token % size for token in range(7, 7 + _PROBE_TOKENS)]
        try:
            (alone,), (beside, _) = self._first_logits([long[:3]]), self._first_logits([long[:3], long])
        except Exception:  # noqa: BLE001 - the model can't answer two requests at once, or none; a request will show it
            return False
        difference, scale = (alone - beside).abs().max(), alone.abs().max()
        return not bool(difference > _PADDING_TOLERANCES.get(self._model.dtype, _HALF_TOLERANCE) * scale)

    def _first_logits(self, prompts: Sequence[list[int]]) -> torch.Tensor:
        """Return the logits of the first token of each reply, float32 of shape [rows, vocabulary]."""
        ids, mask = self._padded(prompts)
        settings = _settings(max_new_tokens=1, return_dict_in_generate=True, output_logits=True)
        with torch.inference_mode():
            written = self._model.generate(input_ids=ids, attention_mask=mask, generation_config=settings)
        return torch.as_tensor(written.logits[0]).float()

    def _text(self, ids: list[int]) -> str:
        end = next((index for index, token in enumerate(ids) if token in self._ends), len(ids))
        return without_controls(str(self._tokenizer.decode(ids[:end], skip_special_tokens=True))).strip()


def _settings(**values: Any) -> GenerationConfig:  # noqa: ANN401 - settings are numbers, lists and texts
    make: Callable[..., GenerationConfig] = GenerationConfig  # its constructor has no types
    return make(**values)


class _Rows:
    """The state that `_Choice` and `_Limit` share for one batch."""

    def __init__(self, sampler: RowSampler, limits: torch.Tensor, prompt_mask: torch.Tensor | None) -> None:
        self.sampler = sampler
        self.limits = limits
        self.prompt_mask = prompt_mask
        self.width = 0


class _Choice(LogitsProcessor):
    """Chooses each row's next token with the sampler, and excludes all other tokens."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if self._rows.width == 0:
            self._rows.width = input_ids.shape[1]
            mask = self._rows.prompt_mask
            self._rows.sampler.saw(input_ids, torch.ones_like(input_ids) if mask is None else mask, scores.shape[1])
        chosen = self._rows.sampler.choose(scores)
        return torch.full_like(scores, float("-inf")).scatter_(1, chosen[:, None], 0.0)


class _Limit(StoppingCriteria):
    """Ends each row when its reply has the length limit of its own request."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:  # noqa: ANN401, ARG002 - their signature
        return self._rows.limits <= input_ids.shape[1] - self._rows.width

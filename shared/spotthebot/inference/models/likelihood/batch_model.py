"""Likelihood models as worker processes and Triton run them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..errors import SettingUnusable
from ..pretrained import Pretrained, find_device, load_pretrained
from ..protocol import ModelDescription
from .kind import REVISION
from .limits import Limits
from .paths import LikelihoodPath, choose_path
from .prepared import PreparedContext, PreparedRequest, RequestTokens
from .requests import LikelihoodRequest
from .results import ContextLikelihood, FollowupLikelihood
from .runs import Runs
from .units import Context, LogProbabilities, Unit, chained

NEEDS = (f"{__package__}.paths",)
"""Modules that loading a model imports. Callers may import them ahead, since torch takes seconds."""


@dataclass(frozen=True)
class LikelihoodModelDescription(ModelDescription):
    """The loaded model, its path (`packed`, `plain`, `encoder_decoder`), and the default join of requests."""

    path: str
    default_join: str


class LikelihoodBatchModel:
    """Reads likelihood requests from JSON. Answers `{"contexts": [...]}` with one ContextLikelihood for each end."""

    def __init__(self, loaded: Pretrained, limits: Limits, path: LikelihoodPath) -> None:
        self._tokens = RequestTokens(loaded)
        self._runs = Runs(path, limits)
        self.description = LikelihoodModelDescription(
            kind="sequence_to_sequence" if loaded.model.config.is_encoder_decoder else "causal",
            parameters=loaded.model.num_parameters(),
            dtype=str(loaded.model.dtype).removeprefix("torch."),
            device=str(loaded.model.device),
            context_length=self._tokens.context_length,
            path=path.name,
            default_join=self._tokens.default_join.form,
        )

    def parse(self, document: Mapping[str, Any]) -> PreparedRequest:
        """Read and tokenize a request; raises ValueError if it is unusable or too long."""
        return self._tokens.prepare(LikelihoodRequest.from_json(document))

    def run(self, requests: Sequence[PreparedRequest]) -> list[Mapping[str, Any]]:
        """Return one result for each request: `{"contexts": [...], "revision": ...}` or `{"error": ...}`.

        Contexts are ordered by ascending end. If a chat template writes today's date, `template_date` is the fixed date
        that replaces it. A request fails, without the others, if the model returns a number that is not finite, or if
        one of its contexts needs too much memory. On a CPU each request has passes of its own, so that other requests
        do not change one bit of its numbers. On a GPU requests share passes to use the GPU fully, and sums differ by
        rounding.
        """
        groups: list[list[Unit]] = []
        numbers: list[range] = []
        for request in requests:
            first = numbers[-1].stop if numbers else 0
            numbers.append(range(first, first + len(request.contexts)))
            contexts = [
                Context(number, context.joined.context, context.joined.followups)
                for number, context in zip(numbers[-1], request.contexts, strict=True)
            ]
            groups.append(chained(contexts, likelihood=request.request.context_likelihood))
        if self.description.device != "cpu":
            groups = [[unit for group in groups for unit in group]]
        with torch.inference_mode():
            found = self._runs.run(groups, contexts=numbers[-1].stop if numbers else 0)
        parts = [found[each.start : each.stop] for each in numbers]
        return [self._result(request, part) for request, part in zip(requests, parts, strict=True)]

    def _result(self, request: PreparedRequest, found: Sequence[LogProbabilities | str]) -> Mapping[str, Any]:
        contexts = []
        for context, scores in zip(request.contexts, found, strict=True):
            if isinstance(scores, str):
                return {"error": scores}
            is_causal = self.description.kind == "causal"
            likelihood = _likelihood(context, scores, tokens=request.request.tokens, is_causal=is_causal)
            if not likelihood.is_finite:
                reason = "its weights are damaged, or its numbers too large for its dtype"
                return {"error": f"the model gives the likelihood of {context.turns} turns no finite number: {reason}"}
            contexts.append(likelihood.to_json())
        date = {} if request.template_date is None else {"template_date": request.template_date}
        return {"contexts": contexts, "revision": REVISION, **date}


def load_batch_model(
    name_or_directory: str, *, device: str, dtype: str, revision: str | None, limits: Limits | None = None
) -> LikelihoodBatchModel:
    """Load a language model of transformers, causal or encoder-decoder; raises LoadFailed."""
    torch_device = find_device(name_or_directory, device)
    try:
        limits = limits or Limits.from_environment()
    except ValueError as error:
        raise SettingUnusable(name_or_directory, str(error)) from error
    loaded = load_pretrained(name_or_directory, device=torch_device, dtype=dtype, revision=revision)
    return batch_model_of(loaded, limits)


def batch_model_of(loaded: Pretrained, limits: Limits) -> LikelihoodBatchModel:
    """Return a loaded model as a likelihood model. This changes the loaded model (`packed.py`)."""
    return LikelihoodBatchModel(loaded, limits, choose_path(loaded, limits))


def _likelihood(
    context: PreparedContext, scores: LogProbabilities, *, tokens: bool, is_causal: bool
) -> ContextLikelihood:
    followups = [
        FollowupLikelihood(
            nll=-math.fsum(each[given:]),
            tokens=len(each) - given,
            context_nll=-math.fsum(each[:given]) if scores.context is not None and given else None,
            context_tokens=given if scores.context is not None and given else None,
            token_log_probabilities=tuple(each[given:].tolist()) if tokens else None,
        )
        for each, given in zip(scores.followups, context.joined.given, strict=True)
    ]
    return ContextLikelihood(
        turns=context.turns,
        turns_left_out=context.turns_left_out,
        context_tokens=len(context.joined.context),
        context_nll=None if scores.context is None else -scores.context,
        context_predicted_tokens=len(context.joined.context) - 1 if is_causal else 0,
        followups=tuple(followups),
    )

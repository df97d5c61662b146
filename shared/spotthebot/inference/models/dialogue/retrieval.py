"""Batched replies by retrieval: the best response in a corpus, or a response drawn from the best ones."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import nn

from ..protocol import ModelDescription
from ..row_groups import MAX_ROWS
from .requests import GenerationRequest
from .rows import conversation_tokens, padded
from .sampler import RowSampler
from .turn_tokens import TurnTokens

DRAWN_FROM = 10
"""The number of best candidates to draw a reply from, unless the request sets one."""

Score = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class RetrievalModel:
    """Ranks candidates for a conversation; `score` maps tokens and mask to logits [rows, candidates].

    Temperature, top-k and top-p choose among candidates as they choose among tokens. A reply repeats an utterance of
    the conversation only if no other candidate is left.
    """

    def __init__(
        self, kind: str, network: nn.Module, tokens: TurnTokens, candidates: Sequence[str], score: Score, *, room: int
    ) -> None:
        weights = next(network.parameters())
        self._device = weights.device
        self._tokens = tokens
        self._candidates = candidates
        self._score = score
        self._candidate_indices: dict[str, list[int]] = {}
        for index, text in enumerate(candidates):
            self._candidate_indices.setdefault(_gist(text), []).append(index)
        self.description = ModelDescription(
            kind=kind,
            parameters=sum(each.numel() for each in network.parameters()),
            dtype=str(weights.dtype).removeprefix("torch."),
            device=str(weights.device),
            context_length=room,
        )

    def replies(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """Return one reply for each request, in order."""
        starts = range(0, len(requests), MAX_ROWS)
        with torch.inference_mode():
            return [reply for start in starts for reply in self._retrieve(requests[start : start + MAX_ROWS])]

    def _retrieve(self, requests: Sequence[GenerationRequest]) -> list[str]:
        length = self.description.context_length
        ids, mask = padded([conversation_tokens(self._tokens, each, length) for each in requests], self._device)
        scores = self._score(ids, mask).float()
        for row, request in enumerate(requests):
            said = [index for turn in request.turns for index in self._candidate_indices.get(_gist(turn), ())]
            if len(set(said)) < len(self._candidates):
                scores[row, said] = float("-inf")
        drawn = [replace(each, top_k=each.top_k or DRAWN_FROM, repetition_penalty=1.0) for each in requests]
        chosen = RowSampler(drawn, self._device).choose(scores)
        return [self._candidates[index] for index in chosen.tolist()]


def _gist(text: str) -> str:
    return " ".join(text.casefold().split())

"""Draws the next token of every row of a batch. Each row has the sampling settings of its own request."""

from collections.abc import Sequence

import torch

from .noise import gumbel_noise
from .requests import GenerationRequest

_SORTED_AT_FIRST = 1024


class RowSampler:
    """Chooses in each step one token for each request: applies penalty, temperature, top-k and top-p, and draws.

    The choice for a row depends only on its own scores, its request and the number of the step. Scores are compared
    with a threshold, so that the order in which equal scores are sorted has no influence.
    """

    def __init__(self, requests: Sequence[GenerationRequest], device: torch.device) -> None:
        self._seeds = [request.seed for request in requests]
        self._temperatures = _column([request.temperature or 1.0 for request in requests], device)
        self._penalties = _column([request.repetition_penalty for request in requests], device)
        self._top_k = _column([request.top_k or 2**31 for request in requests], device, torch.int64)
        self._top_p = _column([request.top_p for request in requests], device)
        drawn = [row for row, request in enumerate(requests) if request.temperature > 0]
        cut = [row for row in drawn if requests[row].top_k > 0 or requests[row].top_p < 1]
        self._drawn = torch.tensor(drawn, dtype=torch.int64, device=device)
        self._cut = torch.tensor(cut, dtype=torch.int64, device=device)
        self._has_penalties = any(request.repetition_penalty != 1 for request in requests)
        self._seen: torch.Tensor | None = None
        self._step = 0

    def saw(self, ids: torch.Tensor, mask: torch.Tensor, vocabulary: int) -> None:
        """Note the tokens of the prompts, since the penalty applies to them.

        `ids` and `mask` have the same shape; a token counts if its mask is 1.
        """
        if not self._has_penalties:
            return
        seen = torch.zeros(len(self._seeds), vocabulary, dtype=torch.bool, device=ids.device)
        rows, columns = mask.bool().nonzero(as_tuple=True)
        seen[rows, ids[rows, columns]] = True
        self._seen = seen

    def choose(self, scores: torch.Tensor) -> torch.Tensor:
        """Return the next token of each row, int64 of shape [rows], from logits of shape [rows, vocabulary]."""
        scores = scores.float()
        if self._has_penalties and self._seen is None:
            self._seen = torch.zeros_like(scores, dtype=torch.bool)
        if self._seen is not None:
            penalised = torch.where(scores < 0, scores * self._penalties, scores / self._penalties)
            scores = torch.where(self._seen, penalised, scores)
        scores = scores / self._temperatures
        if len(self._cut):
            few = scores[self._cut]
            threshold = _threshold(few, self._top_k[self._cut], self._top_p[self._cut])
            scores = scores.index_copy(0, self._cut, few.masked_fill(few < threshold, float("-inf")))
        if len(self._drawn):
            seeds = [self._seeds[row] for row in self._drawn.tolist()]
            noise = gumbel_noise(seeds, self._step, scores.shape[1], scores.device)
            scores = scores.double().index_add_(0, self._drawn, noise)
        self._step += 1
        chosen = scores.argmax(dim=1)
        if self._seen is not None:
            self._seen[torch.arange(len(chosen), device=chosen.device), chosen] = True
        return chosen


def _threshold(scores: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """Return the lowest score that each row keeps, [rows, 1].

    Top-p keeps the fewest tokens whose probabilities add up to p (Holtzman et al. 2020). The probabilities are
    normalised again after top-k. Sorting a whole vocabulary is slow, and nearly always the first thousand tokens
    decide.
    """
    width = scores.shape[1]
    found, is_sure = _threshold_among(scores, top_k, top_p, min(_SORTED_AT_FIRST, width))
    if not bool(is_sure.all()):
        rest = (~is_sure).nonzero()[:, 0]
        found[rest] = _threshold_among(scores[rest], top_k[rest], top_p[rest], width)[0]
    return found


def _threshold_among(
    scores: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each row's threshold among its `count` best tokens, and whether it holds among all tokens too."""
    best = scores.topk(count, dim=1).values
    is_within = torch.arange(count, device=scores.device)[None, :] < top_k
    kept = best.masked_fill(~is_within, float("-inf"))
    everything = torch.where(top_k <= count, kept.logsumexp(1, keepdim=True), scores.logsumexp(1, keepdim=True))
    probabilities = (kept - everything).exp()
    mass = probabilities.cumsum(1)
    is_needed = is_within & ((mass - probabilities < top_p) | (top_p >= 1))
    width = scores.shape[1]
    is_sure = (top_k <= count) | ((top_k >= width) & (mass[:, -1:] >= top_p)) | (count == width)
    return best.gather(1, is_needed.sum(1, keepdim=True) - 1), is_sure[:, 0]


def _column(values: Sequence[float], device: torch.device, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype, device=device)[:, None]

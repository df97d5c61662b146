"""Computes the logarithm of a softmax's denominator. The logits of a whole vocabulary are never in memory at once."""

import torch

_ROWS = 1024
_WORDS = {"cpu": 4096}
_MAX_WORDS = 16384
"""Logits that are computed at a time: few enough for a processor's cache, enough to keep a GPU busy."""


def log_sum_exp(hidden: torch.Tensor, head: torch.nn.Linear, max_bytes: int) -> torch.Tensor:
    """Return the logarithm of the summed exponentials of each row's logits, float32 of shape [rows].

    `hidden` is [rows, width]. At most `max_bytes` of logits are in memory at a time. If one row's logits of one block
    of words need more bytes, one row at a time is computed. Sums are kept relative to the largest logit so far (Milakov
    & Gimelshein 2018, algorithm 3).
    """
    words = _WORDS.get(hidden.device.type, _MAX_WORDS)
    size = max(1, min(_ROWS, max_bytes // (4 * words)))
    return torch.cat([_of_rows(part, head, words) for part in torch.split(hidden, size)])


def _of_rows(hidden: torch.Tensor, head: torch.nn.Linear, words: int) -> torch.Tensor:
    largest = hidden.new_full((len(hidden), 1), float("-inf"), dtype=torch.float32)
    total = torch.zeros_like(largest)
    for start in range(0, len(head.weight), words):
        block = slice(start, start + words)
        bias = None if head.bias is None else head.bias[block]
        logits = torch.nn.functional.linear(hidden, head.weight[block], bias).float()
        before, largest = largest, torch.maximum(largest, logits.amax(1, keepdim=True))
        total = total * torch.exp(before - largest) + logits.sub_(largest).exp_().sum(1, keepdim=True)
    return (total.log() + largest)[:, 0]

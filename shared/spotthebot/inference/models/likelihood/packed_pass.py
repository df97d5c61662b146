"""Arranges the tokens of many units in one row, without padding: each chain, followed by its branches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from .trees import END, FollowupTree
from .units import LogProbabilities, Unit


@dataclass(frozen=True)
class ChainSegment:
    """The tokens of a chain: `length` tokens of the row from `start` on.

    Each attends to itself and to earlier tokens of it.
    """

    start: int
    length: int


@dataclass(frozen=True)
class BranchSegment:
    """The tokens of a branch: `len(tree)` tokens of the row from `start` on.

    Each token attends to itself and to its ancestors in the tree, and to the `prefix` tokens of the row from `chain`
    on. `bias` has the shape [len(tree), prefix + len(tree)] and is added to the logits of the attention.
    """

    start: int
    chain: int
    prefix: int
    length: int
    bias: torch.Tensor


@dataclass(frozen=True)
class Predictions:
    """The tokens to predict, and the rows of hidden states that predict them.

    Prediction k: the hidden state of row `rows[at[k]]` predicts the token `targets[k]`.
    """

    rows: torch.Tensor
    at: torch.Tensor
    targets: torch.Tensor


class PackedPass:
    """One pass of the model: its tokens, the segments of its attention, and its predictions.

    `tokens` and `positions` have the shape [1, number of tokens].
    """

    def __init__(self, units: Sequence[Unit], device: torch.device, dtype: torch.dtype) -> None:
        self._units = units
        tokens: list[NDArray[np.int64]] = []
        positions: list[NDArray[np.int64]] = []
        self.segments: list[ChainSegment | BranchSegment] = []
        sources: list[NDArray[np.int64]] = []
        targets: list[NDArray[np.int64]] = []
        start = 0
        for unit in units:
            chain = np.array(unit.chain, dtype=np.int64)
            first = start
            tokens.append(chain)
            positions.append(np.arange(len(chain)))
            self.segments.append(ChainSegment(start, len(chain)))
            start += len(chain)
            if unit.chain_likelihood:
                sources.append(first + np.arange(len(chain) - 1))
                targets.append(chain[1:])
            for branch in unit.branches:
                tree = branch.tree
                if len(tree):
                    tokens.append(tree.tokens)
                    positions.append(branch.length + tree.depths)
                    bias = _bias(tree, branch.length, device, dtype)
                    self.segments.append(BranchSegment(start, first, branch.length, len(tree), bias))
                sources.append(np.where(tree.sources == END, first + branch.length - 1, start + tree.sources))
                targets.append(tree.targets)
                start += len(tree)
        self.tokens = torch.from_numpy(np.concatenate(tokens))[None].to(device)
        self.positions = torch.from_numpy(np.concatenate(positions))[None].to(device)
        rows, at = np.unique(np.concatenate(sources), return_inverse=True)
        parts = (torch.from_numpy(each).to(device) for each in (rows, at, np.concatenate(targets)))
        self.predictions = Predictions(*parts)

    def shared(self, log_probabilities: NDArray[np.float64]) -> list[LogProbabilities]:
        """Return the log-probabilities of each branch of each unit, from the log-probabilities of all predictions."""
        found: list[LogProbabilities] = []
        start = 0
        for unit in self._units:
            sums = None
            if unit.chain_likelihood:
                sums = np.concatenate([[0.0], np.cumsum(log_probabilities[start : start + len(unit.chain) - 1])])
                start += len(unit.chain) - 1
            for branch in unit.branches:
                tree = branch.tree
                part = log_probabilities[start : start + len(tree.targets)]
                start += len(tree.targets)
                context = None if sums is None else float(sums[branch.length - 1])
                found.append(LogProbabilities(context, [part[path] for path in tree.paths]))
        return found


def _bias(tree: FollowupTree, prefix: int, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    own = _own_bias(tree, device, dtype)
    return torch.cat([own.new_zeros(len(tree), prefix), own], dim=1)


@lru_cache(maxsize=64)
def _own_bias(tree: FollowupTree, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    hidden = torch.from_numpy(~tree.visible).to(device)
    return torch.zeros(hidden.shape, dtype=dtype, device=device).masked_fill_(hidden, float("-inf"))

"""The protocol of a model that can be trained: its loss, its evaluation, and its files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import nn


class Task(Protocol):
    """A model to train, and its examples.

    `autocasts` says whether it may compute in bfloat16 on a GPU; `vocabulary` is its tokenizer as text, so that a
    checkpoint can hold it.
    """

    @property
    def network(self) -> nn.Module: ...

    @property
    def examples(self) -> int: ...

    @property
    def autocasts(self) -> bool: ...

    @property
    def vocabulary(self) -> str: ...

    def loss(self, indices: Sequence[int]) -> torch.Tensor:
        """Return the mean loss of training examples, with its gradient."""
        ...

    def evaluate(self) -> Mapping[str, float]:
        """Return `loss` and one more figure on the validation data; empty without validation data."""
        ...

    def export(self, folder: Path) -> None:
        """Write the files of the model, which `inference.models.dialogue.kind.load` reads."""
        ...


def batches(count: int, size: int) -> Iterator[range]:
    """Cut the range from 0 to `count` into ranges of at most `size`."""
    return (range(start, min(start + size, count)) for start in range(0, count, size))

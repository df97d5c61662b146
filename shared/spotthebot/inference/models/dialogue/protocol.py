"""The protocol of dialogue models."""

from collections.abc import Sequence
from typing import Protocol

from ..protocol import ModelDescription
from .requests import GenerationRequest


class DialogueModel(Protocol):
    """A loaded dialogue model.

    The `kind` of its description is `causal`, `sequence_to_sequence`, `bi_encoder`, `gru` or `key_value`.
    """

    @property
    def description(self) -> ModelDescription: ...

    def replies(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """Return one reply for each request, in order; a reply may be empty.

        A reply depends only on its request, not on the other requests of the batch or on their order. The exception is
        rounding: the shape of a batch changes the order of sums. If the scores of two tokens are nearly equal (to about
        1e-6 in float32, 1e-2 in bfloat16), rounding may decide between them.
        """
        ...

"""The protocol of dialogue models."""

from collections.abc import Sequence
from typing import Protocol

from ..protocol import ModelDescription
from .requests import GenerationRequest


class DialogueModel(Protocol):
    """A loaded model.

    The `kind` of its description is `causal`, `sequence_to_sequence`, `bi_encoder`, `gru` or `key_value`.
    """

    @property
    def description(self) -> ModelDescription: ...

    def replies(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """Return one reply for each request, in order; a reply may be empty.

        A reply depends on its request alone: neither on what else is in the batch nor on the order. This is exact but
        for rounding: where two tokens are as good as equal (to about 1e-6 in float32, 1e-2 in bfloat16), sums that a
        processor does in another order for another shape of batch may decide between them.
        """
        ...

"""Dialogue models as worker processes and Triton run them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..protocol import ModelDescription
from .kind import load
from .protocol import DialogueModel
from .requests import GenerationRequest

NEEDS = (f"{__package__}.loader",)
"""Modules that loading a model imports. Callers may import them ahead, since torch takes seconds."""


class DialogueBatchModel:
    """Reads generation requests from JSON, and answers `{"text": ...}`."""

    def __init__(self, model: DialogueModel) -> None:
        self._model = model
        self.description: ModelDescription = model.description

    def parse(self, document: Mapping[str, Any]) -> GenerationRequest:
        """Read a request; raises ValueError."""
        return GenerationRequest.from_json(document)

    def run(self, requests: Sequence[GenerationRequest]) -> list[Mapping[str, Any]]:
        """Return the reply to each request, in order."""
        return [{"text": text} for text in self._model.replies(requests)]


def load_batch_model(name_or_directory: str, *, device: str, dtype: str, revision: str | None) -> DialogueBatchModel:
    """Load a dialogue model; raises LoadFailed."""
    return DialogueBatchModel(load(name_or_directory, device=device, dtype=dtype, revision=revision))

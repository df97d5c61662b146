"""Dialogue models and their batched replies: any transformers dialogue model, and the kinds that `bots` trains."""

from typing import Any

from .protocol import DialogueModel
from .requests import GenerationRequest

__all__ = ["KIND", "PROBE", "DialogueModel", "GenerationRequest", "load"]

KIND = f"{__name__}.batch_model:load_batch_model"
"""The kind of these models for worker processes and Triton: a GenerationRequest in, `{"text": ...}` out."""

PROBE: dict[str, Any] = {"turns": ["Hello!"], "max_new_tokens": 1, "temperature": 0.0}
"""The request whose answer shows that a dialogue model works."""


def load(
    name_or_directory: str, *, device: str = "cpu", dtype: str = "auto", revision: str | None = None
) -> DialogueModel:
    """Load a model from a directory, or by its name from the model hub; raises LoadFailed.

    `dtype` is `float32`, `bfloat16`, `float16` or `auto`: float32 on the CPU, what the weights are saved in elsewhere.
    Code that comes with a model is never run, and pickled weights are read as tensors only.
    """
    from .loader import load_model  # noqa: PLC0415 - torch takes seconds to import, and is an optional dependency

    return load_model(name_or_directory, device=device, dtype=dtype, revision=revision)

"""The kind of dialogue models. Torch is imported when a model is loaded, not before."""

from typing import Any

from .protocol import DialogueModel

KIND = f"{__package__}.batch_model:load_batch_model"
"""The kind of these models for worker processes and Triton: a GenerationRequest in, `{"text": ...}` out."""

PROBE: dict[str, Any] = {"turns": ["Hello!"], "max_new_tokens": 1, "temperature": 0.0}
"""The request whose answer shows that a dialogue model works."""


def load(
    name_or_directory: str, *, device: str = "cpu", dtype: str = "auto", revision: str | None = None
) -> DialogueModel:
    """Load a model from a directory, or by its name from the model hub; raises LoadFailed.

    `dtype` is `float32`, `bfloat16`, `float16` or `auto`. `auto` is float32 on a CPU, and the type of the saved weights
    on other devices. Code that comes with a model is never run, and pickled weights are read as tensors only.
    """
    from .loader import load_model  # noqa: PLC0415 - torch takes seconds to import, and is an optional dependency

    return load_model(name_or_directory, device=device, dtype=dtype, revision=revision)

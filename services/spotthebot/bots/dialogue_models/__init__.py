"""Dialogue models and their batched replies: any transformers dialogue model, and the kinds that `training` makes.

This folder imports nothing else of ours, and only relatively inside itself, so that a copy of it runs beside a Triton
model, too. Torch is imported when a model is loaded, not before.
"""

from .contract import DialogueModel, ModelDescription
from .errors import LoadFailed, ModelFilesDamaged, NoSuchModel, NoTokenizer, SettingUnusable, UnknownModelKind
from .requests import GenerationRequest

__all__ = [
    "DialogueModel",
    "GenerationRequest",
    "LoadFailed",
    "ModelDescription",
    "ModelFilesDamaged",
    "NoSuchModel",
    "NoTokenizer",
    "SettingUnusable",
    "UnknownModelKind",
    "load",
]


def load(
    name_or_directory: str, *, device: str = "cpu", dtype: str = "auto", revision: str | None = None
) -> DialogueModel:
    """Load a model from a directory, or by its name from the model hub; raises LoadFailed.

    `dtype` is `float32`, `bfloat16`, `float16` or `auto`: float32 on the CPU, what the weights are saved in elsewhere.
    Code that comes with a model is never run, and pickled weights are read as tensors only.
    """
    from .loading import load_model  # noqa: PLC0415 - torch takes seconds to import, and is an optional dependency

    return load_model(name_or_directory, device=device, dtype=dtype, revision=revision)

"""Models that worker processes and Triton run, each of a kind that is named by import path.

This folder imports nothing else of ours, and only relatively inside itself, so that a copy of it runs beside a Triton
model, too. Torch is imported when a model is loaded, not before.
"""

from .errors import LoadFailed, ModelFilesDamaged, NoSuchModel, NoTokenizer, SettingUnusable, UnknownModelKind
from .protocol import BatchModel, ModelDescription, load

__all__ = [
    "BatchModel",
    "LoadFailed",
    "ModelDescription",
    "ModelFilesDamaged",
    "NoSuchModel",
    "NoTokenizer",
    "SettingUnusable",
    "UnknownModelKind",
    "load",
]

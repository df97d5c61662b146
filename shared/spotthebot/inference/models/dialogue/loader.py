"""Loads a dialogue model of our own kinds or of transformers. The files in its directory tell which it is."""

import torch

from ..errors import UnknownModelKind
from ..pretrained import find_device, find_directory, find_dtype, load_pretrained
from .own_files import CONFIGURATION
from .own_models import load_own
from .prompts import prompt_form
from .protocol import DialogueModel
from .transformers_models import TransformersModel


def load_model(name_or_directory: str, *, device: str, dtype: str, revision: str | None) -> DialogueModel:
    """Load a model; raises LoadFailed."""
    torch_device = find_device(name_or_directory, device)
    directory = find_directory(name_or_directory)
    if directory is not None and (directory / CONFIGURATION).is_file():
        torch_dtype = find_dtype(name_or_directory, dtype, torch_device) or torch.float32
        return load_own(directory, torch_device, torch_dtype)
    if directory is not None and not (directory / "config.json").is_file():
        raise UnknownModelKind(name_or_directory, f"it holds neither config.json nor {CONFIGURATION}")
    loaded = load_pretrained(name_or_directory, device=torch_device, dtype=dtype, revision=revision)
    form = prompt_form(loaded.tokenizer, loaded.model.config.model_type)
    return TransformersModel(loaded.model, loaded.tokenizer, form, loaded.limit.tokens)

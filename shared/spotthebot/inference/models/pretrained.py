"""Loads transformers models with their tokenizers, and refuses untrusted files."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from .context_length import ContextLength, context_length
from .errors import LoadFailed, ModelFilesDamaged, NoSuchModel, NoTokenizer, SettingUnusable, UnknownModelKind
from .hub import can_be_on_hub, hub_answers
from .probes import require_causal
from .progress_bars import without_progress_bars

_NOWHERE = "there is no such directory"
_SPACE = " \u2581\u0120"
"""The characters with which vocabularies write a space."""
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class Pretrained:
    """A causal or sequence-to-sequence model on its device, in evaluation mode, and its tokenizer."""

    model: Any
    tokenizer: Any
    limit: ContextLength


def find_directory(name_or_directory: str) -> Path | None:
    """Return a model's directory; None for a name on a model hub. Raises NoSuchModel if a path does not exist."""
    try:
        folder = Path(name_or_directory).expanduser()
        is_folder, is_file = folder.is_dir(), folder.exists()
    except (OSError, ValueError, RuntimeError) as error:  # too long, a NUL, an unknown home directory
        raise NoSuchModel(name_or_directory, f"{_NOWHERE}: the name is not valid") from error
    if is_folder:
        return folder
    if is_file or not can_be_on_hub(name_or_directory):
        raise NoSuchModel(name_or_directory, _NOWHERE)
    return None


def find_device(name: str, device: str) -> torch.device:
    """Return the device with this name; `auto` is CUDA if there is a GPU.

    Raises SettingUnusable, with the `name` of the model, if the device does not exist.
    """
    best = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(best if device == "auto" else device)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # torch raises each of them
        raise SettingUnusable(name, f"there is no device '{device}' on this machine") from error
    return found


def find_dtype(name: str, dtype: str, device: torch.device) -> torch.dtype | None:
    """Return the dtype with this name. `auto` is float32 on a CPU; elsewhere it is None, which keeps the files' dtype.

    Raises SettingUnusable, with the `name` of the model, if the name is unknown.
    """
    if dtype == "auto":
        return torch.float32 if device.type == "cpu" else None
    if dtype not in _DTYPES:
        raise SettingUnusable(name, f"'{dtype}' is not a dtype: use {', '.join(_DTYPES)} or auto")
    return _DTYPES[dtype]


def load_pretrained(name_or_directory: str, *, device: torch.device, dtype: str, revision: str | None) -> Pretrained:
    """Load a model of transformers that writes text; raises LoadFailed.

    Code that comes with a model is never run, and pickled weights are read as tensors only.
    """
    directory = find_directory(name_or_directory)
    name = name_or_directory if directory is None else str(directory)
    options: dict[str, Any] = {"trust_remote_code": False}
    if directory is None:
        options |= {"revision": revision or "main", "local_files_only": not hub_answers()}
    missing = NoSuchModel if directory is None else ModelFilesDamaged
    try:
        config = _attempt(name, missing, "it", lambda: AutoConfig.from_pretrained(name, **options))
    except NoSuchModel as error:
        if options.get("local_files_only"):
            reason = f"{_NOWHERE}, and the model hub can't be reached to fetch a model of this name"
            raise NoSuchModel(name, reason) from error
        raise
    family = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    if type(config) not in family._model_mapping:  # noqa: SLF001 - transformers has no public way to ask
        raise UnknownModelKind(name, f"a model of type '{config.model_type}' does not write text")
    tokenizer = _attempt(name, NoTokenizer, "its tokenizer", lambda: AutoTokenizer.from_pretrained(name, **options))
    if not _knows_words(tokenizer):
        raise NoTokenizer(name, "its tokenizer knows no words: files of its vocabulary may be missing")
    if tokenizer.eos_token_id is None:
        raise NoTokenizer(name, "its tokenizer has no end-of-text token")
    options |= {"config": config, "dtype": find_dtype(name, dtype, device) or "auto", "weights_only": True}
    options |= {"output_loading_info": True, "ignore_mismatched_sizes": True}  # mismatches are named below
    with without_progress_bars():
        read = partial(family.from_pretrained, name, **options)
        model, loading = _attempt(name, ModelFilesDamaged, "its weights", read)
    unfit = sorted({*loading["missing_keys"], *(key for key, *_ in loading["mismatched_keys"])})
    if unfit:
        raise ModelFilesDamaged(name, f"its weights lack {', '.join(unfit[:3])}, or have them in another shape")
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        raise ModelFilesDamaged(name, "its tokenizer knows more tokens than the model")
    model = model.to(device).eval()
    if not config.is_encoder_decoder:
        require_causal(name, model)
    return Pretrained(model, tokenizer, context_length(model, tokenizer))


def _knows_words(tokenizer: Any) -> bool:  # noqa: ANN401 - transformers' tokenizers share no useful type
    """Return whether the tokenizer's vocabulary has words.

    Without its vocabulary files, transformers makes a tokenizer without words.
    """
    controls = {str(token) for token in tokenizer.added_tokens_decoder.values()}
    return any(word.strip(_SPACE) for word in tokenizer.get_vocab().keys() - controls)


def _attempt(name: str, kind: type[LoadFailed], subject: str, read: Callable[[], Any]) -> Any:  # noqa: ANN401 - transformers' objects
    try:
        return read()
    except Exception as error:  # transformers may raise anything for a foreign file
        first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise kind(name, f"{subject} can't be read ({first.strip().rstrip('.:')})") from error

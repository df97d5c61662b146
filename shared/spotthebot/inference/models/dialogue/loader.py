"""Loads a dialogue model: finds out what a directory or a hub name holds, and refuses what it can't trust."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from ..errors import LoadFailed, ModelFilesDamaged, NoSuchModel, NoTokenizer, SettingUnusable, UnknownModelKind
from ..progress_bars import without_progress_bars
from .own_files import CONFIGURATION
from .own_models import load_own
from .prompts import prompt_form
from .protocol import DialogueModel
from .transformers_models import TransformersModel

LONGEST_CONTEXT = 8192
"""Tokens that are read of a conversation at most, however many a model could: memory grows with them."""

_SHORTEST_UNKNOWN = 10**9  # transformers gives a tokenizer without a limit an astronomic one
_UNLIMITED_CONTEXT = 512
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def load_model(name_or_directory: str, *, device: str, dtype: str, revision: str | None) -> DialogueModel:
    """Load a model; raises LoadFailed."""
    place = _device(name_or_directory, device)
    folder = Path(name_or_directory).expanduser()
    if folder.is_dir():
        if (folder / CONFIGURATION).is_file():
            torch_dtype = _dtype(name_or_directory, dtype, place)
            return load_own(folder, place, torch.float32 if torch_dtype == "auto" else torch_dtype)
        if not (folder / "config.json").is_file():
            raise UnknownModelKind(name_or_directory, f"it holds neither config.json nor {CONFIGURATION}")
        return _load_transformers(str(folder), place, dtype, None)
    if folder.exists() or name_or_directory.startswith((".", "/", "~")) or name_or_directory.count("/") > 1:
        raise NoSuchModel(name_or_directory, "there is no such directory")
    return _load_transformers(name_or_directory, place, dtype, revision)


def _load_transformers(name: str, device: torch.device, dtype: str, revision: str | None) -> TransformersModel:
    where: dict[str, Any] = {"trust_remote_code": False, **({"revision": revision} if revision else {})}
    missing = ModelFilesDamaged if Path(name).is_dir() else NoSuchModel
    config = _attempt(name, missing, "it", lambda: AutoConfig.from_pretrained(name, **where))
    family = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    if type(config) not in family._model_mapping:  # noqa: SLF001 - transformers has no public way to ask
        raise UnknownModelKind(name, f"a model of type '{config.model_type}' does not write text")
    tokenizer = _attempt(name, NoTokenizer, "its tokenizer", lambda: AutoTokenizer.from_pretrained(name, **where))
    if tokenizer.eos_token_id is None:
        raise NoTokenizer(name, "its tokenizer has no end-of-text token")
    where |= {"config": config, "dtype": _dtype(name, dtype, device), "weights_only": True}
    where |= {"output_loading_info": True, "ignore_mismatched_sizes": True}  # what does not fit is named below
    with without_progress_bars():
        read = partial(family.from_pretrained, name, **where)
        model, told = _attempt(name, ModelFilesDamaged, "its weights", read)
    unfit = sorted({*told["missing_keys"], *(key for key, *_ in told["mismatched_keys"])})
    if unfit:
        raise ModelFilesDamaged(name, f"its weights lack {', '.join(unfit[:3])}, or have another shape there")
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        raise ModelFilesDamaged(name, "its tokenizer knows more tokens than the model")
    form = prompt_form(tokenizer, config.model_type)
    return TransformersModel(model.to(device).eval(), tokenizer, form, _context(config, tokenizer))


def _context(config: Any, tokenizer: Any) -> int:  # noqa: ANN401 - transformers' classes share no useful type
    text = config.get_text_config()
    positions = getattr(text, "max_position_embeddings", None) or getattr(text, "n_positions", None)
    limits = [LONGEST_CONTEXT, positions or _UNLIMITED_CONTEXT]
    if tokenizer.model_max_length < _SHORTEST_UNKNOWN:
        limits.append(tokenizer.model_max_length)
    return min(limits)


def _best_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _device(name: str, device: str) -> torch.device:
    try:
        place = torch.device(_best_device() if device == "auto" else device)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # torch raises each of them
        raise SettingUnusable(name, f"there is no device '{device}' on this machine") from error
    return place


def _dtype(name: str, dtype: str, device: torch.device) -> Any:  # noqa: ANN401 - a dtype, or transformers' word for theirs
    if dtype == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    if dtype not in _DTYPES:
        raise SettingUnusable(name, f"no dtype is called '{dtype}', but {', '.join(_DTYPES)} and auto are")
    return _DTYPES[dtype]


def _attempt(name: str, kind: type[LoadFailed], what: str, do: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever transformers returns
    try:
        return do()
    except Exception as error:  # what a foreign file makes transformers raise can't be listed
        first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise kind(name, f"{what} can't be read ({first.strip().rstrip('.:')})") from error

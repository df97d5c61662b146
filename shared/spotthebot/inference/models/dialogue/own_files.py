"""The files of a model of our own kinds: configuration, tokenizer, weights and, for a retriever, its candidates."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from ..errors import LoadFailed, ModelFilesDamaged, UnknownModelKind

CONFIGURATION, TOKENIZER, WEIGHTS = "spotthebot.json", "tokenizer.json", "model.safetensors"
CANDIDATES, MEMORY = "candidates.json", "candidates.safetensors"
KINDS = ("bi_encoder", "gru", "key_value")
_FORMAT = 1


@dataclass(frozen=True)
class Configuration:
    """The configuration of a model: the kind of its network, and in `network` the arguments of the network's class."""

    kind: str
    context_length: int
    network: dict[str, Any]
    format: int = _FORMAT


@dataclass(frozen=True)
class OwnFiles:
    """The content of one model's files.

    `memory` holds a retriever's embeddings; its first tensor embeds `candidates`.
    """

    configuration: Configuration
    tokenizer: Tokenizer
    weights: Mapping[str, torch.Tensor]
    candidates: tuple[str, ...] = ()
    memory: Mapping[str, torch.Tensor] | None = None

    def write(self, folder: Path) -> None:
        """Write all files.

        The configuration is written last, because its presence marks the directory as a complete model.
        """
        self.tokenizer.save(str(folder / TOKENIZER))
        save_file(_contiguous(self.weights), folder / WEIGHTS)
        if self.memory is not None:
            (folder / CANDIDATES).write_text(json.dumps(self.candidates, ensure_ascii=False), encoding="utf-8")
            save_file(_contiguous(self.memory), folder / MEMORY)
        text = json.dumps(asdict(self.configuration), indent=2)
        (folder / CONFIGURATION).write_text(f"{text}\n", encoding="utf-8")


def read_own_files(folder: Path) -> OwnFiles:
    """Read a directory; raises UnknownModelKind and ModelFilesDamaged."""
    try:
        return _read(folder)
    except LoadFailed:
        raise
    except Exception as error:  # tokenizers raises nothing narrower
        raise ModelFilesDamaged(str(folder), str(error) or type(error).__name__) from error


def _read(folder: Path) -> OwnFiles:
    configuration = Configuration(**json.loads((folder / CONFIGURATION).read_text(encoding="utf-8")))
    if configuration.format != _FORMAT or configuration.kind not in KINDS:
        reason = f"its {CONFIGURATION} is of kind '{configuration.kind}', format {configuration.format}"
        raise UnknownModelKind(str(folder), f"{reason}; known are {', '.join(KINDS)} in format {_FORMAT}")
    retrieves = configuration.kind != "gru"
    return OwnFiles(
        configuration=configuration,
        tokenizer=Tokenizer.from_file(str(folder / TOKENIZER)),
        weights=load_file(folder / WEIGHTS),
        candidates=tuple(json.loads((folder / CANDIDATES).read_text(encoding="utf-8"))) if retrieves else (),
        memory=load_file(folder / MEMORY) if retrieves else None,
    )


def _contiguous(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}

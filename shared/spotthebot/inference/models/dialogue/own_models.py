"""Builds the models of our own kinds from their files."""

from pathlib import Path

import torch
from torch import nn

from ..errors import ModelFilesDamaged
from .bi_encoder import BiEncoder
from .gru import AttentionGru, GruModel
from .key_value import KeyValueMemory
from .own_files import OwnFiles, read_own_files
from .protocol import DialogueModel
from .retrieval import RetrievalModel
from .turn_tokens import TurnTokens


def load_own(folder: Path, device: torch.device, dtype: torch.dtype) -> DialogueModel:
    """Load a directory with a `spotthebot.json`; raises LoadFailed."""
    files = read_own_files(folder)
    try:
        return _built(files, device, dtype)
    except (RuntimeError, TypeError, ValueError, KeyError) as error:
        raise ModelFilesDamaged(str(folder), str(error)) from error


def _built(files: OwnFiles, device: torch.device, dtype: torch.dtype) -> DialogueModel:
    tokens = TurnTokens(files.tokenizer)
    arguments, length = files.configuration.network, files.configuration.context_length
    if len(tokens) > arguments["vocabulary"]:
        message = "the tokenizer knows more tokens than the network"
        raise ValueError(message)
    if files.configuration.kind == "gru":
        gru = AttentionGru(**arguments)
        _fill(gru, files, device, dtype)
        return GruModel(gru, tokens, length)
    memory = {
        name: tensor.to(device, dtype if tensor.is_floating_point() else tensor.dtype)
        for name, tensor in (files.memory or {}).items()
    }
    candidates = memory["candidates"]
    if len(candidates) != len(files.candidates) or not files.candidates:
        message = f"{len(files.candidates)} texts have {len(candidates)} embeddings"
        raise ValueError(message)
    if files.configuration.kind == "bi_encoder":
        encoder = BiEncoder(**arguments)
        _fill(encoder, files, device, dtype)

        def score(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return encoder.scores(encoder.encode_contexts(ids, mask), candidates)

        return RetrievalModel("bi_encoder", encoder, tokens, files.candidates, score, room=length)
    network = KeyValueMemory(**arguments)
    _fill(network, files, device, dtype)
    keys, values = memory["keys"], candidates[memory["values"]]

    def recall(ids: torch.Tensor, _mask: torch.Tensor) -> torch.Tensor:
        return network.scores(network.recall(network.encode(ids), keys, values), candidates)

    return RetrievalModel("key_value", network, tokens, files.candidates, recall, room=length)


def _fill(network: nn.Module, files: OwnFiles, device: torch.device, dtype: torch.dtype) -> None:
    network.load_state_dict(dict(files.weights))
    network.to(device, dtype).eval()

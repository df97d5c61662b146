"""Turns requests into padded rows of tokens, for the models of our own kinds."""

from collections.abc import Sequence

import torch

from .requests import GenerationRequest
from .turn_tokens import TurnTokens


def conversation_tokens(tokens: TurnTokens, request: GenerationRequest, room: int) -> list[int]:
    """Return a request's conversation as tokens. A persona becomes its first turn."""
    turns = [*([request.persona] if request.persona else []), *request.turns]
    return tokens.context((tokens.ids(turn) for turn in reversed(turns)), room)


def padded(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens and mask, int64 of shape [rows, length of the longest row], padded with 0 on the right."""
    width = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], dtype=torch.int64)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], dtype=torch.int64)
    return ids.to(device), mask.to(device)

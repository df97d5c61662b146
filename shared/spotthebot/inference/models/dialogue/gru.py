"""A GRU sequence-to-sequence model with attention, and its batched replies."""

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..protocol import ModelDescription
from ..row_groups import groups
from .requests import GenerationRequest
from .rows import conversation_tokens, padded
from .sampler import RowSampler
from .turn_tokens import TurnTokens

_UNLIMITED = 2**31


class AttentionGru(nn.Module):
    """Encoder and decoder of stacked GRUs (Cho et al. 2014) with attention over the encoder's outputs.

    The attention is that of Luong et al. (2015), section 3.1, with their score function `general`. The decoder starts
    from the encoder's last states. Encoder and decoder share one table of embeddings, of the width `embedding` or else
    `width`.
    """

    def __init__(
        self, vocabulary: int, width: int, layers: int, dropout: float = 0.0, embedding: int | None = None
    ) -> None:
        super().__init__()
        between = dropout if layers > 1 else 0.0
        embedding = embedding or width
        self.embedding = nn.Embedding(vocabulary, embedding, padding_idx=0)
        self.encoder = nn.GRU(embedding, width, layers, batch_first=True, dropout=between)
        self.decoder = nn.GRU(embedding, width, layers, batch_first=True, dropout=between)
        self.attention = nn.Linear(width, width, bias=False)
        self.combined = nn.Linear(2 * width, width)
        self.output = nn.Linear(width, vocabulary)
        self.dropout = nn.Dropout(dropout)

    def encode(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return outputs [rows, length, width] and last states [layers, rows, width] of the encoder.

        `ids` are tokens, padded on the right.
        """
        lengths = mask.sum(1).cpu()
        embedded = self.dropout(self.embedding(ids))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        outputs, state = self.encoder(packed)
        return pad_packed_sequence(outputs, batch_first=True, total_length=ids.shape[1])[0], state

    def decode(
        self, ids: torch.Tensor, state: torch.Tensor, encoded: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the decoder's logits and last states.

        The logits have the shape [rows, steps, vocabulary]. They are for the token after each token of `ids`.
        """
        hidden, state = self.decoder(self.dropout(self.embedding(ids)), state)
        scores = self.attention(hidden) @ encoded.transpose(1, 2)
        weights = scores.masked_fill(~mask.bool()[:, None, :], float("-inf")).softmax(-1)
        combined = torch.tanh(self.combined(torch.cat((weights @ encoded, hidden), dim=-1)))
        return self.output(self.dropout(combined)), state

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, replies: torch.Tensor) -> torch.Tensor:
        """Return the logits of given replies [rows, steps] (teacher forcing)."""
        encoded, state = self.encode(ids, mask)
        logits: torch.Tensor = self.decode(replies, state, encoded, mask)[0]
        return logits


class GruModel:
    """Replies of an `AttentionGru`, made token by token. A reply has at least one token."""

    def __init__(self, network: AttentionGru, tokens: TurnTokens, context_length: int) -> None:
        self._network = network
        self._tokens = tokens
        weights = network.embedding.weight
        self._device = weights.device
        self.description = ModelDescription(
            kind="gru",
            parameters=sum(each.numel() for each in network.parameters()),
            dtype=str(weights.dtype).removeprefix("torch."),
            device=str(weights.device),
            context_length=context_length,
        )

    def replies(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """Return one reply for each request, in order."""
        contexts = [conversation_tokens(self._tokens, request, self.description.context_length) for request in requests]
        replies = [""] * len(requests)
        sizes = [(len(ids), request.max_new_tokens) for ids, request in zip(contexts, requests, strict=True)]
        for group in groups(sizes, _UNLIMITED):
            with torch.inference_mode():
                texts = self._generate([requests[index] for index in group], [contexts[index] for index in group])
            for index, text in zip(group, texts, strict=True):
                replies[index] = text
        return replies

    def _generate(self, requests: Sequence[GenerationRequest], contexts: Sequence[list[int]]) -> list[str]:
        ids, mask = padded(contexts, self._device)
        sampler = RowSampler(requests, self._device)
        encoded, state = self._network.encode(ids, mask)
        last = torch.full((len(requests), 1), self._tokens.self_, device=self._device)
        limits = torch.tensor([request.max_new_tokens for request in requests], device=self._device)
        done = torch.zeros(len(requests), dtype=torch.bool, device=self._device)
        written: list[torch.Tensor] = []
        while not bool(done.all()):
            logits, state = self._network.decode(last, state, encoded, mask)
            chosen = sampler.choose(self._speakable(logits[:, -1], is_first=not written))
            written.append(chosen)
            done = done | (chosen == self._tokens.end) | (limits <= len(written))
            last = chosen[:, None]
        rows = torch.stack(written, dim=1).tolist()
        return [self._text(row[: request.max_new_tokens]) for row, request in zip(rows, requests, strict=True)]

    def _speakable(self, logits: torch.Tensor, *, is_first: bool) -> torch.Tensor:
        never = [self._tokens.padding, self._tokens.self_, self._tokens.partner]
        logits[:, never + [self._tokens.end] * is_first] = float("-inf")
        return logits

    def _text(self, ids: list[int]) -> str:
        end = ids.index(self._tokens.end) if self._tokens.end in ids else len(ids)
        return self._tokens.text(ids[:end])

"""Two small BERT encoders, one for contexts and one for responses.

The vectors of a context and its response are close.
"""

import math

import torch
from torch import nn
from transformers import BertConfig, BertModel

_LARGEST_SCALE = 100.0


class BiEncoder(nn.Module):
    """Scores a response to a context: the cosine of their encodings, times a learned scale.

    It is the bi-encoder of Humeau et al. (2020). An encoding is the mean of an encoder's outputs. Encodings are
    normalised and scaled as in Radford et al. (2021), which keeps training from scratch stable.
    """

    def __init__(self, vocabulary: int, width: int, layers: int, heads: int, positions: int, dropout: float) -> None:
        super().__init__()
        configuration = BertConfig(
            vocab_size=vocabulary,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
            max_position_embeddings=positions,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )
        self.contexts = BertModel(configuration, add_pooling_layer=False)
        self.responses = BertModel(configuration, add_pooling_layer=False)
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def encode_contexts(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return unit vectors [rows, width] of contexts."""
        return _mean(self.contexts, ids, mask)

    def encode_responses(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return unit vectors [rows, width] of responses."""
        return _mean(self.responses, ids, mask)

    def scores(self, contexts: torch.Tensor, responses: torch.Tensor) -> torch.Tensor:
        """Return logits [contexts, responses] from the encodings of contexts and responses."""
        return contexts @ responses.T * self.log_scale.exp().clamp(max=_LARGEST_SCALE)


def _mean(encoder: nn.Module, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    outputs = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask[:, :, None].to(outputs.dtype)
    return nn.functional.normalize((outputs * weights).sum(1) / weights.sum(1), dim=-1)

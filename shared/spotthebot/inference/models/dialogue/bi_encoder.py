"""Two small BERT encoders, of contexts and of responses, which put what belongs together close together."""

import math

import torch
from torch import nn
from transformers import BertConfig, BertModel

_LARGEST_SCALE = 100.0


class BiEncoder(nn.Module):
    """A context and a response score by the cosine of their encodings, times a learned scale.

    The bi-encoder of Humeau et al. (2020) with the mean of the outputs for an encoding; normalised and
    scaled as in Radford et al. (2021), which keeps training from scratch stable.
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
        """Return unit vectors [rows, width]."""
        return _mean(self.contexts, ids, mask)

    def encode_responses(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return unit vectors [rows, width]."""
        return _mean(self.responses, ids, mask)

    def scores(self, contexts: torch.Tensor, responses: torch.Tensor) -> torch.Tensor:
        """Return logits [contexts, responses] of encodings."""
        return contexts @ responses.T * self.log_scale.exp().clamp(max=_LARGEST_SCALE)


def _mean(encoder: nn.Module, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    outputs = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask[:, :, None].to(outputs.dtype)
    return nn.functional.normalize((outputs * weights).sum(1) / weights.sum(1), dim=-1)

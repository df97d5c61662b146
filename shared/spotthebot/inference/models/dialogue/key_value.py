"""A key-value memory of conversations: a context attends over known contexts and moves towards their responses."""

import math

import torch
from torch import nn

_LARGEST_SCALE = 100.0


class KeyValueMemory(nn.Module):
    """The key-value memory network with which Zhang et al. (2018, section 4) rank next utterances.

    A text is encoded as the mean of its word vectors; encodings are compared by their cosine. The query is the encoded
    conversation. It attends over the keys, which are the contexts of the corpus. The attended values, the responses to
    these contexts, are added to the query, and the sum is mapped once more (Miller et al. 2016, section 3.1). The
    result is compared with the candidates. The paper attends only to keys that share a rare word with the query; this
    network attends to the `attended` nearest keys. Each of the two cosines has a learned scale.
    """

    def __init__(self, vocabulary: int, width: int, attended: int) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(vocabulary, width, mode="sum", padding_idx=0)
        self.hop = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.hop.weight)
        nn.init.normal_(self.words.weight, std=1 / math.sqrt(width))
        self.log_attention = nn.Parameter(torch.tensor(math.log(10.0)))
        self.log_scale = nn.Parameter(torch.tensor(math.log(10.0)))
        self.attended = attended

    def encode(self, ids: torch.Tensor) -> torch.Tensor:
        """Return unit vectors [rows, width] of tokens padded with 0."""
        return nn.functional.normalize(self.words(ids), dim=-1)

    def recall(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, hidden: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return queries [rows, width] after attention over the keys, except keys where `hidden` [rows, keys] is true.

        `values` has one row for each key.
        """
        near = queries @ keys.T * self.log_attention.exp().clamp(max=_LARGEST_SCALE)
        if hidden is not None:
            near = near.masked_fill(hidden, float("-inf"))
        best, indices = near.topk(min(self.attended, near.shape[1]), dim=1)
        found = (best.softmax(1)[:, :, None] * values[indices]).sum(1)
        return nn.functional.normalize(self.hop(queries + found), dim=-1)

    def scores(self, recalled: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
        """Return logits [rows, candidates]: how well each candidate follows each query."""
        return recalled @ candidates.T * self.log_scale.exp().clamp(max=_LARGEST_SCALE)

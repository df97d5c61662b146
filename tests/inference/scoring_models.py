"""A kind of model that is no dialogue model: it scores the tokens of a text, as a service of scores would."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from spotthebot.inference.models.pretrained import Pretrained, find_device, load_pretrained
from spotthebot.inference.models.protocol import ModelDescription

KIND = f"{__name__}:load"


class ScoringModel:
    """Answers a text with the log-probability of each token after the first, in nats."""

    def __init__(self, loaded: Pretrained) -> None:
        self._loaded = loaded
        self.description = ModelDescription(
            kind="causal",
            parameters=loaded.model.num_parameters(),
            dtype=str(loaded.model.dtype).removeprefix("torch."),
            device=str(loaded.model.device),
            context_length=loaded.limit.tokens,
        )

    def parse(self, document: Mapping[str, Any]) -> list[int]:
        """Return the text's tokens; raises ValueError where there are fewer than two or too many."""
        ids = list(self._loaded.tokenizer.encode(str(document.get("text", ""))))
        if not 2 <= len(ids) <= self._loaded.limit.tokens:
            message = f"a text must have 2 to {self._loaded.limit.tokens} tokens"
            raise ValueError(message)
        return ids

    def run(self, requests: Sequence[list[int]]) -> list[Mapping[str, Any]]:
        width = max(len(ids) for ids in requests)
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in requests])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in requests])
        with torch.inference_mode():
            logits = self._loaded.model(input_ids=ids, attention_mask=mask).logits.float()
        scores = logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[:, :, 0].tolist()
        return [
            {"log_probabilities": row[: len(given) - 1], "batch_size": len(requests)}
            for row, given in zip(scores, requests, strict=True)
        ]


def load(name_or_directory: str, *, device: str, dtype: str, revision: str | None) -> ScoringModel:
    """Load a causal model; raises LoadFailed."""
    torch_device = find_device(name_or_directory, device)
    return ScoringModel(load_pretrained(name_or_directory, device=torch_device, dtype=dtype, revision=revision))

"""An encoder or a causal model of transformers with a head: P(human) from the mean of its last states."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from spotthebot.inference.models.context_length import context_length
from spotthebot.inference.models.progress_bars import without_progress_bars
from spotthebot.judges.trained.errors import ModelUnusable
from spotthebot.judges.trained.options import NetworkOptions
from spotthebot.judges.trained.text_features import Shown

_HEAD: Final = "head.safetensors"
_MARKS: Final = {True: "> ", False: "< "}
"""The beginnings of a turn of the side in question, and of a turn of the other side."""


@dataclass(frozen=True, eq=False)
class Network:
    """A model of transformers, its tokenizer, and a linear head."""

    body: Any
    tokenizer: Any
    head: torch.nn.Linear
    options: NetworkOptions

    @classmethod
    def load(cls, folder: Path, options: NetworkOptions) -> "Network":
        """Load a folder of transformers, with the head that `write` wrote, or a new head; raises ModelUnusable.

        Code that comes with a model is never run, and weights are read as tensors only.
        """
        read: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
        tokenizer = _attempt(folder, lambda: AutoTokenizer.from_pretrained(folder, **read))
        with without_progress_bars():
            body = _attempt(folder, lambda: AutoModel.from_pretrained(folder, weights_only=True, **read))
        if body.config.is_encoder_decoder:
            raise ModelUnusable(folder=folder, reason="it is neither an encoder nor a causal model")
        if tokenizer.pad_token_id is None:
            if tokenizer.eos_token is None:
                raise ModelUnusable(folder=folder, reason="its tokenizer has no token for padding or the end of a text")
            tokenizer.pad_token = tokenizer.eos_token
        tokenizer.truncation_side = "left"
        torch.manual_seed(options.seed)
        head = torch.nn.Linear(body.config.hidden_size, 1)
        if (folder / _HEAD).exists():
            head.load_state_dict(_attempt(folder, lambda: load_file(folder / _HEAD)))
        device = torch.device(options.device)
        return cls(body.to(device), tokenizer, head.to(device), options)

    def train(self, shown: Sequence[Shown], human: NDArray[np.float64], n: NDArray[np.float64]) -> None:
        """Fit to segments with `n` labels each, of which `human` are "human". The same seed gives the same weights."""
        options = self.options
        order = np.random.default_rng(options.seed)
        texts, device = [_text(each) for each in shown], self.head.weight.device
        target = torch.tensor(human / n, dtype=torch.float32, device=device)
        weight = torch.tensor(n / n.mean(), dtype=torch.float32, device=device)
        parameters = [*self.body.parameters(), *self.head.parameters()]
        optimiser = torch.optim.AdamW(parameters, lr=options.learning_rate)
        steps = options.epochs * math.ceil(len(texts) / options.batch_size)
        schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, total_iters=steps)
        with torch.no_grad():
            share = float(human.sum() / n.sum())
            self.head.bias.fill_(math.log(share / (1 - share)))
        torch.manual_seed(options.seed)
        self.body.train()
        for _ in range(options.epochs):
            rows = order.permutation(len(texts))
            for start in range(0, len(rows), options.batch_size):
                batch = rows[start : start + options.batch_size].tolist()
                score = self._scores([texts[at] for at in batch])
                loss = functional.binary_cross_entropy_with_logits(score, target[batch], weight=weight[batch])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call] # torch gives it no types
                torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                optimiser.step()
                schedule.step()
        self.body.eval()

    @torch.no_grad()
    def probabilities(self, shown: Sequence[Shown]) -> NDArray[np.float64]:
        """Return P(human) of each segment (segments,)."""
        self.body.eval()
        size = self.options.batch_size
        texts = [_text(each) for each in shown]
        scores = [self._scores(texts[start : start + size]).double() for start in range(0, len(texts), size)]
        return torch.sigmoid(torch.cat(scores)).cpu().numpy() if scores else np.empty(0)

    def write(self, folder: Path) -> None:
        with without_progress_bars():
            self.body.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        save_file({name: value.contiguous() for name, value in self.head.state_dict().items()}, folder / _HEAD)

    def _scores(self, texts: Sequence[str]) -> torch.Tensor:
        device = self.head.weight.device
        limit = context_length(self.body, self.tokenizer).tokens
        tokens = self.tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=min(self.options.max_tokens, limit),
            return_tensors="pt",
            return_token_type_ids=False,
        ).to(device)
        states = self.body(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
        scores: torch.Tensor = self.head(((states * mask).sum(1) / mask.sum(1).clamp(min=1)).float()).squeeze(-1)
        return scores


def _text(shown: Shown) -> str:
    turns, side = shown
    return "\n".join(f"{_MARKS[turn.speaker == side]}{turn.text}" for turn in turns)


def _attempt(folder: Path, read: Callable[[], Any]) -> Any:  # noqa: ANN401 - transformers' objects
    try:
        return read()
    except Exception as error:  # transformers may raise anything for a foreign file
        first = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ModelUnusable(folder=folder, reason=first.rstrip(".:")) from error

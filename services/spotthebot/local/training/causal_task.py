"""`gpt` and `scorer`: causal transformers that continue a dialogue, in the GPT-2 format of `transformers`."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from spotthebot.inference.models.dialogue.rows import padded
from spotthebot.inference.models.progress_bars import without_progress_bars
from spotthebot.local.training.examples import Dialogues, PackedWindows, Windows
from spotthebot.local.training.options import TrainingOptions
from spotthebot.local.training.pretrained import pretrained_gpt, pretrained_tokenizer
from spotthebot.local.training.task import batches
from spotthebot.local.training.vocabularies import learn_vocabulary

_BEGIN, _END = "<|begin|>", "<|endoftext|>"
_BEGIN_ID, _END_ID = 0, 1


def gpt_network(options: TrainingOptions, vocabulary: int) -> GPT2LMHeadModel:
    """Return the untrained network for these options and this size of vocabulary."""
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary,
            n_positions=options.context_length,
            n_embd=options.width,
            n_layer=options.layers,
            n_head=options.heads,
            resid_pdrop=options.dropout,
            embd_pdrop=options.dropout,
            attn_pdrop=options.dropout,
            bos_token_id=_BEGIN_ID,
            eos_token_id=_END_ID,
        )
    )


class CausalTask:
    """Predicts every token of a dialogue from the tokens before it."""

    autocasts = True

    def __init__(
        self, train: Dialogues, validation: Dialogues, options: TrainingOptions, vocabulary: str | None
    ) -> None:
        if options.pretrained is not None:
            self._tokenizer = pretrained_tokenizer(options.pretrained)
        elif vocabulary is None:
            turns = (self._written(turn) for dialogue in train for turn in dialogue)
            self._tokenizer = learn_vocabulary(turns, options.vocabulary, (_BEGIN, _END))
        else:
            self._tokenizer = Tokenizer.from_str(vocabulary)
        self._tokenizer.encode_special_tokens = True
        self.vocabulary: str = self._tokenizer.to_str()
        self._options = options
        if options.pretrained is None:
            self.network = gpt_network(options, self._tokenizer.get_vocab_size())
        else:
            self.network = pretrained_gpt(options.pretrained)
        config: Any = self.network.config  # GPT-2's ids are numbers, other models' may be lists
        self._end_id: int = config.eos_token_id
        self._begin_id: int = config.eos_token_id if config.bos_token_id is None else config.bos_token_id
        self._train, self._validation = self._rows(train), self._rows(validation)
        self.examples = len(self._train)
        self._device = torch.device(options.device)

    def _rows(self, dialogues: Dialogues) -> Windows | PackedWindows:
        return Windows(self._encode, dialogues, self._options.context_length, begin=self._begin_id, end=self._end_id)

    def _written(self, turn: str) -> str:
        return turn

    def _encode(self, turn: str) -> list[int]:
        return list(self._tokenizer.encode(self._written(turn).encode("utf-8", "replace").decode()).ids)

    def loss(self, indices: Sequence[int]) -> torch.Tensor:
        """Return the mean loss per token of these examples."""
        total, count = self._summed([self._train[index] for index in indices])
        return total / count

    def evaluate(self) -> Mapping[str, float]:
        """Return the loss per token and the perplexity on the validation data."""
        sums = [
            self._summed([self._validation[index] for index in batch])
            for batch in batches(len(self._validation), self._options.batch_size)
        ]
        if not sums:
            return {}
        loss = sum(float(total) for total, _ in sums) / sum(count for _, count in sums)
        return {"loss": loss, "perplexity": math.exp(loss)}

    def _summed(self, rows: Sequence[list[int]]) -> tuple[torch.Tensor, int]:
        ids, mask = padded(rows, self._device)
        logits = self.network(input_ids=ids, attention_mask=mask).logits[:, :-1]
        targets = ids[:, 1:].masked_fill(mask[:, 1:] == 0, -100)
        total = functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), reduction="sum")
        return total, sum(len(row) - 1 for row in rows)

    def export(self, folder: Path) -> None:
        """Write a transformers directory."""
        self._tokenizer.encode_special_tokens = False
        make: Callable[..., PreTrainedTokenizerFast] = PreTrainedTokenizerFast  # its constructor has no types
        words = make(
            tokenizer_object=self._tokenizer,
            bos_token=self._tokenizer.id_to_token(self._begin_id),
            eos_token=self._tokenizer.id_to_token(self._end_id),
            model_max_length=self._options.context_length,
        )
        words.save_pretrained(folder)
        self.network.generation_config.begin_suppress_tokens = [self._end_id]  # a reply has at least one token
        with without_progress_bars():
            self.network.save_pretrained(folder)


class ScorerTask(CausalTask):
    """Predicts every token of dialogues. Their form is the form in which FED scores them: the join `fed`."""

    def _rows(self, dialogues: Dialogues) -> PackedWindows:
        return PackedWindows(self._encode, dialogues, self._options.context_length, end=self._end_id)

    def _written(self, turn: str) -> str:
        return f" {turn.strip()}"

"""`s2` and `dr`: a GRU sequence-to-sequence model with attention that writes the next turn."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from spotthebot.inference.models.dialogue.gru import AttentionGru
from spotthebot.inference.models.dialogue.own_files import Configuration, OwnFiles
from spotthebot.inference.models.dialogue.rows import padded
from spotthebot.local.training.examples import Dialogues, Pairs
from spotthebot.local.training.options import TrainingOptions
from spotthebot.local.training.own_vocabulary import OwnVocabulary
from spotthebot.local.training.pretrained import fill_embeddings
from spotthebot.local.training.task import batches


def gru_arguments(options: TrainingOptions, vocabulary: int) -> dict[str, Any]:
    """Return the arguments for making the network."""
    sizes = {"vocabulary": vocabulary, "width": options.width, "layers": options.layers, "dropout": options.dropout}
    return sizes | ({} if options.embedding is None else {"embedding": options.embedding})


class GruTask:
    """Predicts every token of a turn from the dialogue before it and the turn's tokens so far."""

    autocasts = False  # recurrent layers keep their weights in one block, which autocast would copy at every step

    def __init__(
        self, train: Dialogues, validation: Dialogues, options: TrainingOptions, vocabulary: str | None
    ) -> None:
        words = OwnVocabulary(train, options.vocabulary, vocabulary)
        self.vocabulary = words.text
        self._words = words
        self._end, self._self = words.tokens.end, words.tokens.self_
        lengths = options.context_length, options.reply_length
        self._train, self._validation = (Pairs(words.tokens, dialogues, *lengths) for dialogues in (train, validation))
        self.examples = len(self._train)
        self._options = options
        self._device = torch.device(options.device)
        self.network = AttentionGru(**gru_arguments(options, len(words.tokens)))
        if options.word_vectors is not None:
            fill_embeddings(self.network.embedding, words.tokenizer, options.word_vectors)

    def loss(self, indices: Sequence[int]) -> torch.Tensor:
        """Return the mean loss per token of these examples."""
        total, count = self._summed(self._train, indices)
        return total / count

    def evaluate(self) -> Mapping[str, float]:
        """Return the loss per token and the perplexity on the validation data."""
        every = batches(len(self._validation), self._options.batch_size)
        sums = [self._summed(self._validation, batch) for batch in every]
        if not sums:
            return {}
        loss = sum(float(total) for total, _ in sums) / sum(count for _, count in sums)
        return {"loss": loss, "perplexity": math.exp(loss)}

    def _summed(self, pairs: Pairs, indices: Sequence[int]) -> tuple[torch.Tensor, int]:
        ids, mask = padded([pairs.context(index) for index in indices], self._device)
        replies = [pairs.reply(index) for index in indices]
        given, _ = padded([[self._self, *reply] for reply in replies], self._device)
        targets, target_mask = padded([[*reply, self._end] for reply in replies], self._device)
        logits = self.network(ids, mask, given)
        targets = targets.masked_fill(target_mask == 0, -100)
        total = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
        return total, sum(len(reply) + 1 for reply in replies)

    def export(self, folder: Path) -> None:
        """Write the files of a `gru` model."""
        arguments = gru_arguments(self._options, len(self._words.tokens))
        configuration = Configuration("gru", self._options.context_length, arguments)
        OwnFiles(configuration, self._words.tokenizer, self.network.state_dict()).write(folder)

"""`bert_rank` and `kv`: models that find, among the responses of a corpus, the response that follows a context."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from spotthebot.inference.models.dialogue.bi_encoder import BiEncoder
from spotthebot.inference.models.dialogue.key_value import KeyValueMemory
from spotthebot.inference.models.dialogue.own_files import Configuration, OwnFiles
from spotthebot.inference.models.dialogue.rows import padded
from spotthebot.local.training.examples import Dialogues, Pairs
from spotthebot.local.training.options import TrainingOptions
from spotthebot.local.training.own_vocabulary import OwnVocabulary
from spotthebot.local.training.pretrained import pretrained_bi_encoder, pretrained_tokenizer, with_controls
from spotthebot.local.training.task import batches

_RANKED = 20  # candidates, as Zhang et al. (2018) rank
_ENCODED_AT_ONCE = 256
_ATTENDED = 32


class _RankingTask(ABC):
    """Scores each context of a batch with all responses of the batch (in-batch negatives)."""

    def __init__(
        self, train: Dialogues, validation: Dialogues, options: TrainingOptions, vocabulary: str | None
    ) -> None:
        self._words = OwnVocabulary(train, options.vocabulary, vocabulary)
        self.vocabulary = self._words.text
        lengths = options.context_length, options.reply_length
        self._train, self._validation = (
            Pairs(self._words.tokens, dialogues, *lengths) for dialogues in (train, validation)
        )
        self.examples = len(self._train)
        self._options = options
        self._device = torch.device(options.device)

    @abstractmethod
    def _scores(self, pairs: Pairs, indices: Sequence[int]) -> torch.Tensor:
        """Return the scores of each context at `indices` with each response of the batch, [contexts, responses]."""

    def loss(self, indices: Sequence[int]) -> torch.Tensor:
        """Return the mean loss per context of these examples."""
        return functional.cross_entropy(self._ranked(self._train, indices), self._own(indices))

    def evaluate(self) -> Mapping[str, float]:
        """Return the loss on the validation data, and how often contexts rank their own response first of 20."""
        every = [batch for batch in batches(len(self._validation), _RANKED) if len(batch) == _RANKED]
        if not every:
            return {}
        scores = [self._ranked(self._validation, batch).float() for batch in every]
        own = self._own(every[0])
        losses = [float(functional.cross_entropy(each, own)) for each in scores]
        hits = [float((each.argmax(1) == own).float().mean()) for each in scores]
        return {"loss": sum(losses) / len(losses), "hits_at_1": sum(hits) / len(hits)}

    def _ranked(self, pairs: Pairs, indices: Sequence[int]) -> torch.Tensor:
        """Return logits [contexts, responses]; other responses that equal a context's own response get -inf."""
        texts: dict[str, int] = {}
        kinds = torch.tensor([texts.setdefault(pairs.text(index), len(texts)) for index in indices])
        same = (kinds[:, None] == kinds[None, :]) & ~torch.eye(len(indices), dtype=torch.bool)
        return self._scores(pairs, indices).masked_fill(same.to(self._device), float("-inf"))

    def _own(self, indices: Sequence[int]) -> torch.Tensor:
        return torch.arange(len(indices), device=self._device)

    def _padded(self, rows: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        return padded([row or [self._words.tokens.end] for row in rows], self._device)

    def _different_responses(self) -> dict[str, int]:
        """Return each distinct response with the index of the first training pair that has it."""
        return {self._train.text(index): index for index in range(len(self._train) - 1, -1, -1)}

    def _files(self, kind: str, network: dict[str, Any], memory: dict[str, torch.Tensor], weights: Any) -> OwnFiles:  # noqa: ANN401 - a state dict
        return OwnFiles(
            Configuration(kind, self._options.context_length, network),
            self._words.tokenizer,
            weights,
            tuple(self._different_responses()),
            memory,
        )


class BiEncoderTask(_RankingTask):
    """Trains the two encoders of `bert_rank`: one for contexts, one for responses."""

    autocasts = True

    def __init__(
        self, train: Dialogues, validation: Dialogues, options: TrainingOptions, vocabulary: str | None
    ) -> None:
        start = options.pretrained
        if start is not None and vocabulary is None:
            vocabulary = with_controls(pretrained_tokenizer(start)).to_str()
        super().__init__(train, validation, options, vocabulary)
        self._arguments: dict[str, Any] = {
            "vocabulary": len(self._words.tokens),
            "width": options.width,
            "layers": options.layers,
            "heads": options.heads,
            "positions": max(options.context_length, options.reply_length),
            "dropout": options.dropout,
        }
        if start is None:
            self.network = BiEncoder(**self._arguments)
        else:
            self.network = pretrained_bi_encoder(start, self._arguments, options.trained_layers or options.layers)

    def _scores(self, pairs: Pairs, indices: Sequence[int]) -> torch.Tensor:
        contexts = self.network.encode_contexts(*self._padded([pairs.context(index) for index in indices]))
        responses = self.network.encode_responses(*self._padded([pairs.reply(index) for index in indices]))
        return self.network.scores(contexts, responses)

    def export(self, folder: Path) -> None:
        """Write the files of a `bi_encoder` model, with all responses of the corpus encoded."""
        indices = list(self._different_responses().values())
        encoded = [
            self.network.encode_responses(*self._padded([self._train.reply(indices[each]) for each in batch]))
            for batch in batches(len(indices), _ENCODED_AT_ONCE)
        ]
        memory = {"candidates": torch.cat(encoded)}
        self._files("bi_encoder", self._arguments, memory, self.network.state_dict()).write(folder)


class KeyValueTask(_RankingTask):
    """Trains the word vectors and the attention of `kv`; the memory of a context is the other pairs of its batch."""

    autocasts = False  # one sum of word vectors a text, which lower precision would not speed up

    def __init__(
        self, train: Dialogues, validation: Dialogues, options: TrainingOptions, vocabulary: str | None
    ) -> None:
        super().__init__(train, validation, options, vocabulary)
        self._arguments = {"vocabulary": len(self._words.tokens), "width": options.width, "attended": _ATTENDED}
        self.network = KeyValueMemory(**self._arguments)

    def _scores(self, pairs: Pairs, indices: Sequence[int]) -> torch.Tensor:
        contexts = self._encoded([pairs.context(index) for index in indices])
        responses = self._encoded([pairs.reply(index) for index in indices])
        itself = torch.eye(len(indices), dtype=torch.bool, device=self._device)
        return self.network.scores(self.network.recall(contexts, contexts, responses, itself), responses)

    def _encoded(self, rows: Sequence[list[int]]) -> torch.Tensor:
        return self.network.encode(self._padded(rows)[0])

    def export(self, folder: Path) -> None:
        """Write the files of a `key_value` model, with all pairs of the corpus as its memory."""
        different = self._different_responses()
        indices = list(different.values())
        numbers = {text: number for number, text in enumerate(different)}
        responses = [
            self._encoded([self._train.reply(indices[each]) for each in batch])
            for batch in batches(len(indices), _ENCODED_AT_ONCE)
        ]
        contexts = [
            self._encoded([self._train.context(each) for each in batch])
            for batch in batches(len(self._train), _ENCODED_AT_ONCE)
        ]
        values = torch.tensor([numbers[self._train.text(index)] for index in range(len(self._train))])
        memory = {"candidates": torch.cat(responses), "keys": torch.cat(contexts), "values": values}
        self._files("key_value", self._arguments, memory, self.network.state_dict()).write(folder)

"""GPT-2 with random weights, which costs what a trained one does, and contexts of so many tokens.

The tokenizer splits texts as GPT-2's does, and its vocabulary has each word and mark whole. So has GPT-2's the common
words that follow-ups are made of: they are as many tokens here as under GPT-2 and DialoGPT, give or take a few.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from spotthebot.fed.dimension_sets.domain.dimensions import unique_followups
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED
from spotthebot.inference.models.context_length import ContextLength
from spotthebot.inference.models.likelihood.batch_model import LikelihoodBatchModel, batch_model_of
from spotthebot.inference.models.likelihood.limits import Limits
from spotthebot.inference.models.pretrained import Pretrained

END = "<|endoftext|>"
FOLLOWUPS = unique_followups(FED.dimensions)
NEGATIVES = tuple(dict.fromkeys(text for dimension in FED.dimensions for text in dimension.negative))
_WORDS = (
    "you",
    "me",
    "that",
    "this",
    "is",
    "was",
    "not",
    "very",
    "good",
    "bad",
    "now",
    "then",
    "dog",
    "cat",
    "rain",
    "tea",
)
_JOIN = {"form": "fed", "space_before_end": False}
_POSITIONS = 1024


@dataclass(frozen=True)
class Size:
    """A GPT-2's measures; heads are of 64."""

    name: str
    layers: int
    width: int
    vocabulary: int = 50_257


SIZES = (Size("124 M", 12, 768), Size("345 M", 24, 1024), Size("1.5 B", 48, 1600))
TOY_SIZES = (Size("toy", 1, 64, 1024),)


def random_model(size: Size, *, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Any:  # noqa: ANN401 - transformers' own
    """Return a GPT-2 of a size; each call with the same arguments makes the same weights."""
    torch.manual_seed(1)
    heads = size.width // 64
    config = GPT2Config(
        vocab_size=size.vocabulary,
        n_layer=size.layers,
        n_embd=size.width,
        n_head=heads,
        bos_token_id=0,
        eos_token_id=0,
    )
    with torch.device(device):
        model: Any = GPT2LMHeadModel(config)
    return model.to(dtype).eval()


def scorer(model: Any, limits: Limits | None = None) -> LikelihoodBatchModel:  # noqa: ANN401 - transformers' own
    """Return a likelihood model around a model, which is changed by that."""
    made = batch_model_of(
        Pretrained(model, tokenizer(), ContextLength(_POSITIONS, "its positions end there")), limits or Limits()
    )
    if made.description.path != "packed":
        message = "the packed path differs from the plain one"
        raise RuntimeError(message)
    return made


@cache
def tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer with a whole token for each word of follow-ups and contexts."""
    split = pre_tokenizers.ByteLevel(add_prefix_space=False)
    texts = [text for word in (*FOLLOWUPS, *_WORDS) for text in (word, f" {word}")]
    pieces = dict.fromkeys([END, *(piece for text in texts for piece, _ in split.pre_tokenize_str(text))])
    made = Tokenizer(models.WordLevel({piece: number for number, piece in enumerate(pieces)}, unk_token=END))
    made.pre_tokenizer = split
    make: Callable[..., PreTrainedTokenizerFast] = PreTrainedTokenizerFast  # its constructor has no types
    return make(tokenizer_object=made, bos_token=END, eos_token=END)


def dialogue(tokens: int, turns: int, *, seed: int = 0) -> list[str]:
    """Return so many turns of about the same length that are so many tokens with all their end-of-text tokens."""
    chance = random.Random(seed)
    words = tokens - 1 - turns  # one mark before the first turn and one after each
    return [
        " ".join(chance.choices(_WORDS, k=words * (turn + 1) // turns - words * turn // turns)) for turn in range(turns)
    ]


def request(
    turns: Sequence[str], *, ends: Sequence[int] = (), followups: Sequence[str] = FOLLOWUPS, whole: bool = False
) -> str:
    """Return a request for the likelihoods of follow-ups, of the context's too for the mean over the whole sequence."""
    document = {"turns": list(turns), "ends": list(ends), "followups": list(followups), "join": _JOIN}
    return json.dumps({**document, "context_likelihood": whole})


def tokens_of(followups: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the tokens of follow-ups."""
    return tuple(tuple(ids) for ids in tokenizer()([f" {text}" for text in followups])["input_ids"])


def context_lengths(turns: Sequence[str]) -> list[int]:
    """Return how many tokens the context after each turn is."""
    return [len(tokenizer()(context_text(turns[:end]))["input_ids"]) for end in range(1, len(turns) + 1)]


def context_text(turns: Sequence[str]) -> str:
    """Return a context as the released code writes it, but for the space before a mark, which it was stripped of."""
    return f"{END} " + f"{END} ".join(turns) + END

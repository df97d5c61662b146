"""GPT-2 of any size with random weights, which cost what trained ones do; its replies never end before their limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from spotthebot.inference.models.progress_bars import without_progress_bars

SENTENCES = (
    "Did you water the tomatoes this morning?",
    "Yes, before breakfast. They looked thirsty.",
    "My bike has a flat tyre again, can I borrow your pump?",
    "The train to Geneva is late. Let us get a coffee.",
    "I made lentil soup for dinner, and there is fresh bread.",
)
_END = "<|endoftext|>"
_VOCABULARY = 50_257


@dataclass(frozen=True)
class Size:
    """A GPT-2's measures; the published ones have heads of 64 and a vocabulary of 50,257."""

    name: str
    layers: int
    width: int
    vocabulary: int = _VOCABULARY

    @property
    def heads(self) -> int:
        return self.width // 64


TINY = Size("tiny", layers=4, width=64, vocabulary=1024)
SIZES = {size.name: size for size in (TINY, Size("124 M", layers=12, width=768), Size("345 M", layers=24, width=1024))}


def make_gpt2(folder: Path, size: Size, *, dtype: torch.dtype = torch.float32, device: str = "cpu") -> Path:
    """Write a model and its tokenizer, as `transformers` saves them, and return the folder."""
    words = _tokenizer()
    config = GPT2Config(
        n_layer=size.layers,
        n_head=size.heads,
        n_embd=size.width,
        vocab_size=size.vocabulary,
        bos_token_id=words.eos_token_id,
        eos_token_id=words.eos_token_id,
    )
    with torch.device(device):
        model = GPT2LMHeadModel(config)
    for weights in model.parameters():
        weights.data = weights.data.to(dtype)
    # Where one row could end sooner than another, speed would depend on what was drawn.
    model.generation_config.suppress_tokens = [words.eos_token_id]
    with without_progress_bars():
        model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def count_tokens(turns: Sequence[str]) -> int:
    """Return how many tokens a conversation is, each turn with its end."""
    words = _tokenizer()
    return sum(len(words.encode(turn)) + 1 for turn in turns)


@cache
def _tokenizer() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(SENTENCES * 20, trainer)
    make: Callable[..., PreTrainedTokenizerFast] = PreTrainedTokenizerFast  # its constructor has no types
    return make(tokenizer_object=made, bos_token=_END, eos_token=_END)

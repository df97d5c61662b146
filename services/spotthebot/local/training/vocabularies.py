"""Learns the byte-level BPE vocabulary of a corpus; it can encode any text."""

from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers


def learn_vocabulary(turns: Iterable[str], size: int, controls: Sequence[str]) -> Tokenizer:
    """Return a tokenizer of at most `size` tokens, control tokens first (Sennrich et al. 2016, on bytes)."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(controls),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator((turn.encode("utf-8", "replace").decode() for turn in turns), trainer)
    return tokenizer

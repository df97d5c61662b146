"""Tiny random models that say words, not bytes: what they reply is nonsense, but always text, and never nothing."""

from pathlib import Path
from typing import Any

from tests.factories.lazy_imports import lazily
from tests.factories.tiny_models import END, PADDING, SENTENCES, TEMPLATE

Tokenizer = lazily("tokenizers:Tokenizer")
models = lazily("tokenizers.models")
pre_tokenizers = lazily("tokenizers.pre_tokenizers")
trainers = lazily("tokenizers.trainers")
GPT2Config = lazily("transformers:GPT2Config")
GPT2LMHeadModel = lazily("transformers:GPT2LMHeadModel")
LlamaConfig = lazily("transformers:LlamaConfig")
LlamaForCausalLM = lazily("transformers:LlamaForCausalLM")
PreTrainedTokenizerFast = lazily("transformers:PreTrainedTokenizerFast")
_UNKNOWN = "<|unknown|>"


def talking_gpt2(folder: Path, *, layers: int = 2, width: int = 32) -> Path:
    """Save a GPT-2 that was never trained."""
    words = _words()
    sizes: dict[str, Any] = {"n_layer": layers, "n_head": width // 16, "n_embd": width, "n_positions": 256}
    config = GPT2Config(vocab_size=len(words), bos_token_id=0, eos_token_id=0, pad_token_id=1, **sizes)
    return _save(folder, GPT2LMHeadModel(config), words)


def talking_llama(folder: Path) -> Path:
    """Save a Llama that was never trained, with a chat template."""
    words = _words(chat_template=TEMPLATE)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=1,
    )
    return _save(folder, LlamaForCausalLM(config), words)


def _words(**more: str) -> Any:
    made = Tokenizer(models.WordLevel(unk_token=_UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.train_from_iterator(SENTENCES, trainers.WordLevelTrainer(special_tokens=[END, PADDING, _UNKNOWN]))
    special = {"bos_token": END, "eos_token": END, "pad_token": PADDING, "unk_token": _UNKNOWN}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=256, **special, **more)


def _save(folder: Path, model: Any, words: Any) -> Path:
    if model.generation_config is not None:
        model.generation_config.suppress_tokens = [0, 1, 2]  # so that it never ends, and says known words only
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder

"""Tiny random dialogue models of several families, with tokenizers trained on a few sentences."""

import random
from pathlib import Path
from typing import Any

from spotthebot.inference.models.dialogue.requests import GenerationRequest
from tests.factories.lazy_imports import lazily

torch = lazily("torch")
Tokenizer = lazily("tokenizers:Tokenizer")
decoders = lazily("tokenizers.decoders")
models = lazily("tokenizers.models")
pre_tokenizers = lazily("tokenizers.pre_tokenizers")
trainers = lazily("tokenizers.trainers")
BartConfig = lazily("transformers:BartConfig")
BartForConditionalGeneration = lazily("transformers:BartForConditionalGeneration")
BlenderbotConfig = lazily("transformers:BlenderbotConfig")
BlenderbotForConditionalGeneration = lazily("transformers:BlenderbotForConditionalGeneration")
BlenderbotSmallConfig = lazily("transformers:BlenderbotSmallConfig")
BlenderbotSmallForConditionalGeneration = lazily("transformers:BlenderbotSmallForConditionalGeneration")
GPT2Config = lazily("transformers:GPT2Config")
GPT2LMHeadModel = lazily("transformers:GPT2LMHeadModel")
LlamaConfig = lazily("transformers:LlamaConfig")
LlamaForCausalLM = lazily("transformers:LlamaForCausalLM")
OpenAIGPTConfig = lazily("transformers:OpenAIGPTConfig")
OpenAIGPTLMHeadModel = lazily("transformers:OpenAIGPTLMHeadModel")
PreTrainedTokenizerFast = lazily("transformers:PreTrainedTokenizerFast")
T5Config = lazily("transformers:T5Config")
T5ForConditionalGeneration = lazily("transformers:T5ForConditionalGeneration")

SENTENCES = (
    "Did you water the tomatoes this morning?",
    "Yes, before breakfast. They looked thirsty.",
    "My bike has a flat tyre again, can I borrow your pump?",
    "The train to Geneva is late. Let us get a coffee.",
    "I made lentil soup for dinner, and there is fresh bread.",
)
_UNKNOWN = "<|unknown|>"
BEGIN, END, PADDING = "<|begin|>", "<|end|>", "<|pad|>"
TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
STRICT_TEMPLATE = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate user/assistant') }}{% endif %}{% endfor %}" + TEMPLATE
)


def tokenizer(**more):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[END, PADDING, BEGIN],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(SENTENCES * 20, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END, **more)


def gpt2(folder, *, positions=96, **more):
    words = tokenizer(bos_token=END)
    config = GPT2Config(n_layer=2, n_head=2, n_embd=32, n_positions=positions, **_tokens(words), **more)
    return _save(folder, GPT2LMHeadModel(config), words, 0.4)


def llama(folder, template=TEMPLATE, *, positions=128):
    words = tokenizer(bos_token=END, pad_token=PADDING, chat_template=template)
    config = LlamaConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        **_tokens(words),
    )
    return _save(folder, LlamaForCausalLM(config), words)


def blenderbot(folder):
    words = tokenizer(bos_token=BEGIN, pad_token=PADDING)
    return _save(folder, BlenderbotForConditionalGeneration(BlenderbotConfig(**_sizes(), **_tokens(words))), words)


def bart(folder):
    words = tokenizer(bos_token=BEGIN, pad_token=PADDING)
    return _save(folder, BartForConditionalGeneration(BartConfig(**_sizes(), **_tokens(words))), words)


def t5(folder):
    words = tokenizer(pad_token=PADDING, model_max_length=512)  # as real ones say
    config = T5Config(d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, **_tokens(words))
    return _save(folder, T5ForConditionalGeneration(config), words)


MAKERS = {"gpt2": gpt2, "llama": llama, "blenderbot": blenderbot, "bart": bart, "t5": t5}


def mixed_requests(count=28):
    """Requests of every kind and length: short and long, greedy and drawn, cut or not, with and without a persona."""
    rng = random.Random(5)
    return [
        GenerationRequest(
            turns=tuple(rng.choice(SENTENCES) * rng.choice((1, 1, 2)) for _ in range(rng.randrange(7))),
            persona=rng.choice((None, None, "I am a gardener.")),
            seed=rng.randrange(2**63),
            max_new_tokens=rng.randrange(1, 24),
            temperature=rng.choice((0.0, 0.7, 1.0, 1.3)),
            top_p=rng.choice((1.0, 0.9, 0.4)),
            top_k=rng.choice((0, 0, 5, 40)),
            repetition_penalty=rng.choice((1.0, 1.0, 1.3)),
        )
        for _ in range(count)
    ]


def _sizes():
    each = {"layers": 2, "attention_heads": 2, "ffn_dim": 64}
    both = {f"{side}_{what}": size for side in ("encoder", "decoder") for what, size in each.items()}
    return {"d_model": 32, "max_position_embeddings": 96, "forced_eos_token_id": None, **both}


def _tokens(words):
    return {
        "vocab_size": len(words),
        "bos_token_id": words.bos_token_id,
        "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
        "decoder_start_token_id": words.pad_token_id,
    }


def _save(folder, model, words, spread=0.3):
    chance = torch.Generator().manual_seed(1)
    with torch.no_grad():  # as they are made, every logit is nearly the same
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.normal_(0, spread, generator=chance)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def talking_gpt2(folder: Path, *, layers: int = 2, width: int = 32) -> Path:
    """Save a GPT-2 that was never trained."""
    words = _words()
    sizes: dict[str, Any] = {"n_layer": layers, "n_head": width // 16, "n_embd": width, "n_positions": 256}
    config = GPT2Config(vocab_size=len(words), bos_token_id=0, eos_token_id=0, pad_token_id=1, **sizes)
    return _save_talking(folder, GPT2LMHeadModel(config), words)


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
    return _save_talking(folder, LlamaForCausalLM(config), words)


def talking_blenderbot(folder: Path) -> Path:
    """Save a Blenderbot that was never trained."""
    words = _words()
    config = BlenderbotConfig(vocab_size=len(words), bos_token_id=0, eos_token_id=0, pad_token_id=1, **_sizes())
    return _save_talking(folder, BlenderbotForConditionalGeneration(config), words)


def talking_blenderbot_small(folder: Path) -> Path:
    """Save a BlenderbotSmall that was never trained."""
    words = _words()
    config = BlenderbotSmallConfig(vocab_size=len(words), bos_token_id=0, eos_token_id=0, pad_token_id=1, **_sizes())
    return _save_talking(folder, BlenderbotSmallForConditionalGeneration(config), words)


def talking_convai2(folder: Path) -> Path:
    """Save a GPT of 2018 that was never trained, with the control tokens of Hugging Face's bot of ConvAI2."""
    words = _words(additional_special_tokens=["<bos>", "<eos>", "<speaker1>", "<speaker2>", "<pad>"])
    config = OpenAIGPTConfig(vocab_size=len(words), n_layer=2, n_head=2, n_embd=32)
    return _save_talking(folder, OpenAIGPTLMHeadModel(config), words)


def _words(**more: Any) -> Any:
    made = Tokenizer(models.WordLevel(unk_token=_UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.train_from_iterator(SENTENCES, trainers.WordLevelTrainer(special_tokens=[END, PADDING, _UNKNOWN]))
    special = {"bos_token": END, "eos_token": END, "pad_token": PADDING, "unk_token": _UNKNOWN}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=256, **special, **more)


def _save_talking(folder: Path, model: Any, words: Any) -> Path:
    if model.generation_config is not None:
        model.generation_config.suppress_tokens = [0, 1, 2]  # so that it never ends, and says known words only
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder

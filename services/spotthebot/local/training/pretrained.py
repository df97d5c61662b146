"""What a training starts from: published weights of GPT-2 and BERT, or word vectors, from folders and files."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoTokenizer, BertModel, GPT2LMHeadModel

from spotthebot.inference.models.dialogue.bi_encoder import BiEncoder
from spotthebot.inference.models.dialogue.turn_tokens import CONTROLS
from spotthebot.inference.models.progress_bars import without_progress_bars
from spotthebot.local.training.errors import StartUnusable
from spotthebot.local.training.options import ModelKind, TrainingOptions

_TYPES = {ModelKind.GPT: "gpt2", ModelKind.BERT_RANK: "bert"}
_TRAINED_LAYERS = 4
_SPACE = "Ġ"  # how a vocabulary of bytes writes the space before a word


def sized_as_its_start(model: ModelKind, options: TrainingOptions) -> TrainingOptions:
    """Return the options with the sizes of the pretrained weights or vectors; raises StartUnusable.

    Of BERT, the last four layers are trained, as in Deriu et al. (2020), appendix C.
    """
    if options.word_vectors is not None:
        if model not in {ModelKind.S2, ModelKind.DR}:
            raise StartUnusable(
                start=options.word_vectors, model=model.value, reason="only s2 and dr take word vectors"
            )
        return replace(options, embedding=len(next(_vectors(options.word_vectors, model))[1]))
    if options.pretrained is None:
        return options
    if model not in _TYPES:
        raise StartUnusable(
            start=options.pretrained, model=model.value, reason="only gpt and bert_rank start from weights"
        )
    try:
        found: Any = AutoConfig.from_pretrained(options.pretrained, local_files_only=True)
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise StartUnusable(start=options.pretrained, model=model.value, reason=reason) from error
    if found.model_type != _TYPES[model]:
        reason = f"it is of the type {found.model_type}, not {_TYPES[model]}"
        raise StartUnusable(start=options.pretrained, model=model.value, reason=reason)
    return replace(
        options,
        layers=found.num_hidden_layers,
        width=found.hidden_size,
        vocabulary=found.vocab_size,
        context_length=min(options.context_length, found.max_position_embeddings),
        trained_layers=_TRAINED_LAYERS if model is ModelKind.BERT_RANK else None,
    )


def pretrained_tokenizer(folder: str) -> Tokenizer:
    """Return the tokenizer of a folder with pretrained weights; raises StartUnusable."""
    try:
        words: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        return Tokenizer.from_str(words.backend_tokenizer.to_str())
    except (OSError, ValueError, AttributeError) as error:
        raise StartUnusable(start=folder, model="tokenizer", reason="it has no fast tokenizer") from error


def pretrained_gpt(folder: str) -> GPT2LMHeadModel:
    """Return the network of a folder with GPT-2's weights."""
    with without_progress_bars():
        found: GPT2LMHeadModel = GPT2LMHeadModel.from_pretrained(folder, local_files_only=True)
    return found


def with_controls(tokenizer: Tokenizer) -> Tokenizer:
    """Return a WordPiece tokenizer whose vocabulary begins with our control tokens; all others move up by four."""
    held = json.loads(tokenizer.to_str())
    shift = len(CONTROLS)
    moved = {token: number + shift for token, number in held["model"]["vocab"].items()}
    held["model"]["vocab"] = {control: number for number, control in enumerate(CONTROLS)} | moved
    for each in held["added_tokens"]:
        each["id"] += shift
    held |= {"post_processor": None, "truncation": None, "padding": None}
    made = Tokenizer.from_str(json.dumps(held))
    made.add_special_tokens([*CONTROLS])
    return made


def pretrained_bi_encoder(folder: str, arguments: dict[str, Any], trained_layers: int) -> BiEncoder:
    """Return a bi-encoder whose two encoders begin as the BERT of a folder; sets `positions`. Raises StartUnusable.

    The control tokens begin as BERT's padding, separator, class and mask. All but the last layers are frozen.
    """
    words: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    with without_progress_bars():
        bert: Any = BertModel.from_pretrained(folder, add_pooling_layer=False, local_files_only=True)
    weights = bert.state_dict()
    name = "embeddings.word_embeddings.weight"
    controls = [words.pad_token_id, words.sep_token_id, words.cls_token_id, words.mask_token_id]
    weights[name] = torch.cat((weights[name][controls], weights[name]))
    arguments["positions"] = bert.config.max_position_embeddings
    network = BiEncoder(**arguments)
    for encoder in (network.contexts, network.responses):
        try:
            encoder.load_state_dict(weights)
        except RuntimeError as error:
            reason = "its sizes are not those of BERT: four times the width between layers, 64 for each head"
            raise StartUnusable(start=folder, model=ModelKind.BERT_RANK.value, reason=reason) from error
        trained = {id(each) for layer in encoder.encoder.layer[-trained_layers:] for each in layer.parameters()}
        for each in encoder.parameters():
            each.requires_grad = id(each) in trained
    return network


def fill_embeddings(table: torch.nn.Embedding, tokenizer: Tokenizer, file: str) -> int:
    """Give the tokens that are whole words the vectors of the file, and return how many have one.

    Raises StartUnusable, also if no token is a word of the file.
    """
    words = {token.removeprefix(_SPACE): id_ for token, id_ in tokenizer.get_vocab().items() if token[0] == _SPACE}
    filled = 0
    with torch.no_grad():
        for word, vector in _vectors(file, ModelKind.S2):
            if (id_ := words.get(word)) is not None:
                table.weight[id_] = torch.tensor(vector)
                filled += 1
    if not filled:
        raise StartUnusable(start=file, model=ModelKind.S2.value, reason="none of its words is in the vocabulary")
    return filled


def _vectors(file: str, model: ModelKind) -> Iterator[tuple[str, list[float]]]:
    """Yield words and vectors of a text file in fastText's form: `word 0.1 -0.2 ...`, with or without a first line."""
    width = None
    try:
        with Path(file).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                word, *values = line.rstrip().split(" ")
                if number == 1 and len(values) == 1:  # the counts of words and of values
                    continue
                vector = [float(value) for value in values]
                width = width or len(vector)
                if not vector or len(vector) != width:
                    reason = f"line {number} has {len(vector)} values, not {width or 'some'}"
                    raise StartUnusable(start=file, model=model.value, reason=reason)
                yield word, vector
    except (OSError, ValueError) as error:
        raise StartUnusable(start=file, model=model.value, reason=error) from error
    if width is None:
        raise StartUnusable(start=file, model=model.value, reason="it holds no vectors")

"""The trainable models and their sizes: the paper's sizes, and tiny ones that train in seconds."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from spotthebot.local.training.errors import OptionOutOfRange

_HEAD_WIDTH = 64


class ModelKind(StrEnum):
    """The models of Deriu et al. (2020) under their abbreviations in the paper, and a language model for FED."""

    GPT = "gpt"
    BERT_RANK = "bert_rank"
    S2 = "s2"
    DR = "dr"
    KV = "kv"
    SCORER = "scorer"

    @property
    def is_bot(self) -> bool:
        return self is not ModelKind.SCORER


class Size(StrEnum):
    """The size of a model: the paper's, or a tiny one that trains in seconds. Options can change parts of it."""

    TINY = "tiny"
    PAPER = "paper"


@dataclass(frozen=True)
class TrainingOptions:
    """The options for building and training a model; lengths count tokens.

    The learning rate rises from zero over `warmup_share` of all steps, then falls to zero again; 0 keeps it constant.
    `pretrained` is a folder of weights, of which the last `trained_layers` are trained, None for all. `word_vectors` is
    a file, and `embedding` the width of its vectors. `max_steps` ends the training early. `kv` ignores `layers`; `gpt`
    and `scorer` ignore `reply_length`.
    """

    layers: int
    width: int
    vocabulary: int
    context_length: int
    reply_length: int
    epochs: int
    batch_size: int
    learning_rate: float
    dropout: float
    warmup_share: float = 0.0
    pretrained: str | None = None
    trained_layers: int | None = None
    word_vectors: str | None = None
    embedding: int | None = None
    max_steps: int | None = None
    checkpoint_every: int = 500
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        least = {"layers": 1, "width": 2, "vocabulary": 300, "context_length": 8, "reply_length": 4, "epochs": 1}
        for name, limit in {**least, "batch_size": 2, "max_steps": 1, "checkpoint_every": 1, "seed": 0}.items():
            value = getattr(self, name)
            if value is not None and value < limit:
                raise OptionOutOfRange(name=name, allowed=f"at least {limit}", value=value)
        if not 0 < self.learning_rate <= 1:
            raise OptionOutOfRange(name="learning_rate", allowed="above 0, at most 1", value=self.learning_rate)
        for name in ("dropout", "warmup_share"):
            if not 0 <= getattr(self, name) < 1:
                raise OptionOutOfRange(name=name, allowed="from 0, below 1", value=getattr(self, name))

    @property
    def heads(self) -> int:
        """The number of attention heads of a transformer.

        Each head has the width 64, or somewhat more if the model's width is not a multiple of 64.
        """
        largest = max(1, self.width // _HEAD_WIDTH)
        return next(heads for heads in range(largest, 0, -1) if self.width % heads == 0)

    def determining(self) -> dict[str, Any]:
        """Return the options that determine the weights; a resumed training must have the same values."""
        return {name: value for name, value in asdict(self).items() if name != "checkpoint_every"}


def preset(model: ModelKind, size: Size) -> TrainingOptions:
    """Return the options of a model of the pool.

    Paper sizes follow Deriu et al. (2020), appendix C, where it says something: 30 epochs; `s2` with two layers of
    width 512, `dr` with one of 128 for three epochs, both by Adam at 0.001. Batches, lengths and the other rates are
    ours. `kv` follows Zhang et al. (2018), since the paper took ParlAI's published model. `scorer` has the size of
    GPT-2 and its 1,024 positions.
    """
    return _PRESETS[size][model]


def deviations(model: ModelKind, options: TrainingOptions) -> list[str]:
    """Return in what a training differs from the paper's (Deriu et al. 2020, appendix C); empty for a scorer."""
    if model is ModelKind.SCORER:
        return []
    if model is ModelKind.KV:
        return ["the paper took ParlAI's published model"]
    found = [
        f"{name.replace('_', ' ')} {value or 'all'} (paper: {theirs or 'no limit'})"
        for name, theirs in _OF_THE_PAPER[model].items()
        if (value := getattr(options, name)) != theirs
    ]
    if model in {ModelKind.S2, ModelKind.DR}:
        return found + ["no word vectors (paper: fastText's)"] * (options.word_vectors is None)
    published = "GPT-2's, small" if model is ModelKind.GPT else "BERT's"
    return found + [f"random weights at the start (paper: {published})"] * (options.pretrained is None)


_OF_THE_PAPER: Mapping[ModelKind, Mapping[str, float | None]] = {
    ModelKind.GPT: {"layers": 12, "width": 768, "epochs": 30, "max_steps": None},
    ModelKind.BERT_RANK: {"trained_layers": 4, "epochs": 30, "max_steps": None},
    ModelKind.S2: {"layers": 2, "width": 512, "epochs": 30, "learning_rate": 1e-3, "max_steps": None},
    ModelKind.DR: {"layers": 1, "width": 128, "epochs": 3, "learning_rate": 1e-3, "max_steps": None},
}


_PRESETS = {
    Size.PAPER: {
        ModelKind.GPT: TrainingOptions(12, 768, 16_000, 256, 64, 30, 32, 2.5e-4, 0.1, 0.05),
        ModelKind.BERT_RANK: TrainingOptions(4, 512, 16_000, 128, 64, 30, 64, 2e-4, 0.1, 0.05),
        ModelKind.S2: TrainingOptions(2, 512, 8_000, 128, 64, 30, 64, 1e-3, 0.1),
        ModelKind.DR: TrainingOptions(1, 128, 8_000, 128, 64, 3, 64, 1e-3, 0.1),
        ModelKind.KV: TrainingOptions(1, 256, 8_000, 128, 64, 10, 128, 1e-3, 0.0),
        ModelKind.SCORER: TrainingOptions(12, 768, 16_000, 1024, 64, 10, 16, 2.5e-4, 0.1, 0.05),
    },
    Size.TINY: {
        ModelKind.GPT: TrainingOptions(2, 64, 800, 96, 24, 3, 8, 2e-3, 0.1, 0.1),
        ModelKind.BERT_RANK: TrainingOptions(1, 64, 800, 48, 24, 2, 16, 1e-3, 0.1, 0.1),
        ModelKind.S2: TrainingOptions(2, 64, 800, 48, 24, 3, 16, 1e-3, 0.1),
        ModelKind.DR: TrainingOptions(1, 32, 800, 48, 24, 3, 16, 1e-3, 0.1),
        ModelKind.KV: TrainingOptions(1, 64, 800, 48, 24, 3, 32, 3e-3, 0.0),
        ModelKind.SCORER: TrainingOptions(2, 64, 800, 512, 24, 10, 4, 3e-3, 0.0, 0.1),
    },
}

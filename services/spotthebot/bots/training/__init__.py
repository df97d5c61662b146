"""Trains the pool of bots of Deriu et al. (2020, "Spot The Bot", section 4 and appendix) on any corpus of dialogues.

A training writes a directory that `inference.models.dialogue.load` reads. Torch is imported when a training begins,
not before.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from pathlib import Path

from spotthebot.bots.training.corpus import Corpus, read_corpus, with_validation
from spotthebot.bots.training.errors import TorchIsMissing
from spotthebot.bots.training.model_card import ModelCard
from spotthebot.bots.training.options import ModelKind, Size, TrainingOptions, preset
from spotthebot.bots.training.progress import Progress

__all__ = [
    "Corpus",
    "ModelCard",
    "ModelKind",
    "Progress",
    "Size",
    "TrainingOptions",
    "preset",
    "read_corpus",
    "train",
    "with_validation",
]


def train(
    model: ModelKind,
    dialogues: Mapping[str, Sequence[Sequence[str]]],
    out: Path,
    options: TrainingOptions,
    *,
    corpus: str,
    today: date,
    on_progress: Callable[[Progress], None] = lambda _: None,
    resume: bool = False,
) -> ModelCard:
    """Train a model on `dialogues["train"]` and write its directory; `dialogues["validation"]` picks the best epoch.

    A checkpoint is written every `checkpoint_every` steps, after each epoch, and on SIGINT or SIGTERM, which raise
    TrainingStopped. With `resume`, the same call continues from the checkpoint; on a CPU with the same number of
    threads it ends with the same weights as an uninterrupted training. Without a checkpoint it starts, and a finished
    training returns its card. Other data or options are refused. `corpus` and `today` are for the model card.
    """
    if not all(find_spec(name) for name in ("torch", "transformers", "tokenizers", "safetensors")):
        raise TorchIsMissing
    from spotthebot.bots.training.run import TrainingRun  # noqa: PLC0415 - torch is optional, and slow to import

    return TrainingRun(model, dialogues, out, options).run(
        corpus=corpus, today=today, on_progress=on_progress, resume=resume
    )

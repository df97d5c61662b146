"""Trains one model: the call that the command line makes."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from pathlib import Path

from spotthebot.local.training.errors import TorchIsMissing
from spotthebot.local.training.model_card import ModelCard
from spotthebot.local.training.options import ModelKind, TrainingOptions
from spotthebot.local.training.progress import Progress


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
    threads it ends with the same weights as an uninterrupted training. With `resume` but no checkpoint, the training
    starts from the beginning. A finished training returns its card. `resume` with other data or options is refused.
    `corpus` and `today` are for the model card.
    """
    if not all(find_spec(name) for name in ("torch", "transformers", "tokenizers", "safetensors")):
        raise TorchIsMissing
    from spotthebot.local.training.run import TrainingRun  # noqa: PLC0415 - torch is optional, and slow to import

    return TrainingRun(model, dialogues, out, options).run(
        corpus=corpus, today=today, on_progress=on_progress, resume=resume
    )

"""One training from dialogues to a model directory: start or resume, train, write the files and the model card."""

import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from spotthebot.local.training.causal_task import CausalTask, ScorerTask
from spotthebot.local.training.corpus import TRAIN, VALIDATION, fingerprint
from spotthebot.local.training.errors import (
    CheckpointDamaged,
    CorpusEmpty,
    OptionOutOfRange,
    OtherTrainingStarted,
    OutputExists,
)
from spotthebot.local.training.examples import Dialogues
from spotthebot.local.training.gru_task import GruTask
from spotthebot.local.training.model_card import TRAINING, ModelCard
from spotthebot.local.training.options import ModelKind, TrainingOptions
from spotthebot.local.training.pretrained import sized_as_its_start
from spotthebot.local.training.progress import Progress
from spotthebot.local.training.ranking_tasks import BiEncoderTask, KeyValueTask
from spotthebot.local.training.task import Task
from spotthebot.local.training.training_loop import Checkpoints, TrainingLoop

_TASKS: dict[ModelKind, Callable[[Dialogues, Dialogues, TrainingOptions, str | None], Task]] = {
    ModelKind.GPT: CausalTask,
    ModelKind.BERT_RANK: BiEncoderTask,
    ModelKind.S2: GruTask,
    ModelKind.DR: GruTask,
    ModelKind.KV: KeyValueTask,
    ModelKind.SCORER: ScorerTask,
}
_MARKERS = ("config.json", "spotthebot.json", TRAINING)


class TrainingRun:
    """A training: its model, data, output folder and options, which a resumed training must share."""

    def __init__(
        self, model: ModelKind, dialogues: Mapping[str, Sequence[Sequence[str]]], out: Path, options: TrainingOptions
    ) -> None:
        self._model = model
        self._train, self._validation = dialogues.get(TRAIN, ()), dialogues.get(VALIDATION, ())
        self._out = out
        self._options = options
        self._checkpoints = Checkpoints(out)
        self._data = fingerprint(dialogues)

    def run(self, *, corpus: str, today: date, on_progress: Callable[[Progress], None], resume: bool) -> ModelCard:
        """Train to the end; see `training.train`."""
        if not self._train:
            raise CorpusEmpty(path=corpus)
        self._check_device()
        self._options = sized_as_its_start(self._model, self._options)
        state = self._saved_state(resume=resume)
        if isinstance(state, ModelCard):
            return state
        self._out.mkdir(parents=True, exist_ok=True)
        with torch.random.fork_rng(devices=self._forked()):
            torch.manual_seed(self._options.seed)
            vocabulary = state["vocabulary"] if state else None
            task = _TASKS[self._model](self._train, self._validation, self._options, vocabulary)
            loop = TrainingLoop(task, self._options, self._checkpoints, self._identity())
            if state:
                loop.resume(state)
            loop.run(on_progress)
        card = self._card(task, loop, corpus, today)
        self._publish(task, card)
        return card

    def _saved_state(self, *, resume: bool) -> dict[str, Any] | ModelCard | None:
        """Return the checkpoint to resume, the card of a finished training, or None for an empty folder."""
        if not self._out.exists() or (self._out.is_dir() and not any(self._out.iterdir())):
            return None
        if not resume or not self._out.is_dir():
            raise OutputExists(out=self._out)
        if (self._out / TRAINING).is_file():
            return self._finished()
        state = self._checkpoints.find()
        if state is None:
            raise OutputExists(out=self._out)
        self._compare(state["identity"])
        return state

    def _finished(self) -> ModelCard:
        try:
            card = ModelCard.read(self._out)
        except (OSError, ValueError, TypeError) as error:
            raise CheckpointDamaged(path=self._out / TRAINING, reason=error) from error
        self._compare({"model": card.model, "data": card.data_sha256, "options": card.options})
        return card

    def _compare(self, other: Mapping[str, Any]) -> None:
        mine = self._identity()
        if other["model"] != mine["model"]:
            raise OtherTrainingStarted(out=self._out, what=f"options (the model {other['model']})")
        if other["data"] != mine["data"]:
            raise OtherTrainingStarted(out=self._out, what="data")
        changed = [name for name, value in mine["options"].items() if other["options"].get(name) != value]
        if changed:
            were = ", ".join(f"{name} {other['options'].get(name)}" for name in changed)
            raise OtherTrainingStarted(out=self._out, what=f"options ({were})")

    def _identity(self) -> dict[str, Any]:
        return {"model": self._model.value, "data": self._data, "options": self._options.determining()}

    def _check_device(self) -> None:
        try:
            torch.empty(1, device=self._options.device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:  # torch raises each of them
            allowed = "a device of this machine, as cpu or cuda"
            raise OptionOutOfRange(name="device", allowed=allowed, value=self._options.device) from error

    def _forked(self) -> list[torch.device]:
        device = torch.device(self._options.device)
        return [device] if device.type == "cuda" else []

    def _card(self, task: Task, loop: TrainingLoop, corpus: str, today: date) -> ModelCard:
        return ModelCard(
            model=self._model.value,
            corpus=corpus,
            dialogues={TRAIN: len(self._train), VALIDATION: len(self._validation)},
            turns={TRAIN: sum(map(len, self._train)), VALIDATION: sum(map(len, self._validation))},
            data_sha256=self._data,
            options=self._options.determining(),
            parameters=sum(each.numel() for each in task.network.parameters()),
            steps=loop.record.step,
            epochs=tuple(loop.record.epochs),
            kept_epoch=loop.record.kept_epoch,
            date=today.isoformat(),
            versions={
                "Python": platform.python_version(),
                **{name: version(name) for name in ("torch", "transformers", "tokenizers")},
            },
        )

    def _publish(self, task: Task, card: ModelCard) -> None:
        """Write all files to a temporary folder, then move them.

        Files by which a directory is recognised as a model are moved last.
        """
        with TemporaryDirectory(prefix="unfinished-", dir=self._out) as made:
            folder = Path(made)
            with torch.no_grad():
                task.export(folder)
            card.write(folder)
            for file in sorted(folder.iterdir(), key=lambda each: (each.name in _MARKERS, each.name)):
                file.replace(self._out / file.name)
        self._checkpoints.remove()

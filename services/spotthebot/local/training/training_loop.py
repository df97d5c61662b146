"""The training loop: epochs of batches, validation, and checkpoints, which survive a power failure intact."""

import math
import os
import pickle
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from spotthebot.local.training.errors import CheckpointDamaged, CorpusTooSmall, TrainingDiverged, TrainingStopped
from spotthebot.local.training.options import TrainingOptions
from spotthebot.local.training.progress import Progress
from spotthebot.local.training.task import Task

_LARGEST_GRADIENT = 1.0
_STEPS_BETWEEN_REPORTS_OF_A_GPU = 20  # reading a loss makes the processor wait for the GPU


class Checkpoints:
    """The folder `checkpoint` of a training: its last state, and the weights of its best epoch."""

    def __init__(self, out: Path) -> None:
        self._folder = out / "checkpoint"
        self._state = self._folder / "state.pt"
        self._best = self._folder / "best.pt"

    def save(self, state: dict[str, Any]) -> None:
        _write(self._state, state)

    def save_best(self, weights: dict[str, Any]) -> None:
        _write(self._best, weights)

    def find(self) -> dict[str, Any] | None:
        """Return the last saved state, None if no state was saved; raises CheckpointDamaged."""
        return _read(self._state) if self._state.exists() else None

    def find_best(self) -> dict[str, Any] | None:
        """Return the weights of the best epoch, None before the first validation; raises CheckpointDamaged."""
        return _read(self._best) if self._best.exists() else None

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


@dataclass
class Record:
    """A training so far: steps done, losses of this epoch, figures of the finished epochs, and the best epoch."""

    step: int = 0
    loss_sum: float = 0.0
    loss_count: int = 0
    epochs: list[dict[str, float]] = field(default_factory=list)
    best_loss: float | None = None
    kept_epoch: int = 0


class TrainingLoop:
    """One network, its optimiser and its schedule of steps.

    The order of examples depends only on seed and epoch. Every checkpoint saves the state of the random generator for
    dropout. The last examples of an epoch are left out if they do not fill a batch.
    """

    def __init__(
        self, task: Task, options: TrainingOptions, checkpoints: Checkpoints, identity: dict[str, Any]
    ) -> None:
        self.record = Record()
        self._task = task
        self._options = options
        self._checkpoints = checkpoints
        self._identity = identity
        self._device = torch.device(options.device)
        self._batch = min(options.batch_size, task.examples)
        if self._batch < 2:
            raise CorpusTooSmall(least=2, found=task.examples)
        self._in_epoch = task.examples // self._batch
        planned = self._in_epoch * options.epochs
        self._steps = min(planned, options.max_steps or planned)
        task.network.to(self._device)
        kind = torch.optim.AdamW if options.warmup_share else torch.optim.Adam
        self._optimiser = kind(task.network.parameters(), lr=options.learning_rate)
        self._losses = torch.zeros((), dtype=torch.float64, device=self._device)
        self._order: tuple[int, list[int]] = (-1, [])

    def resume(self, state: dict[str, Any]) -> None:
        """Restore the state of a checkpoint that `run` saved."""
        self._task.network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self.record = Record(**state["record"])
        self._losses.fill_(self.record.loss_sum)
        torch.set_rng_state(state["chance"])
        if self._device.type == "cuda" and state["cuda_chance"] is not None:
            torch.cuda.set_rng_state(state["cuda_chance"], self._device)

    def run(self, on_progress: Callable[[Progress], None]) -> None:
        """Train to the end, and give the network the best epoch's weights; raises TrainingStopped, TrainingDiverged."""
        report_every = 1 if self._device.type == "cpu" else _STEPS_BETWEEN_REPORTS_OF_A_GPU
        started, first = time.monotonic(), self.record.step
        with stop_requests() as should_stop:
            for step in range(first, self._steps):
                self._learn(step)
                done = step + 1
                ended = done % self._in_epoch == 0 or done == self._steps
                if ended:
                    self._end_epoch(step // self._in_epoch + 1)
                stops = should_stop() and done < self._steps
                if ended or stops or done % self._options.checkpoint_every == 0:
                    self._save()
                if ended or done % report_every == 0:
                    on_progress(self._progress(ended=ended, pace=(time.monotonic() - started) / (done - first)))
                if stops:
                    raise TrainingStopped(step=done, of=self._steps)
        best = self._checkpoints.find_best()
        if best is not None:
            self._task.network.load_state_dict(best)
        self._task.network.eval()

    def _learn(self, step: int) -> None:
        for group in self._optimiser.param_groups:
            group["lr"] = self._options.learning_rate * self._rate(step)
        self._task.network.train()
        with self._precision():
            loss = self._task.loss(self._indices(step))
        self._optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self._task.network.parameters(), _LARGEST_GRADIENT)
        self._optimiser.step()
        self._losses += loss.detach()
        self.record.loss_count += 1
        self.record.step = step + 1

    def _indices(self, step: int) -> list[int]:
        epoch, batch = divmod(step, self._in_epoch)
        if self._order[0] != epoch:
            chance = torch.Generator().manual_seed((self._options.seed * 1_000_003 + epoch) % 2**63)
            self._order = epoch, torch.randperm(self._task.examples, generator=chance).tolist()
        return self._order[1][batch * self._batch : (batch + 1) * self._batch]

    def _rate(self, step: int) -> float:
        rising = math.ceil(self._options.warmup_share * self._steps)
        if rising == 0:
            return 1.0
        return (step + 1) / rising if step < rising else (self._steps - step) / (self._steps - rising + 1)

    def _end_epoch(self, epoch: int) -> None:
        figures = {"epoch": epoch, "loss": self._mean_loss()}
        self._task.network.eval()
        with torch.no_grad(), self._precision():
            measured = dict(self._task.evaluate())
        if measured:
            figures |= {"validation_loss": measured.pop("loss"), **measured}
        self.record.epochs.append(figures)
        loss = figures.get("validation_loss")
        if loss is None:
            self.record.kept_epoch = epoch
        elif self.record.best_loss is None or loss < self.record.best_loss:
            self.record.best_loss, self.record.kept_epoch = loss, epoch
            self._checkpoints.save_best(self._task.network.state_dict())
        self._losses.zero_()
        self.record.loss_count = 0

    def _mean_loss(self) -> float:
        mean = float(self._losses) / self.record.loss_count
        if not math.isfinite(mean):
            raise TrainingDiverged(step=self.record.step)
        return mean

    def _progress(self, *, ended: bool, pace: float) -> Progress:
        last = self.record.epochs[-1] if self.record.epochs else {}
        return Progress(
            step=self.record.step,
            steps=self._steps,
            epoch=(self.record.step - 1) // self._in_epoch + 1,
            epochs=math.ceil(self._steps / self._in_epoch),
            loss=last["loss"] if ended else self._mean_loss(),
            validation_loss=last.get("validation_loss"),
            examples_per_second=self._batch / pace,
            seconds_left=(self._steps - self.record.step) * pace,
            epoch_ended=ended,
        )

    def _save(self) -> None:
        self.record.loss_sum = float(self._losses)
        on_gpu = self._device.type == "cuda"
        self._checkpoints.save(
            {
                "identity": self._identity,
                "vocabulary": self._task.vocabulary,
                "network": self._task.network.state_dict(),
                "optimiser": self._optimiser.state_dict(),
                "record": asdict(self.record),
                "chance": torch.get_rng_state(),
                "cuda_chance": torch.cuda.get_rng_state(self._device) if on_gpu else None,
            }
        )

    def _precision(self) -> torch.autocast:
        fits = self._device.type == "cuda" and self._task.autocasts
        return torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=fits)


def _write(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        torch.save(value, file)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise CheckpointDamaged(path=path, reason=first) from error
    return state


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether SIGINT or SIGTERM has arrived; a second signal has its usual effect.

    Outside the main thread no handler can be set, and the function returns False.
    """
    is_requested = False
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(number: int, _frame: FrameType | None) -> None:
        nonlocal is_requested
        is_requested = True
        signal.signal(number, before[signal.Signals(number)])

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, note)
    try:
        yield lambda: is_requested
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

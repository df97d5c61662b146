"""Keeps a training's state in files that survive a power failure intact."""

import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import torch

from spotthebot.local.training.errors import CheckpointDamaged


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

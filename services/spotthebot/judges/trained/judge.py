"""A trained judge: reads the folder of a training, and answers about the texts for which it has a model."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spotthebot.contracts.turns import Turn
from spotthebot.inference.model_files import files_in, files_sha256_of
from spotthebot.judges.trained.card import JudgeCard
from spotthebot.judges.trained.declaration import DECLARATION
from spotthebot.judges.trained.errors import JudgeUnreadable
from spotthebot.judges.trained.logistic import TextModel
from spotthebot.judges.trained.options import NetworkOptions
from spotthebot.judges.trained.scores import NETWORK
from spotthebot.judges.trained.text_features import Shown
from spotthebot.judges.trained.units import key_of, side_of


class Model(Protocol):
    """A model that answers P(human)."""

    def probabilities(self, shown: Sequence[Shown]) -> NDArray[np.float64]:
        """Return P(human) of each segment (segments,)."""


class TrainedJudge:
    """A judge in a folder. `sha256` is a hash of all its files, without the declaration, which states the hash."""

    def __init__(self, folder: Path, *, device: str = "cpu") -> None:
        """Read the card. Raises JudgeUnreadable, and TrainedOnIt if it would judge what it has seen."""
        self.card = JudgeCard.read(folder)
        self.sha256 = trained_files_sha256(folder)
        self._folder = folder
        self._device = device
        self._models: dict[int, Model] = {}

    def probabilities(self, shown: Sequence[Shown]) -> list[float | None]:
        """Return P(human) of each side of a segment; None where every model has seen it, or may have seen it.

        The answer depends on the words shown and on the side alone. Raises JudgeUnreadable and ModelUnusable.
        """
        answers: list[float | None] = [None] * len(shown)
        rows: defaultdict[int, list[int]] = defaultdict(list)
        for row, (turns, side) in enumerate(shown):
            found = self.card.units.get(key_of(turns, side))
            if found is not None:
                rows[found[0]].append(row)
        for fold, places in rows.items():
            found_by_model = self._model(fold).probabilities([shown[row] for row in places])
            for row, probability in zip(places, found_by_model.tolist(), strict=True):
                answers[row] = probability
        return answers

    def of_side(self, turns: Sequence[Turn], side: str) -> float | None:
        """Return P(human) of a side of a segment; None without a model that has not seen it."""
        return self.probabilities([(turns, side_of(side))])[0]

    def _model(self, fold: int) -> Model:
        if fold not in self._models:
            self._models[fold] = self._read(self._folder / self.card.folds[fold].folder)
        return self._models[fold]

    def _read(self, folder: Path) -> Model:
        if self.card.answers_by == NETWORK:
            from spotthebot.judges.trained.network import Network  # noqa: PLC0415 - torch is optional, and slow

            known = {name: value for name, value in self.card.options.items() if name in NetworkOptions.__annotations__}
            return Network.load(folder, NetworkOptions(**{**known, "device": self._device}))
        try:
            return TextModel.read(folder)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise JudgeUnreadable(folder=folder, reason=str(error) or type(error).__name__) from error


def trained_files_sha256(folder: Path) -> str:
    """Return the hash of a trained judge's files, without its declaration."""
    return files_sha256_of([each for each in files_in(folder) if each.name != DECLARATION])

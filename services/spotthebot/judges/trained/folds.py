"""Trains one model for each speaker, on labels of conversations in which the speaker takes no part."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spotthebot.judges.trained.logistic import TextModel
from spotthebot.judges.trained.options import NetworkOptions
from spotthebot.judges.trained.text_features import Shown
from spotthebot.judges.trained.units import Unit

if TYPE_CHECKING:
    from spotthebot.judges.trained.network import Network


@dataclass(frozen=True, eq=False)
class Fold:
    """The models that may judge the sides of `speaker`, and the conversations that they were trained on.

    `share` is the share of "human" among their labels: the answer of a judge that reads nothing.
    """

    speaker: str
    conversations: frozenset[str]
    labels: int
    share: float
    text: TextModel
    network: "Network | None"


def train_folds(
    units: Sequence[Unit],
    model: Path | None,
    options: NetworkOptions,
    on_fold: Callable[[str], None] = lambda _: None,
) -> Iterator[Fold]:
    """Yield the fold of each speaker, in the order of their names.

    A speaker has no fold if the other conversations have labels of one kind only, or none. A fold also leaves out
    conversations with a text that one of the speaker's conversations repeats. `model` is a folder of transformers.
    """
    for speaker in sorted({unit.speaker for unit in units}):
        on_fold(speaker)
        seen_by = {unit.conversation for unit in units if speaker in unit.speakers}
        texts = {unit.key for unit in units if unit.conversation in seen_by}
        repeats = seen_by | {unit.conversation for unit in units if unit.key in texts}
        kept = [unit for unit in units if unit.labels and unit.conversation not in repeats]
        human, n = counts_of(kept)
        if not 0 < human.sum() < n.sum():
            continue
        shown = shown_of(kept)
        yield Fold(
            speaker=speaker,
            conversations=frozenset(unit.conversation for unit in kept),
            labels=int(n.sum()),
            share=float(human.sum() / n.sum()),
            text=TextModel.train(shown, human, n),
            network=None if model is None else _network(model, options, shown, human, n),
        )


def counts_of(units: Sequence[Unit]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many labels of each unit are "human", and how many it has (units,)."""
    human = [sum(label.human for label in unit.labels) for unit in units]
    return np.array(human, dtype=np.float64), np.array([len(unit.labels) for unit in units], dtype=np.float64)


def shown_of(units: Sequence[Unit]) -> list[Shown]:
    """Return what a model sees of each unit."""
    return [(unit.turns, unit.side) for unit in units]


def _network(
    model: Path, options: NetworkOptions, shown: Sequence[Shown], human: NDArray[np.float64], n: NDArray[np.float64]
) -> "Network":
    from spotthebot.judges.trained.network import Network  # noqa: PLC0415 - torch is optional, and slow to import

    network = Network.load(model, options)
    network.train(shown, human, n)
    return network

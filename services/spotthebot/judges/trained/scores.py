"""The scores of a trained judge on labels of speakers that its models have not seen.

Each label counts once. The gain of one judge over another is the mean difference of their losses, with an interval for
other conversations and annotators.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spotthebot.analytics.stats.judge_quality.clustered_means import ClusteredMean, clustered_means
from spotthebot.judges.trained.folds import Fold, shown_of
from spotthebot.judges.trained.units import Unit
from spotthebot.statistics.clustered_variance import Observations

CONSTANT: Final = "constant"
TEXT_FEATURES: Final = "text_features"
NETWORK: Final = "network"
LOG_LOSS: Final = "log_loss"
BRIER: Final = "brier"
_LEAST: Final = 1e-6
"""A probability closer to 0 or 1 has the log loss of this one."""


@dataclass(frozen=True)
class Gain:
    """How much lower the mean loss of `judge` is than that of `over`; the bounds are None with a `reason`."""

    judge: str
    over: str
    loss: str
    estimate: float
    low: float | None
    high: float | None
    reason: str | None

    @property
    def is_certain(self) -> bool:
        """Return whether `judge` is better for other conversations and annotators, too, with a confidence of 95 %."""
        return self.low is not None and self.low > 0


@dataclass(frozen=True)
class Scores:
    """The mean loss of each judge, by judge and loss, over `labels` labels of units with a model; and the gains."""

    labels: int
    losses: Mapping[str, Mapping[str, float]]
    gains: tuple[Gain, ...]

    @property
    def best(self) -> str:
        """Return the judge that answers: the network only if it certainly beats text features by their log loss."""
        beats = any(each.is_certain for each in self.gains if each.judge == NETWORK and each.loss == LOG_LOSS)
        return NETWORK if beats else TEXT_FEATURES


def score(units: Sequence[Unit], folds: Mapping[str, Fold]) -> Scores:
    """Score the models of each speaker on all labels of this speaker."""
    kept = [unit for unit in units if unit.labels and unit.speaker in folds]
    of_unit: dict[str, NDArray[np.float64]] = {CONSTANT: np.empty(len(kept)), TEXT_FEATURES: np.empty(len(kept))}
    if any(fold.network is not None for fold in folds.values()):
        of_unit[NETWORK] = np.empty(len(kept))
    speakers = np.array([unit.speaker for unit in kept])
    for speaker, fold in folds.items():
        rows = np.flatnonzero(speakers == speaker)
        shown = shown_of([kept[row] for row in rows])
        of_unit[CONSTANT][rows] = fold.share
        if len(rows):
            of_unit[TEXT_FEATURES][rows] = fold.text.probabilities(shown)
        if fold.network is not None and len(rows):
            of_unit[NETWORK][rows] = fold.network.probabilities(shown)
    row = np.repeat(np.arange(len(kept)), [len(unit.labels) for unit in kept])
    human = np.array([label.human for unit in kept for label in unit.labels], dtype=np.float64)
    who = Observations(
        _codes([unit.conversation for unit in kept])[row],
        _codes([label.annotator for unit in kept for label in unit.labels]),
    )
    losses = {judge: _losses(of_unit[judge][row], human) for judge in of_unit}
    pairs = [(TEXT_FEATURES, CONSTANT)] + [(NETWORK, TEXT_FEATURES)] * (NETWORK in of_unit)
    return Scores(
        labels=len(human),
        losses={judge: {loss: float(each.mean()) for loss, each in found.items()} for judge, found in losses.items()},
        gains=tuple(
            _gain(judge, over, loss, who, losses[over][loss] - losses[judge][loss])
            for judge, over in pairs
            for loss in (LOG_LOSS, BRIER)
        ),
    )


def _losses(probability: NDArray[np.float64], human: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    limited = np.clip(probability, _LEAST, 1 - _LEAST)
    return {LOG_LOSS: -np.log(np.where(human > 0, limited, 1 - limited)), BRIER: (probability - human) ** 2}


def _gain(judge: str, over: str, loss: str, who: Observations, difference: NDArray[np.float64]) -> Gain:
    found: ClusteredMean = clustered_means(who, np.zeros(len(difference), dtype=np.int64), difference, 1)[0]
    return Gain(judge, over, loss, found.estimate or 0.0, found.low, found.high, found.reason)


def _codes(names: Sequence[str]) -> NDArray[np.int64]:
    return np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.int64)

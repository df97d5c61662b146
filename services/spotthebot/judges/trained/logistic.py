"""Logistic regression on text features: P(human), with a penalty on the squares of the weights."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from spotthebot.judges.trained.text_features import Shown, TextFeatures

PENALTY: Final = 1.0
"""Half the sum of squared weights is added to the sum of the losses of all labels, this many times."""
_FILE: Final = "text_features.json"


@dataclass(frozen=True, eq=False)
class TextModel:
    """A logistic regression on text features; `weights` (features,) and an intercept."""

    features: TextFeatures
    weights: NDArray[np.float64]
    intercept: float

    @classmethod
    def train(cls, shown: Sequence[Shown], human: NDArray[np.float64], n: NDArray[np.float64]) -> "TextModel":
        """Fit to segments with `n` labels each, of which `human` are "human". Both kinds of labels must occur.

        The features are learnt from these segments alone. The fit has no random part.
        """
        features = TextFeatures.learn(shown)
        x = features.matrix(shown)

        def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights, intercept = parameters[:-1], parameters[-1]
            score = x @ weights + intercept
            residual = n * scipy.special.expit(score) - human
            value = float(np.sum(n * np.logaddexp(0, score) - human * score)) + PENALTY * float(weights @ weights) / 2
            return value, np.append(x.T @ residual + PENALTY * weights, residual.sum())

        start = np.zeros(features.width + 1)
        start[-1] = scipy.special.logit(human.sum() / n.sum())
        found = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
        return cls(features, found.x[:-1], float(found.x[-1]))

    def probabilities(self, shown: Sequence[Shown]) -> NDArray[np.float64]:
        """Return P(human) of each segment (segments,)."""
        found: NDArray[np.float64] = scipy.special.expit(self.features.matrix(shown) @ self.weights + self.intercept)
        return found

    def write(self, folder: Path) -> None:
        value = {
            "words": list(self.features.words),
            "rarity": self.features.rarity.tolist(),
            "mean": self.features.mean.tolist(),
            "spread": self.features.spread.tolist(),
            "weights": self.weights.tolist(),
            "intercept": self.intercept,
        }
        (folder / _FILE).write_text(json.dumps(value), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "TextModel":
        """Read a model that `write` wrote; raises OSError, ValueError and KeyError."""
        value = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        features = TextFeatures(
            words={word: at for at, word in enumerate(value["words"])},
            rarity=np.array(value["rarity"], dtype=np.float64),
            mean=np.array(value["mean"], dtype=np.float64),
            spread=np.array(value["spread"], dtype=np.float64),
        )
        return cls(features, np.array(value["weights"], dtype=np.float64), float(value["intercept"]))

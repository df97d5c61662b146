"""Mean scores and ranks of bots, with normal and with skewed scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.fed.coverage.cells import Held, alike
from spotthebot.fed.stats.bot_scores import score_bots

_MEANS: Final = np.array([0.0, 0.1, 0.2, 0.4, 0.8])
"""True scores of five bots."""
_TURNS: Final = 3
MEAN: Final = "a bot's mean score"
RANK: Final = "a bot's ranks"


@dataclass(frozen=True)
class Bots:
    """Five bots of known means; the logarithms of skewed scores have a standard deviation of 0.7."""

    dialogues: int
    is_skewed: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return str(self.dialogues), "skewed" if self.is_skewed else "normal"

    def truth(self) -> tuple[float, ...]:
        return tuple(_MEANS)

    def intervals(self, chance: np.random.Generator, truth: tuple[float, ...]) -> Iterator[Held]:
        drawn = alike(chance, (len(_MEANS) * self.dialogues, _TURNS))
        scores = np.exp(0.7 * drawn) - np.exp(0.7**2 / 2) if self.is_skewed else drawn
        of = np.repeat(np.arange(len(_MEANS)), self.dialogues * _TURNS)
        dialogue = np.repeat(np.arange(len(_MEANS) * self.dialogues), _TURNS)
        found = score_bots(scores.ravel() + _MEANS[of], [str(at) for at in of], dialogue, n_resamples=1000)
        for bot in found.bots:
            yield MEAN, bot.low, bot.high, truth[int(bot.bot)]
            yield RANK, bot.rank_low, bot.rank_high, len(_MEANS) - int(bot.bot)


NAMES: Final = ("Dialogues of each bot", "Scores")
KINDS: Final = (MEAN, RANK)
CELLS: Final = tuple(Bots(n, is_skewed) for n in (5, 8, 15, 30, 100) for is_skewed in (False, True))

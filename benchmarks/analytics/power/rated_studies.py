"""Studies of ratings in which equal bots are hard to tell from others: uneven work, tastes, panels, items and means."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from spotthebot.analytics import stats
from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from tests.factories.clustered_campaigns import Setting

_LENIENCY: Final = 0.5
_DIALOGUE: Final = 0.4
_BOUNDS: Final = np.array([1.5, 2.5, 3.5, 4.5])


@dataclass(frozen=True)
class RatedStudy:
    """A study of `k` bots with `items` rated dialogues each, or as many as `items_of` has for each bot.

    `each` annotators rate a dialogue. `tastes` are the standard deviations of annotators' tastes by bot, where noise
    has 1; `panels` the annotators of each bot. Work is Dirichlet's with `dirichlet`, or the first annotator does the
    share `dominant`. The first `careless` annotators answer at random. `strengths` are 0 unless given.
    """

    k: int
    items: int
    annotators: int = 6
    each: int = 2
    items_of: tuple[int, ...] | None = None
    taste: float = 0.25
    tastes: tuple[float, ...] | None = None
    panels: tuple[tuple[int, ...], ...] | None = None
    dirichlet: float | None = None
    dominant: float | None = None
    careless: int = 0
    strengths: tuple[float, ...] | None = None
    middle: float = 3.0
    dialogue: float = _DIALOGUE

    @property
    def strength(self) -> FloatArray:
        """The strength of each bot (k,)."""
        return np.zeros(self.k) if self.strengths is None else np.array(self.strengths)

    def equals(self) -> BoolArray:
        """Return which pairs of bots are equal, in the order of `triu_indices`."""
        first, second = np.triu_indices(self.k, 1)
        alike: BoolArray = self.strength[first] == self.strength[second]
        return alike


_HALVES: Final = (0.9, 0.9, 0.9, -0.9, -0.9, -0.9)
BALANCED: Final[Mapping[Setting, float]] = MappingProxyType(
    {
        Setting(10, 45, 6, 0.18, taste=True): 0.35,
        Setting(10, 15, 6, 0.18, taste=True): 0.4,
        Setting(4, 45, 6, 0.18, taste=True): 0.35,
        Setting(4, 15, 6, 0.18, taste=True): 0.4,
        Setting(2, 15, 6, 0.18, taste=True): 0.35,
        Setting(10, 45, 6, 0.18, taste=False): 0.2,
        Setting(4, 15, 6, 0.0, taste=False): 0.3,
        Setting(6, 10, 12, 0.18, taste=True): 0.4,
        Setting(10, 45, 12, 0.18, taste=True): 0.3,
        Setting(4, 45, 40, 0.18, taste=True): 0.15,
    }
)
"""With the strength of the best bot, which the worst lacks as much."""
HARD: Final[Mapping[str, RatedStudy]] = MappingProxyType(
    {
        "two of 6 bots are a matter of strong taste": RatedStudy(6, 75, tastes=(1, 1, 0.1, 0.1, 0.1, 0.1)),
        "the same, 12 annotators": RatedStudy(6, 75, 12, tastes=(1, 1, 0.1, 0.1, 0.1, 0.1)),
        "one of 10 bots is": RatedStudy(10, 135, tastes=(1, *[0.1] * 9)),
        "all of 10 bots are, 405 dialogues": RatedStudy(10, 405, taste=0.8),
        "work Dirichlet(2), 10 bots, 405 dialogues": RatedStudy(10, 405, dirichlet=2),
        "work Dirichlet(2), 6 bots, 12 annotators": RatedStudy(6, 50, 12, dirichlet=2),
        "one annotator does 40 % of the work": RatedStudy(6, 75, dominant=0.4),
        "two of 6 annotators answer at random": RatedStudy(4, 45, careless=2),
        "other three of 12 annotators for each bot": RatedStudy(
            4, 45, 12, panels=tuple((at, at + 1, at + 2) for at in (0, 3, 6, 9))
        ),
        "one bot has three of 12 annotators": RatedStudy(6, 75, 12, panels=((0, 1, 2), *[tuple(range(12))] * 5)),
        "one bot has four annotators of its own": RatedStudy(
            6, 75, 12, panels=((0, 1, 2, 3), *[tuple(range(4, 12))] * 5)
        ),
        "one bot has 80 dialogues, the others 10": RatedStudy(6, 10, items_of=(80, 10, 10, 10, 10, 10)),
        "4 dialogues a bot": RatedStudy(6, 4),
        "8 dialogues that differ much, rated by all": RatedStudy(10, 8, each=6, taste=0.1, dialogue=1.0),
        "means near 1.4": RatedStudy(6, 75, middle=1.4),
        "3 bots near 3, 3 near 1.5": RatedStudy(6, 75, strengths=_HALVES, middle=2.1),
        "3 annotators": RatedStudy(6, 75, 3),
        "4 annotators, 10 bots": RatedStudy(10, 75, 4),
    }
)


def draw_study(study: RatedStudy, rng: np.random.Generator) -> stats.Ratings:
    """Draw the ratings of one study, from 1 to 5."""
    bot_of = np.repeat(np.arange(study.k), study.items if study.items_of is None else study.items_of)
    annotator = _annotators(study, bot_of, rng)
    item, bot = np.repeat(np.arange(len(bot_of)), study.each), np.repeat(bot_of, study.each)
    tastes = np.full(study.k, study.taste) if study.tastes is None else np.array(study.tastes)
    latent = study.middle + study.strength[bot] + rng.normal(0, study.dialogue, len(bot_of))[item]
    latent = latent + rng.normal(0, _LENIENCY, study.annotators)[annotator]
    latent = latent + (rng.normal(size=(study.annotators, study.k)) * tastes)[annotator, bot]
    value = 1 + np.searchsorted(_BOUNDS, latent + rng.normal(size=len(bot))).astype(np.float64)
    careless = annotator < study.careless
    value[careless] = rng.integers(1, 6, size=int(np.sum(careless)))
    return stats.Ratings(tuple(f"bot {at}" for at in range(study.k)), bot, item, annotator, value, (1.0, 5.0))


def _annotators(study: RatedStudy, bot_of: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw different annotators for each dialogue, by their shares of the work."""
    work = np.full(study.annotators, 1.0)
    if study.dirichlet is not None:
        work = rng.dirichlet(np.full(study.annotators, study.dirichlet)) + 1e-4
    if study.dominant is not None:
        work[0] = study.dominant / (1 - study.dominant) * (study.annotators - 1)
    waits = rng.exponential(size=(len(bot_of), study.annotators)) / work
    if study.panels is not None:
        absent = np.ones((study.k, study.annotators), dtype=np.bool_)
        for bot, panel in enumerate(study.panels):
            absent[bot, list(panel)] = False
        waits[absent[bot_of]] = np.inf
    drawn: IntArray = waits.argsort(axis=1)[:, : study.each].ravel()
    return drawn

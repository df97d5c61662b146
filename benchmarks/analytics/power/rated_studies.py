"""Studies of ratings in which equal bots are hard to tell from others: uneven work, tastes, panels, items and means."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.rating_estimates import Ratings
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

    An annotation has one value for each turn of the bot. Their number, between the two of `turns`, is drawn for each
    dialogue. Its values share an effect with the standard deviation `annotation`. Values are ratings from 1 to 5, or,
    if a `behaviour` is labelled, 1 where the drawn number is above this one and else 0.
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
    turns: tuple[int, int] = (1, 1)
    annotation: float = 0.0
    behaviour: float | None = None

    @property
    def strength(self) -> FloatArray:
        """The strength of each bot (k,)."""
        return np.zeros(self.k) if self.strengths is None else np.array(self.strengths)

    def equals(self) -> BoolArray:
        """Return which pairs of bots are equal, in the order of `triu_indices`."""
        first, second = np.triu_indices(self.k, 1)
        alike: BoolArray = self.strength[first] == self.strength[second]
        return alike


_SOMETIMES: Final = 4.0
"""Of equal bots, about a fifth of the turns show a behaviour above this number."""
_RARELY: Final = 5.5
"""About 2 % do."""
_of_turns: Final = partial(RatedStudy, each=1, turns=(5, 15), annotation=0.3)
"""A study of values of turns, in which one annotator labels each dialogue."""
_of_behaviours: Final = partial(RatedStudy, each=1, turns=(5, 15), annotation=0.3, behaviour=_SOMETIMES)
"""A study of a behaviour that turns show."""


def _spread(k: int, best: float) -> tuple[float, ...]:
    """Return strengths of k bots at equal distances, from `best` to minus `best`."""
    return tuple(np.linspace(best, -best, k).tolist())


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
TURNS: Final[Mapping[str, RatedStudy]] = MappingProxyType(
    {
        "ratings, 4 bots, 40 dialogues, 6 annotators": _of_turns(4, 40, 6, strengths=_spread(4, 0.5)),
        "ratings, 4 bots, 100 dialogues, 12 annotators": _of_turns(4, 100, 12, strengths=_spread(4, 0.3)),
        "ratings, 10 bots, 40 dialogues, 12 annotators": _of_turns(10, 40, 12, strengths=_spread(10, 0.4)),
        "ratings, 4 bots, 100 dialogues, 40 annotators": _of_turns(4, 100, 40, strengths=_spread(4, 0.2)),
        "behaviours, 4 bots, 100 dialogues, 6 annotators": _of_turns(
            4, 100, 6, strengths=_spread(4, 0.4), behaviour=_SOMETIMES
        ),
        "behaviours, 6 bots, 50 dialogues, 12 annotators": _of_turns(
            6, 50, 12, strengths=_spread(6, 0.4), behaviour=_SOMETIMES
        ),
        "behaviours, 4 bots, 100 dialogues, 12 annotators": _of_turns(
            4, 100, 12, strengths=_spread(4, 0.3), behaviour=_SOMETIMES
        ),
        "behaviours, 10 bots, 100 dialogues, 12 annotators": _of_turns(
            10, 100, 12, strengths=_spread(10, 0.3), behaviour=_SOMETIMES
        ),
    }
)
"""Annotations with 5 to 15 values, whose bots differ."""
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
        "1 to 30 turns": _of_turns(6, 50, 12, turns=(1, 30)),
        "1 to 30 turns, behaviour": _of_behaviours(6, 50, 12, turns=(1, 30)),
        "turns, rare behaviour": _of_turns(6, 50, 12, behaviour=_RARELY),
        "turns, 4 dialogues a bot": _of_turns(6, 4, 6),
        "turns, two of 6 bots are a matter of strong taste": _of_turns(6, 75, 6, tastes=(1, 1, 0.1, 0.1, 0.1, 0.1)),
        "turns, behaviour, the same, 12 annotators": _of_behaviours(6, 75, 12, tastes=(1, 1, 0.1, 0.1, 0.1, 0.1)),
        "turns, work Dirichlet(2), 10 bots": _of_turns(10, 100, 6, dirichlet=2),
        "turns, one annotator does 40 % of the work": _of_turns(6, 75, 6, dominant=0.4),
        "turns, one bot has three of 12 annotators": _of_turns(6, 75, 12, panels=((0, 1, 2), *[tuple(range(12))] * 5)),
        "turns, other three of 12 annotators for each bot": _of_turns(
            4, 45, 12, panels=tuple((at, at + 1, at + 2) for at in (0, 3, 6, 9))
        ),
        "turns, one bot has 80 dialogues, the others 10": _of_turns(6, 10, 6, items_of=(80, 10, 10, 10, 10, 10)),
        "turns, 3 bots near 3, 3 near 1.5": _of_turns(6, 75, 6, strengths=_HALVES, middle=2.1),
        "turns, 3 annotators": _of_turns(6, 75, 3),
        "turns, 3 bots": _of_turns(3, 75, 6),
        "turns, 3 bots, two are a matter of strong taste": _of_turns(3, 75, 6, tastes=(1, 1, 0.1)),
    }
)


def draw_study(study: RatedStudy, rng: np.random.Generator) -> Ratings:
    """Draw the values of one study: ratings from 1 to 5, or labels of a behaviour."""
    bot_of = np.repeat(np.arange(study.k), study.items if study.items_of is None else study.items_of)
    annotator = _annotators(study, bot_of, rng)
    item, bot = np.repeat(np.arange(len(bot_of)), study.each), np.repeat(bot_of, study.each)
    tastes = np.full(study.k, study.taste) if study.tastes is None else np.array(study.tastes)
    latent = study.middle + study.strength[bot] + rng.normal(0, study.dialogue, len(bot_of))[item]
    latent = latent + rng.normal(0, _LENIENCY, study.annotators)[annotator]
    latent = latent + (rng.normal(size=(study.annotators, study.k)) * tastes)[annotator, bot]
    if study.turns != (1, 1):
        turns = rng.integers(study.turns[0], study.turns[1] + 1, size=len(bot_of))[item]
        latent = np.repeat(latent + rng.normal(0, study.annotation, len(bot)), turns)
        bot, item, annotator = (np.repeat(column, turns) for column in (bot, item, annotator))
    latent = latent + rng.normal(size=len(bot))
    names = tuple(f"bot {at}" for at in range(study.k))
    careless = annotator < study.careless
    if study.behaviour is not None:
        shown = (latent > study.behaviour).astype(np.float64)
        shown[careless] = rng.integers(0, 2, size=int(np.sum(careless)))
        return Ratings(names, bot, item, annotator, shown, (0.0, 1.0))
    value = 1 + np.searchsorted(_BOUNDS, latent).astype(np.float64)
    value[careless] = rng.integers(1, 6, size=int(np.sum(careless)))
    return Ratings(names, bot, item, annotator, value, (1.0, 5.0))


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

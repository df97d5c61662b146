"""Draws people's labels and a judge's probabilities of the same units, from a model whose truths can be computed.

A side is labelled "human" where the sum of the bot's strength, the effect of the conversation's side, the annotator's
leniency and taste for the bot, and noise is above 0. The judge sees the strength and the effect, with noise of its own.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from scipy.special import ndtr

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.judge_quality.columns import ScoredLabels

STRENGTHS: Final = np.array([-0.9, -0.5, -0.1, 0.3])
_SIDE, _ANNOTATIONS, _SEGMENTS = 0.5, 2, 3
_TASTE_OF_LENIENCY: Final = 4 / 7
_TRUTHS: Final = 400_000


@dataclass(frozen=True)
class Judge:
    """How much of the text a judge uses (`skill`), what it adds to every probability's normal score, and its noise."""

    skill: float = 1.0
    shift: float = 0.0
    noise: float = 0.3


GOOD, USELESS, BIASED = Judge(), Judge(skill=0.0), Judge(shift=0.4)


@dataclass(frozen=True)
class StudySetting:
    """A study: conversations of each of four bots, two labels of each of three segments, and the people's leniency.

    A `leniency` of .7 makes an intraclass correlation of about .18 within annotators, .35 one of .05.
    """

    conversations: int = 20
    annotators: int = 12
    leniency: float = 0.7
    judge: Judge = GOOD

    @property
    def spread(self) -> float:
        """The standard deviation of what other annotators would say of one unit."""
        return float(np.sqrt(1 + self.leniency**2 * (1 + _TASTE_OF_LENIENCY**2)))


@dataclass(frozen=True, eq=False)
class Drawn:
    """A study's labels (n,), and the bot of each."""

    labels: ScoredLabels
    bot: IntArray


def draw(setting: StudySetting, rng: np.random.Generator) -> Drawn:
    """Draw a study. Annotators have unequal shares of the work, and no unit twice."""
    k = len(STRENGTHS)
    conversation = np.arange(k * setting.conversations)
    bot = conversation % k
    effect = rng.normal(0, _SIDE, len(conversation))
    unit = np.arange(len(conversation) * _SEGMENTS)
    of = unit // _SEGMENTS
    probability = _probabilities(setting.judge, STRENGTHS[bot[of]] + effect[of], rng)
    work = rng.dirichlet(np.full(setting.annotators, 2.0))
    who = np.argsort(-np.log(rng.random((len(unit), setting.annotators))) / work, axis=1)[:, :_ANNOTATIONS]
    lenient = rng.normal(0, setting.leniency, setting.annotators)
    taste = rng.normal(0, setting.leniency * _TASTE_OF_LENIENCY, (setting.annotators, k))
    row, annotator = np.repeat(unit, _ANNOTATIONS), who.ravel()
    at = of[row]
    seen = STRENGTHS[bot[at]] + effect[at] + lenient[annotator] + taste[annotator, bot[at]]
    human = (seen + rng.normal(size=len(row)) > 0).astype(np.float64)
    return Drawn(ScoredLabels(row, at, annotator, human, probability[row]), bot[at])


def _probabilities(judge: Judge, text: FloatArray, rng: np.random.Generator) -> FloatArray:
    middle = float(STRENGTHS.mean())
    return ndtr(middle + judge.skill * (text - middle) + judge.shift + rng.normal(0, judge.noise, len(text)))


@dataclass(frozen=True)
class Truth:
    """What other conversations of these bots, other annotators and the same judge would give."""

    brier: float
    gain: float
    bias: float
    bias_of_bots: tuple[float, ...]
    judge_share: float
    people_share: float
    judge_pi: float
    people_pi: float


@cache
def truth_of(setting: StudySetting) -> Truth:
    """Return the truths: means over many texts, each with the exact chance that a person says "human"."""
    rng = np.random.default_rng(7)
    bot = np.arange(_TRUTHS) % len(STRENGTHS)
    text = STRENGTHS[bot] + rng.normal(0, _SIDE, _TRUTHS)
    chance, p = ndtr(text / setting.spread), _probabilities(setting.judge, text, rng)
    share, said = float(chance.mean()), p >= 0.5
    brier = float(np.mean(p**2 - 2 * p * chance + chance))
    alike = float(np.where(said, chance, 1 - chance).mean())
    both = float(np.mean(chance**2 + (1 - chance) ** 2))
    mixed = (share + float(said.mean())) / 2
    return Truth(
        brier=brier,
        gain=share * (1 - share) - brier,
        bias=float(np.mean(p - chance)),
        bias_of_bots=tuple(float(np.mean((p - chance)[bot == at])) for at in range(len(STRENGTHS))),
        judge_share=alike,
        people_share=both,
        judge_pi=_beyond(alike, mixed),
        people_pi=_beyond(both, share),
    )


def _beyond(agreeing: float, share: float) -> float:
    by_chance = share**2 + (1 - share) ** 2
    return (agreeing - by_chance) / (1 - by_chance)


def draw_probe(
    conversations: int, effect: float, rng: np.random.Generator, *, spread: float = 0.5
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Draw a probe of three units a conversation: their conversations, and probabilities before and after a change.

    The change moves the probabilities by `effect` on average, and those of one conversation alike.
    """
    conversation = np.repeat(np.arange(conversations), _SEGMENTS)
    before = rng.uniform(0.35, 0.65, len(conversation))
    shared = rng.normal(0, spread, conversations)[conversation] + rng.normal(0, spread, len(conversation))
    return conversation, before, before + effect + 0.1 * np.tanh(shared)

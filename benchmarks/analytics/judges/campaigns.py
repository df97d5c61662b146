"""Campaigns with known truth: few conversations are labelled by people who differ, all are judged.

How human a side seems to an annotator is a normal number: bot - .15 for each longer length + an effect of the side (sd
.5) + the annotator's leniency (sd .7) + the annotator's taste for the bot (sd .4) + noise (sd 1), for an intraclass
correlation of "human" within annotators of .18. Above .25 the label is human, below -.05 bot. The side with a number
that is larger by .3 is preferred; else the two are tied.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.judged.sides import JudgedSides

LENGTHS: Final = np.array([2, 3, 5])
BOTS: Final = ("A", "B", "C", "D")
DIFFERENT: Final = np.array([-0.3, -0.1, 0.1, 0.3])
ANNOTATORS: Final = (8, 12, 20, 40)
CORRELATIONS: Final = (0.0, 0.05, 0.18)
CONVERSATIONS: Final = 2400
_LABELLED, _TWICE = 160, 80
"""Conversations that people label, and how many of them two people label: 240 annotations."""
_STEP, _SIDE, _HUMAN, _BOT = 0.15, 0.5, 0.25, -0.05
TIE: Final = 0.3
_PEOPLE = {0.0: (0.0, 0.0), 0.05: (0.33, 0.19), 0.18: (0.7, 0.4)}
"""Standard deviations of leniency and taste by the intraclass correlation."""


@dataclass(frozen=True)
class Setting:
    """A cell of the grid."""

    annotators: int
    correlation: float


GRID: Final = tuple(Setting(annotators, correlation) for annotators in ANNOTATORS for correlation in CORRELATIONS)


@dataclass(frozen=True, eq=False)
class Campaign:
    """One campaign: people's labels, and the c conversations that a judge sees.

    `entity` (c, 2), `exchanges` (c,). `content` (c, 2) is how human a side is in itself. `labels` (c, 2) has a person's
    label, -1 where nobody was asked. `preferred` has for each row of the table 1 for the first side, 0 for the second,
    and .5 for a tie.
    """

    setting: Setting
    table: AnnotationTable
    entity: IntArray
    exchanges: IntArray
    content: FloatArray
    labels: IntArray
    preferred: FloatArray

    def judged(self, probability: FloatArray) -> JudgedSides:
        """Return the answers (c, 2) of a judge."""
        return JudgedSides(np.arange(len(self.entity)), self.entity, self.exchanges, probability)


def spread_of(setting: Setting) -> float:
    """Return the standard deviation of what people see of a side, given its content."""
    leniency, taste = _PEOPLE[setting.correlation]
    return float(np.sqrt(1 + leniency**2 + taste**2))


def own_spread(correlation: float) -> float:
    """Return the standard deviation of what people of one leniency see of the sides of a bot."""
    return float(np.sqrt(1 + _SIDE**2 + _PEOPLE[correlation][1] ** 2))


def draw_campaign(
    setting: Setting, rng: np.random.Generator, *, skill: FloatArray = DIFFERENT, conversations: int = CONVERSATIONS
) -> Campaign:
    """Draw a campaign; annotators do shares of the work that vary (Dirichlet with 2)."""
    pairs = np.array(np.triu_indices(len(BOTS), 1)).T
    entity = pairs[rng.permutation(conversations) % len(pairs)]
    entity = np.where(rng.random((conversations, 1)) < 0.5, entity, entity[:, ::-1])
    step = rng.integers(len(LENGTHS), size=conversations)
    content = skill[entity] - _STEP * step[:, None] + rng.normal(0, _SIDE, entity.shape)
    labelled, twice = _LABELLED * conversations // CONVERSATIONS, _TWICE * conversations // CONVERSATIONS
    conversation = np.concatenate([np.arange(labelled), np.arange(twice)])
    annotator = _assigned(setting.annotators, labelled, twice, rng)
    leniency, taste = _PEOPLE[setting.correlation]
    seen = content[conversation] + rng.normal(0, leniency, setting.annotators)[annotator][:, None]
    tastes = rng.normal(0, taste, (setting.annotators, len(BOTS)))
    seen = seen + tastes[annotator[:, None], entity[conversation]] + rng.normal(size=seen.shape)
    label = np.where(seen > _HUMAN, LabelCode.HUMAN, np.where(seen < _BOT, LabelCode.BOT, LabelCode.UNSURE))
    labels = np.full(entity.shape, -1)
    labels[:labelled] = label[:labelled]
    table = AnnotationTable(
        names=BOTS,
        conversation=conversation,
        entity=entity[conversation],
        exchanges=LENGTHS[step[conversation]],
        label=label.astype(np.int64),
        annotator=annotator,
    )
    lead = seen[:, 0] - seen[:, 1]
    preferred = (1 + np.where(np.abs(lead) > TIE, np.sign(lead), 0.0)) / 2
    return Campaign(setting, table, entity, LENGTHS[step], content, labels, preferred)


def _assigned(annotators: int, labelled: int, twice: int, rng: np.random.Generator) -> IntArray:
    """Return an annotator for each annotation; no annotator sees a conversation twice, and each sees one at least."""
    share = rng.dirichlet(np.full(annotators, 2.0))
    first = rng.choice(annotators, size=labelled, p=share)
    first[: min(annotators, labelled)] = rng.permutation(annotators)[:labelled]
    second = rng.choice(annotators, size=twice, p=share)
    alike = second == first[:twice]
    second[alike] = (second[alike] + rng.integers(1, annotators, size=int(alike.sum()))) % annotators
    return np.concatenate([first, second])


@dataclass(frozen=True, eq=False)
class Truth:
    """What holds elsewhere: fooling rates (k,), win rates of pairs (P,) and bots (k,), survival (k, times)."""

    fooling: FloatArray
    pairs: FloatArray
    means: FloatArray
    survival: FloatArray


@cache
def truth_of(correlation: float) -> Truth:
    """Return the truth of different bots: normal probabilities, and for wins a sum over a grid of leniencies."""
    leniency = _PEOPLE[correlation][0]
    step = _STEP * np.arange(len(LENGTHS))
    mean = DIFFERENT[:, None] - step
    own = own_spread(correlation)
    total = np.sqrt(own**2 + leniency**2)
    human = scipy.special.ndtr((mean - _HUMAN) / total)
    survival = scipy.special.ndtr((mean - _BOT) / total)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()
    above = scipy.special.ndtr((mean[..., None] + leniency * nodes - _HUMAN) / own)
    alive = scipy.special.ndtr((mean[..., None] + leniency * nodes - _BOT) / own)
    first, second = np.triu_indices(len(BOTS), 1)

    def wins(one: IntArray, other: IntArray) -> FloatArray:
        chance = above[one] * (1 - above[other]) + (alive[one] - above[one]) * (1 - alive[other])
        mean: FloatArray = (chance @ weights).mean(axis=1)
        return mean

    won, lost = wins(first, second), wins(second, first)
    pairs = won / (won + lost)
    rates = np.full((len(BOTS), len(BOTS)), np.nan)
    rates[first, second], rates[second, first] = pairs, 1 - pairs
    return Truth(human.mean(axis=1), pairs, np.nanmean(rates, axis=1), survival)

"""Campaigns of three bots with known truth, whose annotations arrive one after the other in three orders.

An annotator sees a side as human-like by a normal number: the bot's skill, minus .15 for each longer segment, plus
effects of the conversation's side (sd .5), of the annotator's leniency (sd .7), of the annotator's taste for the bot
(sd .4) and of noise (sd 1). The label is "human" above .25 and "bot" below -.05. Shares of the work are drawn from a
Dirichlet distribution with the parameter 2. The labels then have an intraclass correlation within annotators of .18.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray, LabelCode

K: Final = 3
PACKAGE: Final = 20
"""A package's segments. There is a look after every package of an annotator."""
_TIMES, _PEOPLE = np.array([2, 3, 5]), 2
_STEP, _SIDE, _LENIENCY, _TASTE = 0.15, 0.5, 0.7, 0.4
_HUMAN, _BOT = 0.25, -0.05


class Order(StrEnum):
    """The order in which annotations arrive: any, package after package, or annotator after annotator."""

    RANDOM = "random"
    PACKAGE = "package"
    ANNOTATOR = "annotator"


@dataclass(frozen=True)
class Setting:
    """A campaign of three bots whose skills differ by `step`, `conversations` for each pair, and so many annotators."""

    annotators: int
    conversations: int
    step: float = 0.0


def draw(setting: Setting, order: Order, seed: int) -> AnnotationTable:
    """Draw a campaign. Rows are annotations in the order of arrival. The first bot is the best."""
    rng = np.random.default_rng([36, seed])
    pairs = np.array(np.triu_indices(K, 1)).T
    n = len(pairs) * setting.conversations
    segment = rng.permutation(n * len(_TIMES))
    package = np.arange(len(segment)) // PACKAGE
    work = rng.dirichlet(np.full(setting.annotators, 2.0))
    crews = np.array(
        [rng.choice(setting.annotators, _PEOPLE, replace=False, p=work) for _ in range(int(package[-1]) + 1)]
    )
    rows, person = (each.ravel() for each in np.meshgrid(np.arange(len(segment)), np.arange(_PEOPLE), indexing="ij"))
    who = crews[package[rows], person]
    conversation, time = np.divmod(segment[rows], len(_TIMES))
    entity = np.repeat(pairs, setting.conversations, axis=0)[conversation]
    skill = setting.step * np.linspace(1, -1, K)
    seen = (
        skill[entity]
        - _STEP * time[:, None]
        + rng.normal(0, _SIDE, (n, 2))[conversation]
        + rng.normal(0, _LENIENCY, setting.annotators)[who][:, None]
        + rng.normal(0, _TASTE, (setting.annotators, K))[who[:, None], entity]
        + rng.normal(size=entity.shape)
    )
    label = np.where(seen > _HUMAN, LabelCode.HUMAN, np.where(seen < _BOT, LabelCode.BOT, LabelCode.UNSURE))
    if order is Order.RANDOM:
        arrival = rng.permutation(len(rows))
    elif order is Order.PACKAGE:
        arrival = np.lexsort((rows, person, package[rows]))
    else:
        arrival = np.lexsort((rows, package[rows], who))
    return AnnotationTable(
        names=tuple(f"bot {at}" for at in range(K)),
        conversation=conversation[arrival],
        entity=entity[arrival],
        exchanges=_TIMES[time[arrival]],
        label=label.astype(np.int64)[arrival],
        annotator=who[arrival],
    )


def first_rows(table: AnnotationTable, n: int) -> AnnotationTable:
    """Return the annotations that arrived first."""
    return table.select(np.arange(len(table)) < n)


def looks(table: AnnotationTable) -> IntArray:
    """Return after how many annotations there is a look; the last look is after all of them."""
    return np.minimum(np.arange(PACKAGE, len(table) + PACKAGE, PACKAGE), len(table))


@cache
def true_differences(step: float, conversations: int = 60_000) -> tuple[float, ...]:
    """Return the true differences of the pairs' win rates, from one huge campaign in which nobody labels twice."""
    rng = np.random.default_rng(37)
    spread = np.sqrt(_SIDE**2 + _TASTE**2 + 1)
    leads: list[float] = []
    skill: FloatArray = step * np.linspace(1, -1, K)
    for one, other in zip(*np.triu_indices(K, 1), strict=True):
        shape = (conversations, len(_TIMES), 10)
        both = rng.normal(0, _LENIENCY, shape) - _STEP * np.arange(len(_TIMES))[None, :, None]
        first, second = (skill[at] + both + rng.normal(0, spread, shape) for at in (one, other))
        score = [(each > _HUMAN).astype(int) - (each < _BOT) for each in (first, second)]
        wins, losses = np.sum(score[0] > score[1]), np.sum(score[0] < score[1])
        leads.append(float((wins - losses) / (wins + losses)))
    return tuple(leads)

"""Campaigns of which the work is shared unevenly, with known truth: few people for a pair, strong tastes, carelessness.

What is seen of a speaker is drawn as in `clustered_campaigns`, at its strongest correlation within annotators.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, LabelCode
from tests.factories.clustered_campaigns import TIMES, Setting

_ANNOTATIONS = 2
_CARELESS = 0.4
"""The chance of "bot", and of "human", of an annotator who does not look."""


@dataclass(frozen=True)
class Unbalanced:
    """A campaign of `k` bots: conversations of each pair, and who labels them.

    `per_pair` has the numbers of the pairs that differ from `otherwise`, by place in `triu_indices`. `only` names the
    annotators of a pair who label it all. `dominant` is the first annotator's share of the work; with `dirichlet` the
    shares are drawn from a Dirichlet distribution of this parameter. `tastes` (k,) are the standard deviations of what
    annotators think of a bot. The first `careless` annotators label at random. `skill` (k,) is added to the chance of
    "human" and taken from that of "bot".
    """

    k: int
    otherwise: int
    annotators: int = 12
    per_pair: Mapping[int, int] = field(default_factory=dict)
    only: Mapping[int, Sequence[int]] = field(default_factory=dict)
    dominant: float | None = None
    dirichlet: float | None = None
    tastes: Sequence[float] | None = None
    careless: int = 0
    skill: Sequence[float] | None = None


def draw_unbalanced(
    campaign: Unbalanced, bot: FloatArray, human: FloatArray, rng: np.random.Generator
) -> AnnotationTable:
    """Draw labels with chances of "bot" and "human" (times,) that `skill` shifts."""
    k, pairs = campaign.k, np.array(np.triu_indices(campaign.k, 1)).T
    pair = np.repeat(np.arange(len(pairs)), [campaign.per_pair.get(at, campaign.otherwise) for at in range(len(pairs))])
    n, per_conversation = len(pair), len(TIMES) * _ANNOTATIONS
    conversation = np.repeat(np.arange(n), per_conversation)
    time = np.tile(np.repeat(np.arange(len(TIMES)), _ANNOTATIONS), n)
    entity = pairs[pair][conversation]
    annotator = _crews(campaign, np.repeat(pair, len(TIMES)), rng).ravel()
    effects = Setting(k, 1, campaign.annotators, 0.18, taste=True).effects
    tastes = np.full(k, effects.taste) if campaign.tastes is None else np.array(campaign.tastes)
    seen = rng.normal(0, effects.annotator, campaign.annotators)[annotator][:, None]
    seen = seen + (rng.normal(size=(campaign.annotators, k)) * tastes)[annotator[:, None], entity]
    seen = seen + rng.normal(0, effects.conversation, (n, 2))[conversation] + rng.normal(size=entity.shape)
    total = np.sqrt(1 + effects.annotator**2 + tastes**2 + effects.conversation**2)
    probability = stats.norm.cdf(seen / total[entity])
    skill = np.zeros(k) if campaign.skill is None else np.array(campaign.skill)
    of_bot, of_human = bot[time][:, None] - skill[entity], human[time][:, None] + skill[entity]
    careless = annotator < campaign.careless
    probability[careless] = rng.uniform(size=(int(careless.sum()), 2))
    of_bot[careless] = of_human[careless] = _CARELESS
    label = np.where(probability <= of_bot, LabelCode.BOT, LabelCode.UNSURE)
    label = np.where(probability > 1 - of_human, LabelCode.HUMAN, label)
    return AnnotationTable(
        names=tuple(f"bot {at}" for at in range(k)),
        conversation=conversation,
        entity=entity,
        exchanges=TIMES[time],
        label=label.astype(np.int64),
        annotator=annotator,
        text=conversation,
    )


def _crews(campaign: Unbalanced, pair: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return who labels each segment (segments, 2) of a pair (segments,)."""
    work = np.full(campaign.annotators, 1 / campaign.annotators)
    if campaign.dominant is not None:
        others = campaign.annotators - 1
        work = np.r_[campaign.dominant, np.full(others, (1 - campaign.dominant) / others)]
    if campaign.dirichlet is not None:
        work = rng.dirichlet(np.full(campaign.annotators, campaign.dirichlet))
    everybody = np.arange(campaign.annotators)
    return np.array(
        [
            rng.choice(campaign.only.get(at, everybody), 2, replace=False, p=None if at in campaign.only else work)
            for at in pair.tolist()
        ]
    )

"""Campaigns with known truth whose annotations share conversations and annotators who differ.

What is seen of a speaker is a normal number: the sum of effects of the conversation's side, of the annotator's
leniency, of the annotator's taste for the speaker, and of noise. Scaled to a variance of 1 it is spotted where its
normal probability is below the chance of being spotted, so that the chances hold exactly whatever the effects are.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy import optimize, stats

from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, BoolArray, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.survival.cox import FEATURES
from spotthebot.analytics.stats.survival.curves import CurrentStatus

TIMES = np.array([2, 3, 5])
_ANNOTATIONS, _PACKAGE, _BASE = 2, 20, 0.45
_TASTES = {0.0: 0.0, 0.05: 0.13, 0.18: 0.25}


@dataclass(frozen=True)
class Effects:
    """Standard deviations of what annotations share, where a single annotation's noise has 1."""

    annotator: float
    taste: float
    conversation: float = 0.4

    @property
    def total(self) -> float:
        """The standard deviation of all together."""
        return float(np.sqrt(1 + self.annotator**2 + self.taste**2 + self.conversation**2))


@dataclass(frozen=True)
class Setting:
    """A campaign: every two of `k` bots talk `per_pair` times; three segments of each, two annotations of a segment.

    `correlation` is the intraclass correlation of "bot" within an annotator; with `taste` annotators differ in what
    they think of each bot, too.
    """

    k: int
    per_pair: int
    annotators: int
    correlation: float
    taste: bool

    @property
    def effects(self) -> Effects:
        """Effects that give the correlation."""
        return _effects(self.correlation, taste=self.taste)


SETTINGS = tuple(
    Setting(k, per_pair, annotators, correlation, taste)
    for k, per_pair in ((2, 15), (2, 45), (4, 15), (4, 45), (10, 15), (10, 45))
    for annotators in (6, 12, 20, 40)
    for correlation in _TASTES
    for taste in (False, True)
    if correlation or not taste
)


def draw_status(setting: Setting, chances: FloatArray, rng: np.random.Generator) -> CurrentStatus:
    """Draw a campaign in which bots are spotted with these `chances` (k, times)."""
    entity, time, conversation, annotator = _campaign(setting, rng)
    spotted = _spotted(setting, chances[entity, time[:, None]], entity, conversation, annotator, rng)
    return _status(setting.k, entity, time, spotted, conversation, annotator, {})


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen of both sides in each annotation, as its normal probability (n, 2) and uniform."""

    entity: IntArray
    probability: FloatArray
    conversation: IntArray
    annotator: IntArray


def draw_seen(setting: Setting, rng: np.random.Generator) -> Seen:
    """Draw a campaign of equal bots: a side is spotted by a time t where its probability is below the chance of t."""
    entity, _, conversation, annotator = _campaign(setting, rng)
    return Seen(entity, _seen(setting, entity, conversation, annotator, rng), conversation, annotator)


def draw_labels(
    setting: Setting, bot: FloatArray, human: FloatArray, rng: np.random.Generator, *, copies: int = 1
) -> AnnotationTable:
    """Draw a campaign in which bots are labelled "bot" and "human" with these chances (k, times), else "unsure".

    Each `copies` conversations of a pair have one text, and so the same effects.
    """
    entity, time, conversation, annotator = _campaign(setting, rng)
    seen = _seen(setting, entity, conversation // copies, annotator, rng)
    at = (entity, time[:, None])
    label = np.where(seen <= bot[at], LabelCode.BOT, np.where(seen > 1 - human[at], LabelCode.HUMAN, LabelCode.UNSURE))
    return AnnotationTable(
        names=tuple(f"bot {at}" for at in range(setting.k)),
        conversation=conversation,
        entity=entity,
        exchanges=TIMES[time],
        label=label.astype(np.int64),
        annotator=annotator,
        text=conversation // copies * copies,
    )


def draw_chats(
    setting: Setting, bot: FloatArray, human: FloatArray, rng: np.random.Generator, *, with_bots: bool = False
) -> AnnotationTable:
    """Draw a campaign of chats of people with k bots; each bot chats as often as it would talk with other bots.

    `bot` and `human` (k + 1, times) have the chances of people in the last row. With `with_bots`, every two bots talk,
    too.
    """
    k, people = setting.k, setting.k
    chats = np.repeat([(each, people) for each in range(k)], k - 1, axis=0)
    pairs = np.concatenate([chats, np.array(np.triu_indices(k, 1)).T]) if with_bots else chats
    entity, time, conversation, annotator = _campaign(setting, rng, pairs)
    seen = _seen(replace(setting, k=k + 1), entity, conversation, annotator, rng)
    at = (entity, time[:, None])
    label = np.where(seen <= bot[at], LabelCode.BOT, np.where(seen > 1 - human[at], LabelCode.HUMAN, LabelCode.UNSURE))
    return AnnotationTable(
        names=(*(f"bot {at}" for at in range(k)), HUMAN),
        conversation=conversation,
        entity=entity,
        exchanges=TIMES[time],
        label=label.astype(np.int64),
        annotator=annotator,
    )


def draw_hazards(
    setting: Setting, chances: FloatArray, coefficients: FloatArray, rng: np.random.Generator
) -> CurrentStatus:
    """Draw a campaign in which leads of three features multiply the cumulative hazards of `chances` (k, times).

    Annotators differ in what they prefer, too, which alone does not bias the `coefficients` (3,).
    """
    entity, time, conversation, annotator = _campaign(setting, rng)
    eta = np.log(-np.log1p(-chances))[entity, time[:, None]]
    effects, leads = setting.effects, {}
    for name, coefficient in zip(FEATURES, coefficients.tolist(), strict=True):
        taste = rng.normal(0, effects.taste + 0.7 * effects.annotator, (setting.annotators, setting.k))
        lean = rng.normal(0, effects.conversation, int(conversation.max()) + 1)[conversation]
        seen = taste[annotator, entity[:, 0]] - taste[annotator, entity[:, 1]] + lean + rng.normal(size=len(time))
        lead = (seen > 0.6).astype(np.int64) - (seen < -0.6)
        both = np.column_stack([lead, -lead])
        eta, leads[name] = eta + coefficient * both, both.ravel()
    spotted = _spotted(setting, -np.expm1(-np.exp(eta)), entity, conversation, annotator, rng)
    return _status(setting.k, entity, time, spotted, conversation, annotator, leads)


def _campaign(
    setting: Setting, rng: np.random.Generator, pairs: IntArray | None = None
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Deal segments to packages and packages to annotators; rows are annotations, of both sides at once."""
    pairs = np.array(np.triu_indices(setting.k, 1)).T if pairs is None else pairs
    n = len(pairs) * setting.per_pair
    n_segments = n * len(TIMES)
    n_packages = max(-(-n_segments // _PACKAGE), -(-setting.annotators // _ANNOTATIONS))
    package = np.empty(n_segments, dtype=np.int64)
    package[rng.permutation(n_segments)] = np.arange(n_segments) * n_packages // n_segments
    # Every annotator has a package before anybody has the next.
    who = np.empty((n_packages, _ANNOTATIONS), dtype=np.int64)
    deck: list[int] = []
    for crew in who:
        taken: list[int] = []
        while len(taken) < _ANNOTATIONS:
            free = [each for each in deck if each not in taken]
            if free:
                deck.remove(free[0])
                taken.append(free[0])
            else:
                deck += rng.permutation(setting.annotators).tolist()
        crew[:] = taken
    conversation = np.repeat(np.arange(n), len(TIMES) * _ANNOTATIONS)
    time = np.tile(np.repeat(np.arange(len(TIMES)), _ANNOTATIONS), n)
    return np.repeat(pairs, setting.per_pair, axis=0)[conversation], time, conversation, who[package].ravel()


def _spotted(
    setting: Setting,
    chances: FloatArray,
    entity: IntArray,
    conversation: IntArray,
    annotator: IntArray,
    rng: np.random.Generator,
) -> BoolArray:
    below: BoolArray = _seen(setting, entity, conversation, annotator, rng) <= chances
    return below


def _seen(
    setting: Setting, entity: IntArray, conversation: IntArray, annotator: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Return what is seen of each side as its normal probability."""
    effects = setting.effects
    seen = rng.normal(0, effects.annotator, setting.annotators)[annotator][:, None]
    seen = seen + rng.normal(0, effects.taste, (setting.annotators, setting.k))[annotator[:, None], entity]
    seen = seen + rng.normal(0, effects.conversation, (int(conversation.max()) + 1, 2))[conversation]
    seen = seen + rng.normal(size=entity.shape)
    probability: FloatArray = stats.norm.cdf(seen / effects.total)
    return probability


def _status(
    k: int,
    entity: IntArray,
    time: IntArray,
    spotted: BoolArray,
    conversation: IntArray,
    annotator: IntArray,
    leads: dict[str, IntArray],
) -> CurrentStatus:
    return CurrentStatus(
        names=tuple(f"bot {at}" for at in range(k)),
        times=TIMES,
        entity=entity.ravel(),
        time=np.repeat(time, 2),
        spotted=spotted.ravel(),
        conversation=np.repeat(conversation, 2),
        annotator=np.repeat(annotator, 2),
        leads=leads,
    )


@cache
def _effects(correlation: float, *, taste: bool) -> Effects:
    of_taste = _TASTES[correlation] if taste else 0.0
    if not correlation:
        return Effects(0.0, of_taste)
    threshold = stats.norm.ppf(_BASE)

    def excess(annotator: float) -> float:
        rho = (annotator / Effects(annotator, of_taste).total) ** 2
        both = stats.multivariate_normal.cdf([threshold] * 2, cov=[[1, rho], [rho, 1]])
        return float((both - _BASE**2) / (_BASE * (1 - _BASE)) - correlation)

    return Effects(float(optimize.brentq(excess, 1e-3, 3)), of_taste)

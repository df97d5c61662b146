"""How many conversations and annotators tell two bots apart, before there are data.

The test planned for is `pair_tests`: Student's t of the win rate among decided games, whose variance has a part of
conversations and a part of annotators. Annotations of one conversation agree more than chance has it, and so do those
of one annotator: both make them worth less, and more conversations do not make up for few annotators.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_level
from spotthebot.analytics.stats.errors import SettingOutOfRange

MAX_CONVERSATIONS: Final = 1_000_000
_LARGEST: Final = MAX_CONVERSATIONS
"""Annotators, and annotations of one of them or of a conversation, in a design."""


@dataclass(frozen=True)
class Design:
    """The design of an annotation campaign: how much one annotation tells.

    `tie_rate` is the share of annotations that are ties. The correlations are intraclass, of two outcomes of one pair
    of bots (`outcome_correlation`): within a conversation and within an annotator. Their defaults are the larger of
    those in the two published domains of Spot The Bot, to two digits. `annotators` share the work of all pairs evenly;
    None stands for as many as the work takes at `annotations_per_annotator`, of which the default is the published
    limit of three packages of 20. `annotators_per_game` is 1 unless a game joins several annotations, which are then
    games here too.
    """

    tie_rate: float = 0.7
    annotations_per_conversation: float = 6.0
    conversation_correlation: float = 0.10
    annotator_correlation: float = 0.09
    annotators: int | None = None
    annotations_per_annotator: float = 60.0
    annotators_per_game: float = 1.0

    def __post_init__(self) -> None:
        for setting in ("tie_rate", "conversation_correlation", "annotator_correlation"):
            if not 0 <= getattr(self, setting) < 1:
                raise SettingOutOfRange(setting=setting, allowed="0 or more, below 1", value=getattr(self, setting))
        for setting in ("annotations_per_conversation", "annotations_per_annotator", "annotators_per_game"):
            if not 1 <= getattr(self, setting) <= _LARGEST:
                raise SettingOutOfRange(
                    setting=setting, allowed=f"from 1 to {_LARGEST:,}", value=getattr(self, setting)
                )
        if self.annotators is not None and not 2 <= self.annotators <= _LARGEST:
            raise SettingOutOfRange(setting="annotators", allowed=f"from 2 to {_LARGEST:,}", value=self.annotators)

    def annotators_needed(self, conversations: int, n_pairs: int) -> int:
        """Return the number of annotators of a campaign of so many conversations of each pair."""
        return math.ceil(round(float(_annotators(self, np.array([conversations]), n_pairs)[0]), 9))

    def design_effect(self, conversations: int, n_pairs: int = 1) -> float:
        """Return by how much clustering inflates the variance of a pair's win rate (Kish 1965, Donner 1986)."""
        return float(_worth(self, np.array([conversations]), n_pairs).effect[0])


@dataclass(frozen=True)
class PairPlan:
    """How many conversations of a pair are needed, and how many annotators where all pairs have as many.

    With a `reason` the number that was asked for is None: no number is enough.
    """

    win_rate: float
    conversations: int | None
    annotators: int | None
    power: float
    significance_level: float
    n_pairs: int
    design_effect: float | None
    method: str
    reason: str | None


PLANNED_TEST: Final = "noncentral t of the win rate, clustered by conversation and annotator, Bonferroni over the pairs"
EVEN: Final = "even bots cannot be told apart"
_DEFAULT_DESIGN = Design()
# The power of few annotators falls again where many conversations add to the weight of their part: all are looked at.
_CANDIDATES: Final = np.unique(
    np.concatenate([np.arange(2, 300), np.geomspace(300, MAX_CONVERSATIONS, 800).round()])
).astype(np.int64)


def power_of(
    win_rate: float,
    conversations: int,
    design: Design = _DEFAULT_DESIGN,
    *,
    significance_level: float = 0.05,
    n_pairs: int = 1,
) -> float:
    """Return the power of the two-sided test of a pair that really has this win rate among decided games.

    All `n_pairs` pairs have as many conversations and share the annotators; the level is shared out over their tests
    (Bonferroni; Holm's correction has no less power). The statistic is 2 (p - 1/2) times the root of the effective
    number of decided games, with Satterthwaite's degrees of freedom and the spread of Student's t: shares off even odds
    vary less, but their clusters are skewed, which makes up for it. In simulated studies this is right to within .02.

    >>> round(power_of(0.5, 40), 3)  # even bots: a false alarm
    0.05
    """
    _require(win_rate, 0.5, significance_level, n_pairs)
    if not 0 <= conversations <= MAX_CONVERSATIONS:
        allowed = f"from 0 to {MAX_CONVERSATIONS:,}"
        raise SettingOutOfRange(setting="conversations", allowed=allowed, value=conversations)
    return float(_powers(win_rate, np.array([conversations]), design, significance_level, n_pairs)[0])


def plan_conversations(
    win_rate: float,
    design: Design = _DEFAULT_DESIGN,
    *,
    power: float = 0.8,
    significance_level: float = 0.05,
    n_pairs: int = 1,
) -> PairPlan:
    """Return the fewest conversations of each pair with which a test finds this win rate with the requested power.

    Unless the design has a number of annotators it grows with the conversations; few annotators bound the power: then
    no number of conversations is enough. Raises `SettingOutOfRange`.

    >>> plan = plan_conversations(0.75, n_pairs=6)
    >>> plan.conversations, plan.annotators  # 6 pairs * conversations * 6 annotations / 60
    (69, 42)
    """
    _require(win_rate, power, significance_level, n_pairs)

    def powers(conversations: IntArray) -> FloatArray:
        return _powers(win_rate, conversations, design, significance_level, n_pairs)

    found = None if win_rate == 0.5 else _fewest(powers, power, MAX_CONVERSATIONS)
    reason = None
    if found is None:
        reason = (
            f"{MAX_CONVERSATIONS:,} conversations are not enough"
            if design.annotators is None
            else f"{design.annotators} annotators are too few, whatever the number of conversations"
        )
    return PairPlan(
        win_rate=win_rate,
        conversations=found,
        annotators=design.annotators if found is None else design.annotators_needed(found, n_pairs),
        power=power,
        significance_level=significance_level,
        n_pairs=n_pairs,
        design_effect=None if found is None else design.design_effect(found, n_pairs),
        method=PLANNED_TEST,
        reason=EVEN if win_rate == 0.5 else reason,
    )


def plan_annotators(
    win_rate: float,
    conversations: int,
    design: Design = _DEFAULT_DESIGN,
    *,
    power: float = 0.8,
    significance_level: float = 0.05,
    n_pairs: int = 1,
) -> PairPlan:
    """Return the fewest annotators with whom so many conversations of each pair reach the requested power.

    They share the work evenly, however much it is; the number in the design does not count. Raises `SettingOutOfRange`.

    >>> plan = plan_annotators(0.75, 80, n_pairs=6)
    >>> plan.conversations, plan.annotators
    (80, 35)
    """
    _require(win_rate, power, significance_level, n_pairs)
    if not 2 <= conversations <= MAX_CONVERSATIONS:
        allowed = f"from 2 to {MAX_CONVERSATIONS:,}"
        raise SettingOutOfRange(setting="conversations", allowed=allowed, value=conversations)

    def powers(annotators: IntArray) -> FloatArray:
        found = [
            _powers(win_rate, np.array([conversations]), replace(design, annotators=n), significance_level, n_pairs)
            for n in annotators.tolist()
        ]
        return np.concatenate(found)

    games = math.floor(conversations * design.annotations_per_conversation * design.annotators_per_game)
    found = None if win_rate == 0.5 else _fewest(powers, power, games)
    reason = None if found else f"{conversations:,} conversations are too few, whatever the number of annotators"
    return PairPlan(
        win_rate=win_rate,
        conversations=conversations,
        annotators=found,
        power=power,
        significance_level=significance_level,
        n_pairs=n_pairs,
        design_effect=None if found is None else replace(design, annotators=found).design_effect(conversations),
        method=PLANNED_TEST,
        reason=EVEN if win_rate == 0.5 else reason,
    )


@dataclass(frozen=True, eq=False)
class _Worth:
    """The design effect, the effective number of decided games and the degrees of freedom of one pair's test."""

    effect: FloatArray
    n: FloatArray
    degrees: FloatArray


def _worth(design: Design, conversations: IntArray, n_pairs: int) -> _Worth:
    a, joined = design.annotations_per_conversation, design.annotators_per_game
    games = conversations * a
    annotators = np.minimum(_annotators(design, conversations, n_pairs), games * joined)
    each = games * joined / annotators
    of_conversations = np.full(games.shape, 1 + (a - 1) * design.conversation_correlation)
    of_annotators = 1 + joined * np.maximum(0.0, each - 1) * design.annotator_correlation
    effect = of_conversations + of_annotators - 1
    spread = of_conversations**2 / _degrees(design, conversations, a)
    spread = spread + of_annotators**2 / _degrees(design, annotators, each)
    return _Worth(effect=effect, n=games * (1 - design.tie_rate) / effect, degrees=effect**2 / spread)


def _annotators(design: Design, conversations: IntArray, n_pairs: int) -> FloatArray:
    if design.annotators is not None:
        return np.full(conversations.shape, float(design.annotators))
    work = n_pairs * conversations * design.annotations_per_conversation * design.annotators_per_game
    return np.asarray(np.maximum(2.0, work / design.annotations_per_annotator), dtype=np.float64)


def _degrees(design: Design, clusters: FloatArray | IntArray, games: FloatArray | float) -> FloatArray:
    # Chance decides how many games of a cluster are decided, and clusters of unequal size are worth fewer.
    unequal = 1 + design.tie_rate / (games * (1 - design.tie_rate))
    return np.asarray(np.maximum(clusters / unequal - 1, 0.5), dtype=np.float64)


def _powers(
    win_rate: float, conversations: IntArray, design: Design, significance_level: float, n_pairs: int
) -> FloatArray:
    worth = _worth(design, conversations, n_pairs)
    lead = 2 * abs(win_rate - 0.5) * np.sqrt(worth.n)
    critical = scipy.stats.t.isf(significance_level / n_pairs / 2, worth.degrees)
    near = np.minimum(lead, 30.0)
    # Where the lead is certain scipy's lower tail is NaN: it is 0.
    lower = np.nan_to_num(scipy.stats.nct.cdf(-critical, worth.degrees, near))
    upper = scipy.stats.nct.sf(critical, worth.degrees, near)
    # A lead so far out hardly varies: the estimated variance decides.
    certain = scipy.stats.chi2.cdf(worth.degrees * (lead / critical) ** 2, worth.degrees)
    powers: FloatArray = np.where(lead < 30, np.minimum(1.0, upper + lower), certain)
    powers[conversations < 2] = 0.0
    return powers


def _fewest(powers: Callable[[IntArray], FloatArray], power: float, most: int) -> int | None:
    candidates = np.append(_CANDIDATES[most > _CANDIDATES], most) if most >= 2 else np.empty(0, dtype=np.int64)
    enough = np.flatnonzero(powers(candidates) >= power) if len(candidates) else candidates
    if not len(enough):
        return None
    high = int(candidates[enough[0]])
    low = int(candidates[enough[0] - 1]) if enough[0] else 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if powers(np.array([middle]))[0] >= power else (middle, high)
    return high


def _require(win_rate: float, power: float, significance_level: float, n_pairs: int) -> None:
    if not 0 < win_rate < 1:
        raise SettingOutOfRange(setting="win_rate", allowed="between 0 and 1, both excluded", value=win_rate)
    require_level("power", power)
    require_level("significance_level", significance_level)
    if not 1 <= n_pairs <= MAX_CONVERSATIONS:
        raise SettingOutOfRange(setting="n_pairs", allowed=f"from 1 to {MAX_CONVERSATIONS:,}", value=n_pairs)

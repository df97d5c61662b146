"""Plans how many conversations and annotators tell two bots apart, before there are data.

Plans use the spread of Student's t for the win rate. A share away from even odds has a smaller spread. In simulated
studies the error of the power is at most .02 with Student's spread. With the smaller spread the plan promises up to .06
too much power.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.pair_power import (
    DEFAULT_DESIGN,
    MAX_CONVERSATIONS,
    PLANNED_TEST,
    Design,
    powers_of,
    require_plan,
    smallest_of,
)
from spotthebot.statistics.errors import SettingOutOfRange


@dataclass(frozen=True)
class PairPlan:
    """How many conversations a pair needs, and how many annotators if all pairs have so many conversations.

    If no number is enough, the requested number is None, with a `reason`.
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


EVEN: Final = "even bots cannot be told apart"
# With few annotators, power falls again as more conversations increase their share: so all numbers are tried.
_CANDIDATES: Final = np.unique(
    np.concatenate([np.arange(2, 300), np.geomspace(300, MAX_CONVERSATIONS, 800).round()])
).astype(np.int64)


def plan_conversations(
    win_rate: float,
    design: Design = DEFAULT_DESIGN,
    *,
    power: float = 0.8,
    significance_level: float = 0.05,
    n_pairs: int = 1,
) -> PairPlan:
    """Return the fewest conversations of each pair with which a test finds this win rate with the requested power.

    The number of annotators grows with the conversations, unless the design fixes it. Few annotators limit the power,
    so that perhaps no number of conversations is enough. Raises `SettingOutOfRange`.

    >>> plan = plan_conversations(0.75, n_pairs=6)
    >>> plan.conversations, plan.annotators  # 6 pairs * conversations * 6 annotations / 60
    (65, 39)
    """
    require_plan(win_rate, power, significance_level, n_pairs)

    def powers(conversations: IntArray) -> FloatArray:
        return powers_of(win_rate, conversations, design, significance_level, n_pairs)

    found = None if win_rate == 0.5 else fewest(powers, power, MAX_CONVERSATIONS)
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
    design: Design = DEFAULT_DESIGN,
    *,
    power: float = 0.8,
    significance_level: float = 0.05,
    n_pairs: int = 1,
) -> PairPlan:
    """Return the fewest annotators with which this number of conversations of each pair reaches the requested power.

    The annotators share all the work evenly. The number of annotators in the design is ignored. Raises
    `SettingOutOfRange`.

    >>> plan = plan_annotators(0.75, 80, n_pairs=6)
    >>> plan.conversations, plan.annotators
    (80, 30)
    """
    require_plan(win_rate, power, significance_level, n_pairs)
    if not 2 <= conversations <= MAX_CONVERSATIONS:
        allowed = f"from 2 to {MAX_CONVERSATIONS:,}"
        raise SettingOutOfRange(setting="conversations", allowed=allowed, value=conversations)

    def powers(annotators: IntArray) -> FloatArray:
        found = [
            powers_of(win_rate, np.array([conversations]), replace(design, annotators=n), significance_level, n_pairs)
            for n in annotators.tolist()
        ]
        return np.concatenate(found)

    games = math.floor(conversations * design.annotations_per_conversation * design.annotators_per_game)
    found = None if win_rate == 0.5 else fewest(powers, power, games)
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


def least_conversations(
    design: Design = DEFAULT_DESIGN, *, significance_level: float = 0.05, n_pairs: int = 1
) -> int | None:
    """Return the fewest conversations of each pair with which a bot that wins every game is shown to be better.

    Return None if no number of conversations is enough.

    >>> least_conversations(Design(annotators=4))  # 2 of 2⁴ signs of the annotators are .125
    """
    require_plan(0.5, 0.5, significance_level, n_pairs)

    def enough(conversations: IntArray) -> FloatArray:
        return (smallest_of(conversations, design, n_pairs) < significance_level).astype(np.float64)

    return fewest(enough, 1.0, MAX_CONVERSATIONS)


def fewest(powers: Callable[[IntArray], FloatArray], power: float, most: int) -> int | None:
    """Return the smallest number from 2 to `most` whose power is at least `power`; None if no number's is.

    `powers` returns the powers of several numbers (n,).
    """
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

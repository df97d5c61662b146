"""How many conversations of a pair are needed to tell its bots apart: before there are data, and with some at hand.

The test planned for is Student's t of the conversations' mean outcomes, win 1, tie 0, loss -1. Annotations of one
conversation agree more than chance has it, and so do those of one annotator: both make them worth less.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import stats

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.clustered_variance import Clusters
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.ranking import PairInterval, rank_bots
from spotthebot.analytics.stats.significance import Adjustment, PairComparison, pair_tests
from spotthebot.analytics.stats.wins import Games, count_wins

MAX_CONVERSATIONS: Final = 1_000_000


@dataclass(frozen=True)
class Design:
    """The design of an annotation campaign: how much one annotation tells.

    `tie_rate` is the share of annotations that are ties. The correlations are intraclass: of two outcomes of one
    conversation, and of two outcomes that one annotator gave to a pair of bots; `annotators` share the work evenly, and
    None stands for so many that their habits cancel out.
    """

    tie_rate: float = 0.7
    annotations_per_conversation: float = 6.0
    conversation_correlation: float = 0.1
    annotator_correlation: float = 0.0
    annotators: int | None = None

    def __post_init__(self) -> None:
        for setting in ("tie_rate", "conversation_correlation", "annotator_correlation"):
            if not 0 <= getattr(self, setting) < 1:
                raise SettingOutOfRange(setting=setting, allowed="0 or more, below 1", value=getattr(self, setting))
        if not self.annotations_per_conversation >= 1:
            raise SettingOutOfRange(
                setting="annotations_per_conversation", allowed="1 or more", value=self.annotations_per_conversation
            )
        if self.annotators is not None and self.annotators < 2:
            raise SettingOutOfRange(setting="annotators", allowed="2 or more", value=self.annotators)

    def design_effect(self, conversations: float) -> float:
        """Return by how much clustering inflates the variance of the mean outcome (Kish 1965, Donner 1986)."""
        a = self.annotations_per_conversation
        effect = 1 + (a - 1) * self.conversation_correlation
        if self.annotators is not None:
            effect += max(0.0, conversations * a / self.annotators - 1) * self.annotator_correlation
        return effect


@dataclass(frozen=True)
class PairPlan:
    """How many conversations a pair needs; None with a `reason` where no number of them is enough."""

    win_rate: float
    conversations: int | None
    power: float
    confidence_level: float
    design_effect: float
    method: str
    reason: str | None


@dataclass(frozen=True)
class MoreConversations:
    """How many conversations of a pair are needed in all, and how many `more` than its `n`.

    `low` and `high` are what it takes if the win rate lies at the end of its interval that is farther from even or
    nearer to it; `high` is None where the interval holds even odds. A pair that is told apart already needs no more.
    """

    bot: str
    other: str
    win_rate: float | None
    conversations: int | None
    low: int | None
    high: int | None
    more: int | None
    n: int
    reason: str | None


@dataclass(frozen=True)
class MorePlan:
    """What every pair needs, with the design that the data at hand show."""

    pairs: tuple[MoreConversations, ...]
    design: Design
    power: float
    confidence_level: float
    method: str


_DEFAULT_DESIGN = Design()
_METHOD = "noncentral t of conversations' mean outcomes, Bonferroni over the pairs"


def power_of(win_rate: float, conversations: int, design: Design = _DEFAULT_DESIGN, *, alpha: float = 0.05) -> float:
    """Return the power of the two-sided t test of a pair that really has this win rate among decided games.

    >>> round(power_of(0.5, 40), 3)  # even bots: a false alarm
    0.05
    """
    _require_share("win_rate", win_rate)
    _require_share("alpha", alpha)
    if conversations < 2:
        return 0.0
    decided = 1 - design.tie_rate
    mean = decided * (2 * win_rate - 1)
    variance = (decided - mean**2) * design.design_effect(conversations) / design.annotations_per_conversation
    lead = abs(mean) * math.sqrt(conversations / variance)
    critical = float(stats.t.isf(alpha / 2, conversations - 1))
    # Where the lead is certain scipy's lower tail is NaN: it is 0.
    lower = float(np.nan_to_num(stats.nct.cdf(-critical, conversations - 1, lead))) if lead < 30 else 0.0
    upper = float(stats.nct.sf(critical, conversations - 1, lead)) if lead < 30 else 1.0
    return min(1.0, upper + lower)


def plan_conversations(
    win_rate: float,
    design: Design = _DEFAULT_DESIGN,
    *,
    power: float = 0.8,
    confidence_level: float = 0.95,
    n_pairs: int = 1,
) -> PairPlan:
    """Return the fewest conversations of a pair with which a test finds its win rate with the wanted power.

    The level is shared out over `n_pairs` tests (Bonferroni; Holm's correction has no less power). Few annotators
    bound the power: then no number of conversations is enough. Raises `SettingOutOfRange`.

    >>> single = Design(tie_rate=0.5, annotations_per_conversation=1, conversation_correlation=0)
    >>> plan_conversations(0.75, single).conversations  # (1.96 + 0.84)² * (0.5 - 0.25²) / 0.25² = 55, and t for normal
    57
    """
    _require_share("win_rate", win_rate)
    _require_share("power", power)
    require_confidence_level(confidence_level)
    if n_pairs < 1:
        raise SettingOutOfRange(setting="n_pairs", allowed="1 or more", value=n_pairs)
    alpha = (1 - confidence_level) / n_pairs
    found, reason = None, None
    if win_rate == 0.5:
        reason = "even bots cannot be told apart"
    elif power_of(win_rate, MAX_CONVERSATIONS, design, alpha=alpha) < power:
        reason = (
            f"{MAX_CONVERSATIONS:,} conversations are not enough"
            if design.annotators is None
            else f"{design.annotators} annotators are too few, whatever the number of conversations"
        )
    else:
        found = _fewest(lambda n: power_of(win_rate, n, design, alpha=alpha) >= power)
    return PairPlan(
        win_rate=win_rate,
        conversations=found,
        power=power,
        confidence_level=confidence_level,
        design_effect=design.design_effect(found or MAX_CONVERSATIONS),
        method=_METHOD,
        reason=reason,
    )


def plan_more(
    games: Games,
    *,
    power: float = 0.8,
    confidence_level: float = 0.95,
    significance_level: float = 0.05,
    clusters: Clusters = Clusters.BOTH,
) -> MorePlan:
    """Say how many more conversations each pair needs if it goes on as it began.

    The tie rate, annotations per conversation and the correlation within conversations are estimated from all games;
    what annotators share is left to the test, which clusters by them. A win rate that is estimated is not known: `low`
    and `high` say how far the number depends on it.

    >>> from spotthebot.analytics.stats import Unit
    >>> even = Games(
    ...     bots=("A", "B"), first=np.zeros(4, int), second=np.ones(4, int), outcome=np.array([1, -1, 1, -1]),
    ...     conversation=np.arange(4), annotator=np.arange(4), unit=Unit.ANNOTATION, criterion="human",
    ... )
    >>> plan_more(even).pairs[0].reason
    'even bots cannot be told apart'
    """
    _require_share("power", power)
    ranking = rank_bots(games, confidence_level=confidence_level, clusters=clusters, n_resamples=1)
    tests = pair_tests(games, clusters=clusters, adjustment=Adjustment.HOLM)
    conversations = len(np.unique(games.conversation))
    design = Design(
        tie_rate=min(count_wins(games).tie_rate, 1 - 1e-9) if len(games) else 0.0,
        annotations_per_conversation=len(games) / conversations if conversations else 1.0,
        conversation_correlation=outcome_correlation(games),
    )
    codes, first_rows = np.unique(games.conversation, return_index=True)
    k = len(games.bots)
    pair_of = np.minimum(games.first, games.second) * k + np.maximum(games.first, games.second)
    held = np.bincount(pair_of[first_rows], minlength=k * k) if len(codes) else np.zeros(k * k, dtype=np.int64)
    first, second = np.triu_indices(k, 1)
    pairs = zip(ranking.pairs, tests, held[first * k + second].tolist(), strict=True)
    return MorePlan(
        pairs=tuple(
            _more(pair, test, n, design, (power, confidence_level, significance_level, len(tests)))
            for pair, test, n in pairs
        ),
        design=design,
        power=power,
        confidence_level=confidence_level,
        method=_METHOD,
    )


def outcome_correlation(games: Games) -> float:
    """Estimate the intraclass correlation of the outcomes of one conversation about their pair's mean.

    By analysis of variance (Donner 1986), between 0 and just below 1; 0 where every conversation has one game.

    >>> from spotthebot.analytics.stats import Unit
    >>> alike = Games(
    ...     bots=("A", "B"), first=np.zeros(4, int), second=np.ones(4, int), outcome=np.array([1, 1, -1, -1]),
    ...     conversation=np.array([0, 0, 1, 1]), annotator=np.arange(4), unit=Unit.ANNOTATION, criterion="human",
    ... )
    >>> round(outcome_correlation(alike), 6)  # no variance within
    1.0
    """
    turned = games.first > games.second
    outcome = np.where(turned, -games.outcome, games.outcome).astype(np.float64)
    pair = np.minimum(games.first, games.second) * len(games.bots) + np.maximum(games.first, games.second)
    _, pair = np.unique(pair, return_inverse=True)
    _, cluster = np.unique(games.conversation, return_inverse=True)
    rest = outcome - _group_means(outcome, pair)[pair] if len(outcome) else outcome
    sizes = np.bincount(cluster)
    n, groups, pairs = len(rest), len(sizes), int(pair.max()) + 1 if len(pair) else 0
    if n <= groups or groups <= pairs:
        return 0.0
    means = _group_means(rest, cluster)
    between = float(np.sum(sizes * means**2)) / (groups - pairs)
    within = float(np.sum((rest - means[cluster]) ** 2)) / (n - groups)
    typical = (n - float(np.sum(sizes**2)) / n) / (groups - 1)
    total = between + (typical - 1) * within
    return float(np.clip((between - within) / total, 0.0, 1 - 1e-9)) if total > 0 else 0.0


def _more(
    pair: PairInterval, test: PairComparison, n: int, design: Design, request: tuple[float, float, float, int]
) -> MoreConversations:
    power, confidence_level, significance_level, n_pairs = request

    def needed(rate: float | None) -> PairPlan | None:
        if rate is None:
            return None
        # A bot that won all of a few games is planned for as if it could lose one.
        near = min(max(rate, 1 / (2 * pair.n + 2)), 1 - 1 / (2 * pair.n + 2))
        return plan_conversations(near, design, power=power, confidence_level=confidence_level, n_pairs=n_pairs)

    plan = needed(pair.estimate)
    conversations = plan.conversations if plan else None
    decided = test.p_adjusted is not None and test.p_adjusted < significance_level
    low, high = None, None
    if pair.low is not None and pair.high is not None:
        nearer, farther = sorted((pair.low, pair.high), key=lambda bound: abs(bound - 0.5))
        far = needed(farther)
        low = far.conversations if far else None
        near = None if pair.low <= 0.5 <= pair.high else needed(nearer)
        high = near.conversations if near else None
    more = None if conversations is None else max(0, conversations - n)
    return MoreConversations(
        bot=pair.bot,
        other=pair.other,
        win_rate=pair.estimate,
        conversations=conversations,
        low=low,
        high=high,
        more=0 if decided else more,
        n=n,
        reason=plan.reason if plan else "no game of the two was decided",
    )


def _fewest(enough: Callable[[int], bool]) -> int:
    high = 2
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _group_means(values: FloatArray, group: IntArray) -> FloatArray:
    means: FloatArray = np.bincount(group, weights=values) / np.bincount(group)
    return means


def _require_share(setting: str, value: float) -> None:
    if not 0 < value < 1:
        raise SettingOutOfRange(setting=setting, allowed="between 0 and 1, both excluded", value=value)

"""How many more conversations a campaign's pairs need, given the correlations in its data."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.bootstrap import require_level
from spotthebot.analytics.stats.outcome_correlation import annotators_of_games, outcome_correlation
from spotthebot.analytics.stats.pair_power import PLANNED_TEST, Design
from spotthebot.analytics.stats.ranking import PairInterval, rank_bots
from spotthebot.analytics.stats.sample_size import PairPlan, plan_conversations
from spotthebot.analytics.stats.significance import PairComparison, pair_tests
from spotthebot.analytics.stats.wins import Games, count_wins
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.uncertainty import Clusters


@dataclass(frozen=True)
class MoreConversations:
    """How many conversations a pair needs in all, and how many `more` these are than the `n` that it has.

    `annotators` is the number of annotators for a campaign in which every pair has so many conversations. `low` and
    `high` are the conversations needed if the true win rate is an end of its interval: `low` for the end that is
    farther from even odds, `high` for the nearer end. `high` is None if the interval contains even odds. A pair that is
    already told apart needs no further conversations.
    """

    bot: str
    other: str
    win_rate: float | None
    conversations: int | None
    annotators: int | None
    low: int | None
    high: int | None
    more: int | None
    n: int
    design_effect: float | None
    reason: str | None


@dataclass(frozen=True)
class MorePlan:
    """The needs of every pair, and the design that the present data have."""

    pairs: tuple[MoreConversations, ...]
    design: Design
    power: float
    significance_level: float
    confidence_level: float
    method: str


def plan_more(
    games: Games,
    *,
    power: float = 0.8,
    significance_level: float = 0.05,
    confidence_level: float = 0.95,
) -> MorePlan:
    """Return how many more conversations each pair needs if its win rate stays the same. Annotators grow in proportion.

    The tie rate, the annotations of a conversation and of an annotator, and both correlations are estimated from all
    games. The win rate is only an estimate: `low` and `high` show how much the number depends on it, at
    `confidence_level`.

    >>> from spotthebot.analytics.stats import Unit
    >>> even = Games(
    ...     bots=("A", "B"), first=np.zeros(4, int), second=np.ones(4, int), outcome=np.array([1, -1, 1, -1]),
    ...     conversation=np.arange(4), annotator=np.arange(4), unit=Unit.ANNOTATION, criterion="human",
    ... )
    >>> plan_more(even).pairs[0].reason
    'even bots cannot be told apart'
    """
    require_level("power", power)
    require_level("significance_level", significance_level)
    ranking = rank_bots(games, confidence_level=confidence_level, n_resamples=1)
    tests = pair_tests(games, adjustment=Adjustment.HOLM)
    design = design_of(games)
    k = len(games.bots)
    pair_of = np.minimum(games.first, games.second) * k + np.maximum(games.first, games.second)
    # Two pairs may have conversations with the same text.
    shown = np.unique(np.column_stack([pair_of, games.conversation]), axis=0)
    held = np.bincount(shown[:, 0], minlength=k * k)
    request = _Request(power, significance_level, max(1, int(np.sum(held > 0))))
    first, second = np.triu_indices(k, 1)
    pairs = zip(ranking.pairs, tests, held[first * k + second].tolist(), strict=True)
    return MorePlan(
        pairs=tuple(_more(pair, test, n, design, request) for pair, test, n in pairs),
        design=design,
        power=power,
        significance_level=significance_level,
        confidence_level=confidence_level,
        method=PLANNED_TEST,
    )


def design_of(games: Games) -> Design:
    """Return the design of games: their tie rate, correlations and annotations. It has no fixed number of annotators.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> rows = [(at // 4, "A", "B", 2, "human", "bot" if at % 2 else "human", at % 3) for at in range(12)]
    >>> design = design_of(play_games(AnnotationTable.from_rows(rows)))
    >>> design.tie_rate, design.annotations_per_conversation, design.annotations_per_annotator
    (0.5, 4.0, 4.0)
    """
    if not len(games):
        return Design()
    _, annotator = annotators_of_games(games)
    return Design(
        tie_rate=min(count_wins(games).tie_rate, 1 - 1e-9),
        annotations_per_conversation=len(games) / len(np.unique(games.conversation)),
        conversation_correlation=outcome_correlation(games),
        annotator_correlation=outcome_correlation(games, Clusters.ANNOTATOR),
        annotations_per_annotator=len(annotator) / len(np.unique(annotator)),
        annotators_per_game=len(annotator) / len(games),
    )


@dataclass(frozen=True)
class _Request:
    power: float
    significance_level: float
    n_pairs: int


def _more(pair: PairInterval, test: PairComparison, n: int, design: Design, request: _Request) -> MoreConversations:
    def needed(rate: float | None) -> PairPlan | None:
        if rate is None:
            return None
        # For a bot that won all of its few games, the plan assumes that it could lose one.
        near = min(max(rate, 1 / (2 * pair.n + 2)), 1 - 1 / (2 * pair.n + 2))
        return plan_conversations(
            near,
            design,
            power=request.power,
            significance_level=request.significance_level,
            n_pairs=request.n_pairs,
        )

    plan = needed(pair.estimate)
    conversations = plan.conversations if plan else None
    decided = test.p_adjusted is not None and test.p_adjusted < request.significance_level
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
        annotators=plan.annotators if plan else None,
        low=low,
        high=high,
        more=0 if decided else more,
        n=n,
        design_effect=plan.design_effect if plan else None,
        reason=plan.reason if plan else "no game of the two was decided",
    )

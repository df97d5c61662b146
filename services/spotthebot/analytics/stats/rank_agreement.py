"""How well two rankings of the same bots agree."""

import math
from itertools import combinations
from typing import TypeAlias

import numpy as np

from spotthebot.analytics.stats.ranking import Ranking
from spotthebot.analytics.stats.ratings import RatingRanking

AnyRanking: TypeAlias = Ranking | RatingRanking
"""A ranking by games, or by a mean such as the fooling rate."""


def kendall_tau(one: AnyRanking, other: AnyRanking) -> float | None:
    """Return Kendall's tau-b of two rankings, over bots with an estimate in both; None if all are tied.

    If both orders are the same, it is exactly 1, without a rounding error.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games, rank_bots
    >>> rows = [(at, *pair, 2, "human", "bot", at) for at, pair in enumerate(("AB", "AC", "BC"))]
    >>> ranking = rank_bots(play_games(AnnotationTable.from_rows(rows)))
    >>> kendall_tau(ranking, ranking)
    1.0
    """
    rates = {bot.bot: bot.estimate for bot in other.bots}
    pairs = [(bot.estimate, rates.get(bot.bot)) for bot in one.bots if bot.estimate is not None]
    orders = [
        (int(np.sign(a - b)), int(np.sign(c - d)))
        for (a, c), (b, d) in combinations([(a, c) for a, c in pairs if c is not None], 2)
    ]
    squares = sum(first != 0 for first, _ in orders) * sum(second != 0 for _, second in orders)
    return sum(first * second for first, second in orders) / math.sqrt(squares) if squares else None

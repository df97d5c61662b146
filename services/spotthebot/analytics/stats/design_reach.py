"""The reach of a design: a bound of the p-values that any labels can give, by the default tests of `rank`.

A study tests the games of each pair (`pair_tests`) and the differences of mean win rates behind the ranks
(`rank_bots`), both by Student's t and Holm's correction. Nobody knows the ties and the correlations beforehand. So the
bound has no ties, design effects of 1, and the most degrees of freedom that the tests can have. It assumes that all
bots met, that each pair has as many conversations, and that each pair has a decided game.
"""

import math

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.pair_power import MAX_CONVERSATIONS, Design, require_conversations, require_plan
from spotthebot.analytics.stats.pooled_design_effects import LEAST_SHARES
from spotthebot.analytics.stats.sample_size import fewest


def lowest_p(conversations: int, design: Design, *, n_pairs: int = 1) -> float:
    """Return a p-value, adjusted for `n_pairs` pairs of bots, below which no two bots can have one.

    `design` has the annotations of a conversation and the most annotators that take part; without a number, each
    annotation may have its own. Its tie rate and correlations don't count. Raises `SettingOutOfRange`.

    >>> round(lowest_p(4, Design(annotators=2), n_pairs=3), 3)  # by mean win rates; by the pair's own games .119
    0.047
    """
    require_plan(0.5, 0.5, 0.5, n_pairs)
    require_conversations(conversations)
    return float(_lowest(np.array([conversations]), design, n_pairs)[0])


def least_conversations_of_any(design: Design, *, significance_level: float = 0.05, n_pairs: int = 1) -> int | None:
    """Return the fewest conversations of each pair with which some labels tell two bots apart; None if none do.

    >>> least_conversations_of_any(Design(annotators=2), n_pairs=3)
    4
    """
    require_plan(0.5, 0.5, significance_level, n_pairs)

    def enough(conversations: IntArray) -> FloatArray:
        return (_lowest(conversations, design, n_pairs) < significance_level).astype(np.float64)

    return fewest(enough, 1.0, MAX_CONVERSATIONS)


def _lowest(conversations: IntArray, design: Design, n_pairs: int) -> FloatArray:
    games = np.maximum(conversations, 1) * design.annotations_per_conversation
    everybody = games * n_pairs if design.annotators is None else np.minimum(games * n_pairs, design.annotators)
    bots = (1 + math.sqrt(1 + 8 * n_pairs)) / 2
    if n_pairs < LEAST_SHARES:
        # The degrees of a pair's own variance have no bound: a floor raises the variance of labels that are all alike.
        found = np.minimum(2 * 0.5 ** np.minimum(conversations, everybody), 2 * scipy.special.ndtr(-np.sqrt(games)))
    else:
        clusters = np.minimum(conversations, np.minimum(everybody, games))
        degrees = np.minimum(n_pairs * (clusters - 1), (bots - 1) * (everybody - 1))
        of_pairs = scipy.stats.t.sf(np.sqrt(games), np.maximum(1.0, degrees))
        of_annotators = (bots - 1) * np.maximum(everybody - 1, 0.5)
        of_conversations = 2 * np.maximum((bots - 1) * conversations - 1, 0.5)
        pooled = 1 / (1 / of_annotators + 1 / of_conversations)
        own = np.minimum(everybody, (bots - 1) * conversations) - 1
        # A mean win rate is over bots - 1 pairs, and a difference has two of them.
        of_ranks = scipy.stats.t.sf(np.sqrt(2 * (bots - 1) * games), np.maximum(1.0, np.maximum(pooled, own)))
        found = 2 * np.minimum(of_pairs, of_ranks)
    return np.where((conversations < 2) & (n_pairs < LEAST_SHARES), 1.0, np.minimum(1.0, n_pairs * found))

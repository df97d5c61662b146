"""Which of two bots is better: a test for each pair, adjusted for the number of pairs."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import stats

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import defined
from spotthebot.analytics.stats.wins import Games, PairCounts, Unit, count_wins


class Adjustment(StrEnum):
    """How p-values of one family are adjusted; Holm is never less powerful than Bonferroni."""

    HOLM = "holm"
    BONFERRONI = "bonferroni"
    NONE = "none"


@dataclass(frozen=True)
class SignTest:
    """One pair's exact two-sided sign test; `n` counts the decided games, `estimate` is the share that `bot` won."""

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    n: int
    estimate: float | None
    p_value: float
    p_adjusted: float
    method: str
    adjustment: Adjustment


class PairTest(StrEnum):
    """Which test of a pair: the exact sign test, or one of three that only `pair_tests` makes.

    `CHI_SQUARE` is the published form: wins and the rest of either side as a two-by-two table with Yates' correction.
    It takes the two sides' counts for independent, though one's win is the other's loss; it is here to reproduce.
    `CLUSTERED` sums wins less losses by conversation and by annotator first, and is the one that holds its level when
    annotations are not independent; `CLUSTERED_BY_CONVERSATION` leaves the annotators out.
    """

    SIGN = "sign"
    CHI_SQUARE = "chi_square"
    CLUSTERED = "clustered"
    CLUSTERED_BY_CONVERSATION = "clustered_by_conversation"


@dataclass(frozen=True)
class PairComparison:
    """One pair's test; `n` counts the decided games, and `estimate` is the share of them that `bot` won.

    `statistic` is chi-squared with one degree of freedom, or Student's t of the clustered test. Where the games cannot
    tell, it and both p-values are None and `reason` says why.
    """

    bot: str
    other: str
    n: int
    estimate: float | None
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    method: str
    adjustment: Adjustment
    reason: str | None


def pair_tests(
    games: Games, *, test: PairTest = PairTest.CLUSTERED, adjustment: Adjustment = Adjustment.HOLM
) -> tuple[PairComparison, ...]:
    """Test every unordered pair against even odds, by a test other than the sign test or by that one too.

    The clustered statistic is the sum of wins less losses over the root of its variance, about its mean, under two
    kinds of clusters (Cameron, Gelbach & Miller 2011: conversations plus annotators less single games, never below
    the larger part), with Student's t on the smaller number of clusters less one. Where all clusters ended alike it is
    the variance about zero, which is that of even odds. Where a game joins several annotations only conversations are
    clusters.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "human", "bot", 0),
    ...         (1, "A", "B", 2, "human", "unsure", 1),
    ...         (2, "A", "B", 2, "bot", "bot", 0),
    ...     ]
    ... )
    >>> (test,) = pair_tests(play_games(table), test=PairTest.CHI_SQUARE)  # 2 of 3, 0 of 3
    >>> round(test.statistic, 4)
    0.75
    """
    joined = games.unit is not Unit.ANNOTATION
    kind = PairTest.CLUSTERED_BY_CONVERSATION if joined and test is PairTest.CLUSTERED else test
    counts = count_wins(games)
    pairs = counts.pairs()
    statistics, p_values = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    reasons = [""] * len(pairs)
    first, second = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    rows = np.argsort(first * len(games.bots) + second, kind="stable")
    of_pair = np.searchsorted((first * len(games.bots) + second)[rows], _codes(counts))
    for at, pair in enumerate(pairs):
        if not pair.wins + pair.losses:
            reasons[at] = "no game of the two was decided"
        elif test is PairTest.SIGN:
            p_values[at] = min(1.0, 2 * stats.binom.cdf(min(pair.wins, pair.losses), pair.wins + pair.losses, 0.5))
        elif test is PairTest.CHI_SQUARE:
            total = pair.wins + pair.losses + pair.ties
            statistics[at] = _yates(pair.wins, pair.losses, total)
            p_values[at] = stats.chi2.sf(statistics[at], 1)
        else:
            mine = rows[of_pair[at] :][: pair.wins + pair.losses + pair.ties]
            lead = np.where(games.first[mine] < games.second[mine], games.outcome[mine], -games.outcome[mine])
            annotator = games.annotator[mine] if kind is PairTest.CLUSTERED else None
            statistics[at], degrees, reasons[at] = _clustered(lead, games.conversation[mine], annotator)
            p_values[at] = 2 * stats.t.sf(abs(statistics[at]), degrees)
    adjusted = adjust(p_values, adjustment)
    return tuple(
        PairComparison(
            bot=pair.bot,
            other=pair.other,
            n=pair.wins + pair.losses,
            estimate=pair.estimate,
            statistic=defined(statistics[at]),
            p_value=defined(p_values[at]),
            p_adjusted=defined(adjusted[at]),
            method=_METHODS[kind],
            adjustment=adjustment,
            reason=reasons[at] or None,
        )
        for at, pair in enumerate(pairs)
    )


_METHODS = {
    PairTest.SIGN: "exact sign test",
    PairTest.CHI_SQUARE: "chi-square of a two-by-two table with Yates' correction, as published",
    PairTest.CLUSTERED: "t test of wins less losses, clustered by conversation and annotator",
    PairTest.CLUSTERED_BY_CONVERSATION: "t test of wins less losses, clustered by conversation",
}


def sign_tests(counts: PairCounts, *, adjustment: Adjustment = Adjustment.HOLM) -> tuple[SignTest, ...]:
    """Test every unordered pair against even odds, ties dropped; a pair without decided games has p = 1.

    >>> counts = PairCounts(bots=("A", "B"), wins=np.array([[0, 34], [41, 0]]), ties=np.zeros((2, 2), dtype=np.int64))
    >>> round(sign_tests(counts)[0].p_value, 6)  # twice the chance of 34 heads or fewer in 75
    0.488683
    """
    pairs = counts.pairs()
    wins = np.array([pair.wins for pair in pairs], dtype=np.int64)
    losses = np.array([pair.losses for pair in pairs], dtype=np.int64)
    p_values = np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5))
    adjusted = adjust(p_values, adjustment)
    return tuple(
        SignTest(
            bot=pair.bot,
            other=pair.other,
            wins=pair.wins,
            losses=pair.losses,
            ties=pair.ties,
            n=pair.wins + pair.losses,
            estimate=pair.estimate,
            p_value=float(p_value),
            p_adjusted=float(p_adjusted),
            method="exact sign test",
            adjustment=adjustment,
        )
        for pair, p_value, p_adjusted in zip(pairs, p_values, adjusted, strict=True)
    )


def adjust(p_values: FloatArray, adjustment: Adjustment = Adjustment.HOLM) -> FloatArray:
    """Adjust one family of p-values (m,); a NaN is a test that was not made and does not count into the family.

    >>> adjust(np.array([0.01, 0.04, 0.03, 0.005])).tolist()  # 2 of 4 ... smallest times 4, next times 3, 2, 1
    [0.03, 0.06, 0.06, 0.02]
    """
    adjusted = np.array(p_values, dtype=np.float64)
    made = np.flatnonzero(~np.isnan(adjusted))
    if adjustment is Adjustment.BONFERRONI:
        adjusted[made] = np.minimum(1.0, adjusted[made] * len(made))
    elif adjustment is Adjustment.HOLM:
        ascending = made[np.argsort(adjusted[made], kind="stable")]
        factors = np.arange(len(made), 0, -1)
        adjusted[ascending] = np.minimum(1.0, np.maximum.accumulate(adjusted[ascending] * factors))
    return adjusted


def _codes(counts: PairCounts) -> IntArray:
    k = len(counts.bots)
    first, second = np.triu_indices(k, 1)
    codes: IntArray = first * k + second
    return codes


def _yates(wins: int, losses: int, total: int) -> float:
    difference = max(0.0, abs(wins - losses) * total - total)
    return 2 * difference**2 / ((wins + losses) * (2 * total - wins - losses) * total)


def _clustered(lead: IntArray, conversation: IntArray, annotator: IntArray | None) -> tuple[float, int, str]:
    """Return t, its degrees of freedom, and what stands in the way of both."""
    variance, clusters = _variance(lead - lead.mean(), conversation, annotator)
    if clusters < 2:
        return float("nan"), 1, "all games are of one conversation or one annotator"
    # Sums that should cancel leave a residue.
    least = len(lead) * 1e-12
    if variance <= least:
        variance, _ = _variance(lead, conversation, annotator)
    if variance <= least:
        return float("nan"), 1, "every conversation ended even"
    return float(lead.sum() / np.sqrt(variance * clusters / (clusters - 1))), clusters - 1, ""


def _variance(values: FloatArray | IntArray, conversation: IntArray, annotator: IntArray | None) -> tuple[float, int]:
    """Return the variance of the sum of the values, and the smaller number of clusters."""
    by_conversation, conversations = _sum_of_squares(values, conversation)
    if annotator is None:
        return by_conversation, conversations
    by_annotator, annotators = _sum_of_squares(values, annotator)
    both = by_conversation + by_annotator - float(np.sum(values**2))
    return max(by_conversation, by_annotator, both), min(conversations, annotators)


def _sum_of_squares(values: FloatArray | IntArray, cluster: IntArray) -> tuple[float, int]:
    _, codes = np.unique(cluster, return_inverse=True)
    sums = np.bincount(codes, weights=values)
    return float(np.sum(sums**2)), len(sums)

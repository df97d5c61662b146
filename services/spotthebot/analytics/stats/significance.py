"""Which of two bots is better: a test for each pair. P-values are adjusted for the number of pairs."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

from spotthebot.analytics.stats.share_intervals import share_tests
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import Games, PairWins, count_wins
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.distributions import chi_square_tails
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


class PairTest(StrEnum):
    """The test of a pair of bots.

    `CLUSTERED` is Student's t of the win rate under the variance of shared conversations and annotators. It holds its
    level when annotations are not independent, and agrees with the pair's interval. `SIGN` is the exact sign test.
    `CHI_SQUARE` is the published form: wins and non-wins of either side as a two-by-two table with Yates' correction.
    It treats the two sides' counts as independent, although a win of one bot is a loss of the other. `SIGN` and
    `CHI_SQUARE` treat annotations as independent; they are here to reproduce published results.
    """

    CLUSTERED = "clustered"
    SIGN = "sign"
    CHI_SQUARE = "chi_square"


@dataclass(frozen=True)
class PairComparison:
    """The test of one pair. `n` counts the decided games, and `estimate` is the share of these games that `bot` won.

    `statistic` is Student's t, or chi-squared with one degree of freedom. It is None for the sign test. It is also None
    if all clusters agree: in that case the test flips the signs of whole clusters. `uncertainty` is None for tests
    without clusters. If the games allow no test, both p-values are None and `reason` says why. `family` counts the
    tests that were adjusted together.
    """

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    n: int
    estimate: float | None
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    uncertainty: Uncertainty | None
    method: str
    adjustment: Adjustment
    family: int
    reason: str | None


def pair_tests(
    games: Games,
    *,
    test: PairTest = PairTest.CLUSTERED,
    clusters: Clusters = Clusters.BOTH,
    adjustment: Adjustment = Adjustment.HOLM,
) -> tuple[PairComparison, ...]:
    """Test every unordered pair against even odds, leaving out ties. All tests that are possible are one family.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "human", "bot", 0),
    ...         (1, "A", "B", 2, "human", "unsure", 1),
    ...         (2, "A", "B", 2, "bot", "bot", 0),
    ...     ]
    ... )
    >>> (sign,) = pair_tests(play_games(table), test=PairTest.SIGN)  # 2 of 2, ties dropped
    >>> sign.p_value
    0.5
    """
    test = choice_of("test", test, PairTest)
    clusters = choice_of("clusters", clusters, Clusters)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    pairs = count_wins(games).pairs()
    statistics = np.full(len(pairs), np.nan)
    uncertainty: list[Uncertainty | None] = [None] * len(pairs)
    if test is PairTest.CLUSTERED:
        rates = WinRateVariance(games, clusters).pairs
        statistics, p_values = share_tests(*rates)
        uncertainty = [rates.variance.uncertainty(at) for at in range(len(pairs))]
    elif test is PairTest.SIGN:
        p_values = np.array([_sign(pair) for pair in pairs])
    else:
        statistics = np.array([_yates(pair) for pair in pairs])
        p_values = chi_square_tails(statistics, 1)
    adjusted = adjust(p_values, adjustment)
    return tuple(
        PairComparison(
            bot=pair.bot,
            other=pair.other,
            wins=pair.wins,
            losses=pair.losses,
            ties=pair.ties,
            n=pair.wins + pair.losses,
            estimate=pair.estimate,
            statistic=defined(statistics[at]),
            p_value=defined(p_values[at]),
            p_adjusted=defined(adjusted[at]),
            uncertainty=known,
            method=f"{_METHODS[test]}, {known.words}" if known else _METHODS[test],
            adjustment=adjustment,
            family=int(np.sum(~np.isnan(p_values))),
            reason=_why_not(pair, known, p_values[at]),
        )
        for at, (pair, known) in enumerate(zip(pairs, uncertainty, strict=True))
    )


_METHODS = {
    PairTest.SIGN: "exact sign test, ties dropped, annotations taken for independent",
    PairTest.CHI_SQUARE: "chi-square of a two-by-two table with Yates' correction, as published",
    PairTest.CLUSTERED: "t test of the win rate, ties dropped",
}


def _why_not(pair: PairWins, uncertainty: Uncertainty | None, p_value: float) -> str | None:
    if not pair.wins + pair.losses:
        return "no game of the two was decided"
    return uncertainty.reason if uncertainty and np.isnan(p_value) else None


def _sign(pair: PairWins) -> float:
    decided = pair.wins + pair.losses
    if not decided:
        return float("nan")
    return min(1.0, 2 * float(scipy.stats.binom.cdf(min(pair.wins, pair.losses), decided, 0.5)))


def _yates(pair: PairWins) -> float:
    wins, losses, total = pair.wins, pair.losses, pair.wins + pair.losses + pair.ties
    if not wins + losses:
        return float("nan")
    difference = max(0.0, abs(wins - losses) * total - total)
    return 2 * difference**2 / ((wins + losses) * (2 * total - wins - losses) * total)

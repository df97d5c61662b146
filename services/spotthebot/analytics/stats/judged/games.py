"""Win rates of pairs and bots, and sets of ranks, corrected by a judge that gives both sides a probability of "human".

The judge's value of a game is its probability for the one side minus its probability for the other side. All pairs
share one lambda, since a pair has few games.
"""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level, require_level
from spotthebot.analytics.stats.judged.columns import JudgedUnits, LabelledRows
from spotthebot.analytics.stats.judged.intervals import Interval, describe
from spotthebot.analytics.stats.judged.sides import JudgedSides
from spotthebot.analytics.stats.judged.values import JudgedValues
from spotthebot.analytics.stats.judged.win_rates import (
    PeopleWins,
    correct_wins,
    game_columns,
    preference_columns,
    preferences_of,
)
from spotthebot.analytics.stats.share_intervals import share_tests
from spotthebot.analytics.stats.win_rate_variance import Shares
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.errors import ColumnMalformed, ColumnsDiffer


@dataclass(frozen=True)
class JudgedPair:
    """The win rate (Eq. 1) of `bot` against `other`. `n_people` counts decided games, `n_judged` judged segments."""

    bot: str
    other: str
    n_people: int
    n_judged: int
    people: Interval
    judge: float | None
    corrected: Interval
    labels_saved: Interval
    slope: float
    reason: str | None


@dataclass(frozen=True)
class JudgedRank:
    """A bot's mean win rate over its opponents, and its corrected set of ranks (1 is best).

    Where the judge changes nothing, the ranks are people's. `judge` is the mean of the judge's rates over the same
    opponents, None if one of these rates is missing.
    """

    bot: str
    people: Interval
    judge: float | None
    corrected: Interval
    labels_saved: Interval
    rank_low: int | None
    rank_high: int | None
    reason: str | None


@dataclass(frozen=True)
class JudgedRanking:
    """The bots, best first, and all pairs; without ranks, `reason` says why. `slope` is lambda."""

    bots: tuple[JudgedRank, ...]
    pairs: tuple[JudgedPair, ...]
    slope: float
    confidence_level: float
    significance_level: float
    reason: str | None


def judged_win_rates(
    table: AnnotationTable,
    sides: JudgedSides,
    *,
    confidence_level: float = 0.95,
    significance_level: float = 0.05,
    adjustment: Adjustment = Adjustment.HOLM,
    people: PeopleWins | None = None,
) -> JudgedRanking:
    """Correct the win rates of pairs and bots, and rank the bots by their corrected mean win rates.

    Every annotation is a game, as in `rank_bots`, whose intervals people's are. Ranks come from tests of all corrected
    differences of mean win rates, one family. Without games of every two bots there are no ranks.
    `people` has the win rates of the same table, if they are known from another judge. Raises `SettingOutOfRange`.

    >>> table = AnnotationTable.from_rows([(0, "A", "B", 2, "human", "bot", 0), (1, "A", "B", 2, "bot", "bot", 1)])
    >>> judge = np.array([[0.8, 0.1], [0.2, 0.4], [0.5, 0.1]])  # of a third conversation, too
    >>> sides = JudgedSides(np.arange(3), np.tile([0, 1], (3, 1)), np.full(3, 2), judge)
    >>> ranking = judged_win_rates(table, sides)  # A won the game that was decided
    >>> [(each.bot, each.people.estimate, round(each.judge, 3)) for each in ranking.bots]
    [('A', 1.0, 0.667), ('B', 0.0, 0.333)]
    """
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    require_confidence_level(confidence_level)
    require_level("significance_level", significance_level)
    wins = people or PeopleWins.of(table)
    columns = game_columns(table, sides, wins.pairs.share)
    return _ranking(wins, columns, confidence_level, significance_level, adjustment)


def judged_preferences(
    values: JudgedValues,
    other: IntArray,
    *,
    confidence_level: float = 0.95,
    significance_level: float = 0.05,
    adjustment: Adjustment = Adjustment.HOLM,
) -> JudgedRanking:
    """Correct the win rates of preferences between two bots: `bot` of the values and `other` (r,).

    A value is 1 where `bot` was preferred, 0 where `other` was, and 1/2 for a tie; the judge's is its expected value.
    All rows of a unit have the same two bots in the same order. Else it is as `judged_win_rates`. Raises
    `SettingOutOfRange`, `ColumnsDiffer` and, if `other` has a code of no bot, `ColumnMalformed`.

    >>> nobody, nan = -1, float("nan")
    >>> columns = [np.array(each) for each in ([0, 0, 1], range(3), range(3), [0, 1, nobody])]
    >>> values = JudgedValues(("A", "B"), *columns, np.array([1.0, 0.5, nan]), np.array([0.9, 0.6, 0.7]))
    >>> ranking = judged_preferences(values, np.array([1, 1, 0]))  # A won the game that was decided
    >>> [(each.bot, each.people.estimate, round(each.judge, 3)) for each in ranking.bots]
    [('A', 1.0, 0.667), ('B', 0.0, 0.333)]
    """
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    require_confidence_level(confidence_level)
    require_level("significance_level", significance_level)
    if other.shape != values.bot.shape:
        raise ColumnsDiffer(first=values.bot.shape, second=other.shape)
    for row in np.flatnonzero((other < 0) | (other >= len(values.bots))).tolist():
        fault = f"is {other[row]}, but the codes of {len(values.bots)} bots are from 0 to {len(values.bots) - 1}"
        raise ColumnMalformed(column="other", row=row, fault=fault)
    wins = preferences_of(values, other)
    columns = preference_columns(values, other, wins.pairs.share)
    return _ranking(wins, columns, confidence_level, significance_level, adjustment)


def _ranking(
    wins: PeopleWins,
    columns: tuple[LabelledRows, JudgedUnits],
    confidence_level: float,
    significance_level: float,
    adjustment: Adjustment,
) -> JudgedRanking:
    k, m = len(wins.bots), len(wins.pairs.share)
    first, second = np.triu_indices(k, 1)
    rows, units = columns
    found = correct_wins(wins, rows, units, np.zeros(m, dtype=np.int64), confidence_level)
    finding = found.findings[0] if m else None
    pairs = describe(found.pairs, wins.pairs.share, wins.pairs.variance, [finding] * m, confidence_level)
    bots = describe(found.means, wins.means.share, wins.means.variance, [finding] * k, confidence_level)
    reason = _why_unranked(wins.met, wins.bots)
    rank_low, rank_high = rank_sets(found.differences, k, significance_level, adjustment)
    judge = _of_judge(units, m)
    mean_of_judge = wins.means.share + wins.means_over @ (judge - wins.pairs.share)
    n_judged = np.bincount(units.statistic[~np.isnan(units.judge)], minlength=m)
    ranked = [
        JudgedRank(
            bot=bot,
            people=bots[at]["people"],
            judge=defined(mean_of_judge[at]),
            corrected=bots[at]["corrected"],
            labels_saved=bots[at]["labels_saved"],
            rank_low=None if reason else int(rank_low[at]),
            rank_high=None if reason else int(rank_high[at]),
            reason=bots[at]["reason"],
        )
        for at, bot in enumerate(wins.bots)
    ]
    return JudgedRanking(
        bots=tuple(sorted(ranked, key=_place)),
        pairs=tuple(
            JudgedPair(
                bot=wins.bots[first[at]],
                other=wins.bots[second[at]],
                n_people=int(wins.pairs.n[at]),
                n_judged=int(n_judged[at]),
                judge=defined(judge[at]),
                **pairs[at],
            )
            for at in range(m)
        ),
        slope=float(found.control.used[0]) if m else 0.0,
        confidence_level=confidence_level,
        significance_level=significance_level,
        reason=reason,
    )


def _place(bot: JudgedRank) -> tuple[float, str]:
    """Return the key that puts the best bot first: by people's rate where there is no corrected one."""
    estimates = (bot.corrected.estimate, bot.people.estimate, 0.0)
    return -next(each for each in estimates if each is not None), bot.bot


def rank_sets(
    differences: Shares, k: int, significance_level: float, adjustment: Adjustment = Adjustment.HOLM
) -> tuple[IntArray, IntArray]:
    """Return the lowest and the highest rank of each of k bots, from tests of all differences of their means."""
    first, second = np.triu_indices(k, 1)
    significant = adjust(share_tests(*differences)[1], adjustment) < significance_level
    ahead, behind = significant & (differences.share > 0.5), significant & (differences.share < 0.5)
    better = np.zeros((k, k), dtype=np.bool_)
    better[first[ahead], second[ahead]] = True
    better[second[behind], first[behind]] = True
    return 1 + better.sum(axis=0), k - better.sum(axis=1)


def _of_judge(units: JudgedUnits, m: int) -> FloatArray:
    """Return the share of segments (m,) in which the judge prefers the first bot of the pair, of those it decides."""
    decided = np.nan_to_num(units.judge) != 0
    of = units.statistic[decided]
    n, won = np.bincount(of, minlength=m), np.bincount(of[units.judge[decided] > 0], minlength=m)
    found: FloatArray = np.divide(won, n, out=np.full(m, np.nan), where=n > 0)
    return found


def _why_unranked(decided: IntArray, bots: tuple[str, ...]) -> str | None:
    apart = np.argwhere((decided + np.eye(len(bots), dtype=np.int64)) == 0)
    if len(bots) < 2:
        return "there are no two bots"
    return f"no game of {bots[apart[0][0]]} and {bots[apart[0][1]]} was decided" if len(apart) else None

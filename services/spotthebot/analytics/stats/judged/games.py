"""Win rates of pairs and bots, and sets of ranks, corrected by a judge that gives both sides a probability of "human".

The judge's value of a game is its probability for the one side minus its probability for the other side. All pairs
share one lambda, since a pair has few games.
"""

from dataclasses import dataclass, replace

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level, require_level
from spotthebot.analytics.stats.judged import checks
from spotthebot.analytics.stats.judged.columns import Columns, JudgedUnits, LabelledRows
from spotthebot.analytics.stats.judged.correction import Bounds, Control, correct, fit_control
from spotthebot.analytics.stats.judged.intervals import Interval, describe
from spotthebot.analytics.stats.judged.sides import JudgedSides, match_sides
from spotthebot.analytics.stats.share_intervals import share_bounds, share_tests
from spotthebot.analytics.stats.win_rate_variance import Shares, WinRateVariance
from spotthebot.analytics.stats.wins import count_wins, play_games
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined


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
    """A bot's mean win rate over its opponents, and its corrected set of ranks (1 is best)."""

    bot: str
    people: Interval
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
    people: WinRateVariance | None = None,
) -> JudgedRanking:
    """Correct the win rates of pairs and bots, and rank the bots by their corrected mean win rates.

    Every annotation is a game, as in `rank_bots`, whose intervals people's are. Ranks come from tests of all corrected
    differences of mean win rates, one family. Without games of every two bots there are no ranks.
    `people` has the win rates of the same table, if they are known from another judge. Raises `SettingOutOfRange`.
    """
    require_confidence_level(confidence_level)
    require_level("significance_level", significance_level)
    games = play_games(table)
    k, counts, rates = len(games.bots), count_wins(games), people or WinRateVariance(games)
    first, second = np.triu_indices(k, 1)
    m = len(first)
    rows, units = _columns(table, sides, np.nan_to_num(rates.pairs.share), m)
    found = checks.findings(_as_one(rows, m), _as_one(units, m), 1)[0]
    control = fit_control(rows, units, np.zeros(m, dtype=np.int64))
    if found is not None:
        control = control.without(np.ones(m, dtype=np.bool_))
    over = _opponents(counts.win_rates, first, second)

    def bounds(shares: Shares) -> Bounds:
        return lambda share, variance: share_bounds(np.clip(share, 0.0, 1.0), shares.n, variance, confidence_level)

    of_pairs = correct(rates.pairs.share, rates.pairs.variance, control, bounds(rates.pairs))
    of_bots = correct(rates.means.share, rates.means.variance, control.combined(over), bounds(rates.means))
    pairs = describe(of_pairs, rates.pairs.share, rates.pairs.variance, [found] * m, confidence_level)
    bots = describe(of_bots, rates.means.share, rates.means.variance, [found] * k, confidence_level)
    reason = _why_unranked(counts.wins + counts.wins.T, games.bots)
    rank_low, rank_high = _ranks(rates, control, over, significance_level, adjustment)
    judge = _of_judge(units, m)
    n_judged = np.bincount(units.statistic[~np.isnan(units.judge)], minlength=m)
    ranked = [
        JudgedRank(
            bot=bot,
            people=bots[at]["people"],
            corrected=bots[at]["corrected"],
            labels_saved=bots[at]["labels_saved"],
            rank_low=None if reason else int(rank_low[at]),
            rank_high=None if reason else int(rank_high[at]),
            reason=bots[at]["reason"],
        )
        for at, bot in enumerate(games.bots)
    ]
    return JudgedRanking(
        bots=tuple(sorted(ranked, key=lambda each: (-(each.corrected.estimate or 0.0), each.bot))),
        pairs=tuple(
            JudgedPair(
                bot=games.bots[first[at]],
                other=games.bots[second[at]],
                n_people=int(rates.pairs.n[at]),
                n_judged=int(n_judged[at]),
                judge=defined(judge[at]),
                **pairs[at],
            )
            for at in range(m)
        ),
        slope=float(control.used[0]) if m else 0.0,
        confidence_level=confidence_level,
        significance_level=significance_level,
        reason=reason,
    )


def _columns(table: AnnotationTable, sides: JudgedSides, rates: FloatArray, m: int) -> tuple[LabelledRows, JudgedUnits]:
    """Return the games of people and the judge's games, seen from the bot of the pair that comes first in `bots`."""
    rows = match_sides(table, sides)
    code = np.array([table.bots.index(name) if name in table.bots else -1 for name in table.names], dtype=np.int64)
    bots = code[rows.entity]
    played = (bots >= 0).all(axis=1) & (bots[:, 0] != bots[:, 1])
    low, high = bots.min(axis=1), bots.max(axis=1)
    pair = low * (2 * len(table.bots) - low - 1) // 2 + high - low - 1
    turned = np.where(bots[:, 0] <= bots[:, 1], 1, -1)
    lead = (rows.judge[:, 0] - rows.judge[:, 1]) * turned
    labelled = played & (np.arange(len(played)) < rows.n)
    margin = np.sign(table.label[:, 0] - table.label[:, 1])[labelled[: rows.n]] * turned[labelled]
    of = pair[labelled]
    n, decided = np.bincount(of, minlength=m), np.bincount(of, weights=margin != 0, minlength=m)
    worth = np.divide(n, decided, out=np.zeros(m), where=decided > 0)
    people = LabelledRows(
        statistic=of,
        stratum=rows.exchanges[labelled],
        conversation=rows.text[labelled],
        annotator=rows.annotator[labelled],
        residual=worth[of] * np.where(margin != 0, (margin > 0) - rates[of], 0.0),
        judge=lead[labelled],
        weight=np.ones(len(of)),
    )
    at = np.unique(rows.segment[played], return_index=True)[1]
    units = JudgedUnits(
        statistic=pair[played][at],
        stratum=rows.exchanges[played][at],
        conversation=rows.text[played][at],
        judge=lead[played][at],
        labelled=labelled[played][at],
    )
    return people, units


def _opponents(win_rates: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return how the mean win rate of each bot depends on the rate of each pair (bots, pairs)."""
    known = ~np.isnan(win_rates)
    share = np.divide(1.0, known.sum(axis=1), out=np.zeros(len(known)), where=known.any(axis=1))
    over = np.zeros((len(win_rates), len(first)))
    pairs = np.flatnonzero(known[first, second])
    over[first[pairs], pairs], over[second[pairs], pairs] = share[first[pairs]], -share[second[pairs]]
    return over


def _ranks(
    rates: WinRateVariance, control: Control, over: FloatArray, significance_level: float, adjustment: Adjustment
) -> tuple[IntArray, IntArray]:
    """Return the lowest and the highest rank of each bot, from tests of corrected differences."""
    k = len(over)
    first, second = np.triu_indices(k, 1)
    people = rates.differences(first, second)
    of_differences = control.combined((over[first] - over[second]) / 2)
    share = np.clip(people.share + of_differences.shift, 0.0, 1.0)
    p_values = share_tests(share, people.n, of_differences.corrected(people.variance))[1]
    significant = adjust(p_values, adjustment) < significance_level
    better = np.zeros((k, k), dtype=np.bool_)
    ahead = significant & (share > 0.5)
    behind = significant & (share < 0.5)
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


def _as_one(columns: Columns, m: int) -> Columns:
    """Return all pairs as one statistic, whose strata are the pairs' strata."""
    joined = columns.stratum * max(m, 1) + columns.statistic
    return replace(columns, statistic=0 * columns.statistic, stratum=joined)


def _why_unranked(decided: IntArray, bots: tuple[str, ...]) -> str | None:
    apart = np.argwhere((decided + np.eye(len(bots), dtype=np.int64)) == 0)
    if len(bots) < 2:
        return "there are no two bots"
    return f"no game of {bots[apart[0][0]]} and {bots[apart[0][1]]} was decided" if len(apart) else None

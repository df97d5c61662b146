"""The correction of people's win rates, as arrays: of pairs, of bots' means, and of differences of means."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import AnnotationTable, BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.judged import checks
from spotthebot.analytics.stats.judged.checks import Finding
from spotthebot.analytics.stats.judged.columns import Columns, JudgedUnits, LabelledRows, dense, renamed
from spotthebot.analytics.stats.judged.correction import Bounds, Control, Corrected, correct, fit_control, worth
from spotthebot.analytics.stats.judged.sides import JudgedSides, match_sides
from spotthebot.analytics.stats.judged.values import JudgedValues
from spotthebot.analytics.stats.share_intervals import share_bounds
from spotthebot.analytics.stats.win_rate_variance import Shares, WinRateVariance
from spotthebot.analytics.stats.wins import Games, Unit, count_wins, play_games


@dataclass(frozen=True, eq=False)
class PeopleWins:
    """People's win rates of m pairs, means of k bots, and differences of means of all d pairs of bots, with variances.

    `means_over` (k, m) and `differences_over` (d, m) say how means and differences depend on the pairs' rates. A
    difference is a share, 1/2 plus half of it. `met` (k, k) counts decided games. Several judges of the same labels
    share these numbers.
    """

    bots: tuple[str, ...]
    pairs: Shares
    means: Shares
    differences: Shares
    means_over: "scipy.sparse.csr_array"
    differences_over: "scipy.sparse.csr_array"
    met: IntArray

    @classmethod
    def of(cls, table: AnnotationTable) -> "PeopleWins":
        """Compute the win rates of a table, in which every annotation is a game, as `rank_bots` does."""
        return cls.of_games(play_games(table))

    @classmethod
    def of_games(cls, games: Games) -> "PeopleWins":
        """Compute the win rates of games."""
        counts, rates = count_wins(games), WinRateVariance(games)
        first, second = np.triu_indices(len(games.bots), 1)
        over = _opponents(counts.win_rates, first, second)
        return cls(
            bots=games.bots,
            pairs=rates.pairs,
            means=rates.means,
            differences=rates.differences(first, second),
            means_over=scipy.sparse.csr_array(over),
            differences_over=scipy.sparse.csr_array((over[first] - over[second]) / 2),
            met=counts.wins + counts.wins.T,
        )


class CorrectedWins(NamedTuple):
    """The corrected win rates of pairs and of bots, corrected differences, and the finding about each study's judge."""

    pairs: Corrected
    means: Corrected
    differences: Shares
    control: Control
    findings: tuple[Finding | None, ...]


def correct_wins(
    people: PeopleWins, rows: LabelledRows, units: JudgedUnits, study: IntArray, confidence_level: float
) -> CorrectedWins:
    """Correct win rates by `game_columns`. The pairs of one `study` (m,) have one judge and one lambda."""
    n_studies = int(study.max(initial=-1)) + 1
    found = checks.findings(_joined(rows, study), _joined(units, study), n_studies, np.arange(n_studies))
    unusable = np.array([each is not None for each in found], dtype=np.bool_)
    control = fit_control(rows, units, study).without(unusable[study])

    def bounds(shares: Shares) -> Bounds:
        return lambda share, variance, of_label: share_bounds(
            np.clip(share, 0.0, 1.0), shares.n * of_label, variance, confidence_level
        )

    pairs, means, differences = people.pairs, people.means, people.differences
    of_differences = control.combined(people.differences_over)
    left = of_differences.corrected(differences.variance)
    return CorrectedWins(
        pairs=correct(pairs.share, pairs.variance, control, bounds(pairs)),
        means=correct(means.share, means.variance, control.combined(people.means_over), bounds(means)),
        differences=Shares(
            np.clip(differences.share + of_differences.shift, 0.0, 1.0),
            differences.n * worth(differences.variance, left),
            left,
        ),
        control=control,
        findings=found,
    )


def game_columns(table: AnnotationTable, sides: JudgedSides, rates: FloatArray) -> tuple[LabelledRows, JudgedUnits]:
    """Return the games of people and the judge's games, seen from the bot of the pair that comes first in `bots`.

    `rates` (m,) are people's win rates of the pairs.
    """
    rows = match_sides(table, sides)
    code = np.array([table.bots.index(name) if name in table.bots else -1 for name in table.names], dtype=np.int64)
    won = np.full(len(rows.segment), np.nan)
    won[: rows.n] = np.sign(table.label[:, 0] - table.label[:, 1])
    bots = code[rows.entity]
    lead = rows.judge[:, 0] - rows.judge[:, 1]
    return _columns(bots, won, lead, rows.exchanges, rows.text, rows.annotator, rows.segment, rates)


def preference_columns(values: JudgedValues, other: IntArray, rates: FloatArray) -> tuple[LabelledRows, JudgedUnits]:
    """Return the preferences of people and of a judge as `game_columns` does; `other` (r,) has the other bots."""
    won, lead = 2 * values.value - 1, 2 * values.judge - 1
    bots = np.column_stack([values.bot, other])
    return _columns(bots, won, lead, values.stratum, values.conversation, values.annotator, dense(values.unit), rates)


def preferences_of(values: JudgedValues, other: IntArray) -> PeopleWins:
    """Return people's win rates of preferences: a value is 1 where the bot was preferred, 0 where `other` (r,) was."""
    asked = ~np.isnan(values.value) & (values.bot != other)
    return PeopleWins.of_games(
        Games(
            bots=values.bots,
            first=values.bot[asked],
            second=other[asked],
            outcome=np.rint(2 * values.value[asked] - 1).astype(np.int64),
            conversation=values.conversation[asked],
            annotator=values.annotator[asked],
            unit=Unit.ANNOTATION,
            criterion="preference",
        )
    )


def _columns(
    bots: IntArray,
    won: FloatArray,
    lead: FloatArray,
    stratum: IntArray,
    conversation: IntArray,
    annotator: IntArray,
    unit: IntArray,
    rates: FloatArray,
) -> tuple[LabelledRows, JudgedUnits]:
    """Return the columns of games (r,) of the first of `bots` (r, 2): `won` is 1, 0 or -1, NaN of a judge alone."""
    m = len(rates)
    k = round((1 + math.sqrt(1 + 8 * m)) / 2)
    played: BoolArray = (bots >= 0).all(axis=1) & (bots[:, 0] != bots[:, 1])
    low, high = bots.min(axis=1), bots.max(axis=1)
    pair = low * (2 * k - low - 1) // 2 + high - low - 1
    turned = np.where(bots[:, 0] <= bots[:, 1], 1, -1)
    lead = lead * turned
    labelled = played & ~np.isnan(won)
    margin = won[labelled] * turned[labelled]
    of = pair[labelled]
    n, decided = np.bincount(of, minlength=m), np.bincount(of[margin != 0], minlength=m)
    worth = np.divide(n, decided, out=np.zeros(m), where=decided > 0)
    people = LabelledRows(
        statistic=of,
        stratum=stratum[labelled],
        conversation=conversation[labelled],
        annotator=annotator[labelled],
        residual=worth[of] * np.where(margin != 0, (margin > 0) - np.nan_to_num(rates)[of], 0.0),
        judge=lead[labelled],
        weight=np.ones(len(of)),
    )
    at = np.flatnonzero(played)[np.unique(unit[played], return_index=True)[1]]
    return people, JudgedUnits(pair[at], stratum[at], conversation[at], lead[at], labelled[at])


def _joined(columns: Columns, study: IntArray) -> Columns:
    """Return all pairs of a study as one statistic, whose strata are the pairs' strata."""
    return renamed(columns, study[columns.statistic], columns.stratum * max(len(study), 1) + columns.statistic)


def _opponents(win_rates: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return how the mean win rate of each bot depends on the rate of each pair (bots, pairs)."""
    known = ~np.isnan(win_rates)
    share = np.divide(1.0, known.sum(axis=1), out=np.zeros(len(known)), where=known.any(axis=1))
    over = np.zeros((len(win_rates), len(first)))
    pairs = np.flatnonzero(known[first, second])
    over[first[pairs], pairs], over[second[pairs], pairs] = share[first[pairs]], -share[second[pairs]]
    return over

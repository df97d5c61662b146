"""Which bot beats which. Every annotation, segment or conversation of two bots is a game. Win rates leave ties out.

Deriu et al. 2020 (Spot The Bot), section 3: "human" beats "unsure" beats "bot"; the win rate is Eq. 1.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.errors import CriterionUnknown
from spotthebot.statistics.annotator_sets import annotator_sets
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Observations

HUMAN_LIKENESS: Final = "human"
SSA: Final = "ssa"


class Unit(StrEnum):
    """What counts as one game."""

    ANNOTATION = "annotation"
    SEGMENT = "segment"
    CONVERSATION = "conversation"


class Weighting(StrEnum):
    """The weight of a segment with i exchanges in its conversation: i (the released code), or log(i) (the early draft).

    With logarithms, the side that won more annotations of a segment wins it; in a tie, the side with the better labels.
    With `LOG_EXCHANGES`, a segment of one exchange has the weight 0. `LOG_TURNS` counts turns, two for each exchange:
    log(2 i).
    """

    EXCHANGES = "exchanges"
    LOG_EXCHANGES = "log_exchanges"
    LOG_TURNS = "log_turns"


class SsaRule(StrEnum):
    """How sensibleness and specificity are combined: as the paper describes it, or as in the published code."""

    BOTH = "both"
    PUBLISHED = "published"


@dataclass(frozen=True, eq=False)
class Games:
    """Games between two different bots. `first` and `second` (m,) are indices into `bots`.

    `outcome` is 1 if the first bot won, -1 if the second bot won, and 0 for a tie. If a game joins several annotations,
    `annotator` has the code of the set of their annotators, and `members` (sets, annotators) has the members of each
    set. `conversation` has the code of the text: conversations with the same text are one cluster. Games are ordered by
    conversation, so equal tables in another row order give equal games.
    """

    bots: tuple[str, ...]
    first: IntArray
    second: IntArray
    outcome: IntArray
    conversation: IntArray
    annotator: IntArray
    unit: Unit
    criterion: str
    members: "scipy.sparse.csr_array | None" = None

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def observations(self) -> Observations:
        """Return the games as observations that share conversations and annotators."""
        return Observations(self.conversation, self.annotator, self.members)


@dataclass(frozen=True)
class PairWins:
    """The wins and ties of one pair.

    `estimate` is Eq. 1: the share of decided games that `bot` won; None if there are none.
    """

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    estimate: float | None


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The counts of wins and ties of all pairs, (k, k) each.

    `wins[i, j]` counts the games that bot i won against bot j. `ties` is symmetric.
    """

    bots: tuple[str, ...]
    wins: IntArray
    ties: IntArray

    @property
    def n(self) -> int:
        """Return the number of all games, ties included."""
        return int(self.wins.sum() + self.ties.sum() // 2)

    @property
    def tie_rate(self) -> float:
        """Return the share of games that are ties; NaN without games."""
        return int(self.ties.sum() // 2) / self.n if self.n else float("nan")

    @property
    def win_rates(self) -> FloatArray:
        """Return the win rate (Eq. 1) of each ordered pair, (k, k); NaN for a pair without decided games."""
        return pairwise_win_rates(self.wins.astype(np.float64))

    @property
    def win_rates_with_ties(self) -> FloatArray:
        """Return each ordered pair's share of wins among all its games, (k, k) (early draft); NaN without games."""
        games = (self.wins + self.wins.T + self.ties).astype(np.float64)
        shares: FloatArray = np.divide(self.wins, games, out=np.full(games.shape, np.nan), where=games > 0)
        return shares

    @property
    def mean_win_rates(self) -> FloatArray:
        """Return each bot's mean win rate over the opponents with which it has decided games, (k,).

        The mean of a bot without decided games is NaN.
        """
        return mean_win_rates(self.win_rates)

    def pairs(self) -> tuple[PairWins, ...]:
        """Return every unordered pair once. `bot` is the bot of the pair that comes first in `bots`."""
        rates = self.win_rates
        return tuple(
            PairWins(
                bot=self.bots[i],
                other=self.bots[j],
                wins=int(self.wins[i, j]),
                losses=int(self.wins[j, i]),
                ties=int(self.ties[i, j]),
                estimate=defined(rates[i, j]),
            )
            for i in range(len(self.bots))
            for j in range(i + 1, len(self.bots))
        )


def play_games(
    table: AnnotationTable,
    *,
    unit: Unit = Unit.ANNOTATION,
    criterion: str = HUMAN_LIKENESS,
    ssa_rule: SsaRule = SsaRule.BOTH,
    weighting: Weighting = Weighting.EXCHANGES,
) -> Games:
    """Decide every game between two different bots by the labels ("human"), by a feature's name or by "ssa".

    The side with the higher score (label 2/1/0, feature 1/0) wins an annotation. The side with the higher sum of scores
    over its annotations wins a segment. In a conversation, each segment adds its number of exchanges to the side that
    won it (`weighting` also has the logarithms of the draft). Under "ssa" a side scores if it wins both sensibleness
    and specificity. In the published code the second side scores as well if it wins specificity and the first side does
    not win sensibleness. This rule is needed to reproduce Table 6. Raises `CriterionUnknown`.

    >>> from spotthebot.analytics.stats import AnnotationTable
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "human", "bot", 0),
    ...         (1, "A", "B", 2, "human", "unsure", 1),
    ...         (2, "A", "B", 2, "bot", "bot", 0),
    ...     ]
    ... )
    >>> play_games(table).outcome.tolist()  # A wins twice, then a tie
    [1, 1, 0]
    """
    unit = choice_of("unit", unit, Unit)
    weighting = choice_of("weighting", weighting, Weighting)
    table = table.between_bots()
    table = table.select(table.entity[:, 0] != table.entity[:, 1])
    score = _scores(table, criterion, choice_of("ssa_rule", ssa_rule, SsaRule))
    margin = score[:, 0] - score[:, 1]
    bot_code = np.cumsum([name in table.bots for name in table.names], dtype=np.int64) - 1
    members = None
    if unit is Unit.ANNOTATION:
        rows = np.lexsort((margin, table.annotator, table.exchanges, table.conversation))
        outcome, annotator = np.sign(margin[rows]), table.annotator[rows]
    else:
        segments = np.column_stack([table.conversation, table.exchanges])
        _, rows, game = np.unique(segments, axis=0, return_index=True, return_inverse=True)
        outcome = np.sign(_sums(game, margin, len(rows)))
        if unit is Unit.CONVERSATION:
            worth = table.exchanges[rows].astype(np.float64)
            if weighting is not Weighting.EXCHANGES:
                majority = np.sign(_sums(game, np.sign(margin), len(rows)))
                outcome = np.where(majority != 0, majority, outcome)
                worth = np.log(worth * 2 if weighting is Weighting.LOG_TURNS else worth)
            _, first_segment, conversation = np.unique(table.conversation[rows], return_index=True, return_inverse=True)
            points = np.bincount(conversation, weights=outcome * worth, minlength=len(first_segment))
            # Logarithms that cancel (log 2 + log 3 against log 6) leave a residue.
            outcome = np.sign(np.round(points, 9)).astype(np.int64)
            rows, game = rows[first_segment], conversation[game]
        annotator, members = annotator_sets(game, table.annotator)
    return Games(
        bots=table.bots,
        first=bot_code[table.entity[rows, 0]],
        second=bot_code[table.entity[rows, 1]],
        outcome=outcome,
        conversation=table.text[rows],
        annotator=annotator,
        unit=unit,
        criterion=criterion,
        members=members,
    )


def games_between(games: Games, codes: IntArray) -> Games:
    """Return the games between some bots. Bots are numbered again in the order of `codes`."""
    place = np.full(len(games.bots), -1, dtype=np.int64)
    place[codes] = np.arange(len(codes))
    first, second = place[games.first], place[games.second]
    kept = (first >= 0) & (second >= 0)
    return replace(
        games,
        bots=tuple(games.bots[code] for code in codes.tolist()),
        first=first[kept],
        second=second[kept],
        outcome=games.outcome[kept],
        conversation=games.conversation[kept],
        annotator=games.annotator[kept],
    )


def count_wins(games: Games) -> PairCounts:
    """Count wins and ties of each pair.

    >>> from spotthebot.analytics.stats import AnnotationTable
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "human", "bot", 0),
    ...         (1, "A", "B", 2, "human", "unsure", 1),
    ...         (2, "A", "B", 2, "bot", "bot", 0),
    ...     ]
    ... )
    >>> counts = count_wins(play_games(table))
    >>> counts.wins.tolist(), counts.ties.tolist()
    ([[0, 2], [0, 0]], [[0, 1], [1, 0]])
    """
    k = len(games.bots)
    decided = games.outcome != 0
    forth, back = games.first * k + games.second, games.second * k + games.first  # cells of a flat (k, k) matrix
    winner = np.where(games.outcome > 0, forth, back)
    wins = np.bincount(winner[decided], minlength=k * k).reshape(k, k)
    tied = np.bincount(forth[~decided], minlength=k * k).reshape(k, k)
    return PairCounts(bots=games.bots, wins=wins, ties=tied + tied.T)


def pairwise_win_rates(wins: FloatArray) -> FloatArray:
    """Return the win rates (Eq. 1) of the pairs of `wins` (..., k, k); NaN for a pair without decided games."""
    games = wins + np.swapaxes(wins, -1, -2)
    return np.divide(wins, games, out=np.full_like(wins, np.nan), where=games > 0)


def mean_win_rates(rates: FloatArray) -> FloatArray:
    """Return the mean rate over the opponents (last axis) whose rate is defined; NaN if there are none.

    Rates are added in the order of their size, so that equal bots have equal means in any order of opponents.
    """
    known = ~np.isnan(rates)
    opponents = known.sum(axis=-1)
    totals = np.sort(np.where(known, rates, 0.0), axis=-1).sum(axis=-1)
    means: FloatArray = np.divide(totals, opponents, out=np.full(totals.shape, np.nan), where=opponents > 0)
    return means


def _scores(table: AnnotationTable, criterion: str, ssa_rule: SsaRule) -> IntArray:
    if criterion == HUMAN_LIKENESS:
        return table.label
    if criterion in table.features:
        return table.features[criterion]
    needed = {"sensibleness", "specificity"}
    if criterion != SSA or not needed <= set(table.features):
        raise CriterionUnknown(criterion=criterion, known=", ".join([HUMAN_LIKENESS, *table.features]))
    sensible, specific = table.features["sensibleness"], table.features["specificity"]
    first = (sensible[:, 0] > sensible[:, 1]) & (specific[:, 0] > specific[:, 1])
    if ssa_rule is SsaRule.PUBLISHED:
        second = (specific[:, 1] > specific[:, 0]) & (sensible[:, 1] == 1)
    else:
        second = (sensible[:, 1] > sensible[:, 0]) & (specific[:, 1] > specific[:, 0])
    return np.column_stack([first, second]).astype(np.int64)


def _sums(group: IntArray, values: IntArray, n_groups: int) -> IntArray:
    sums = np.zeros(n_groups, dtype=np.int64)
    np.add.at(sums, group, values)
    return sums

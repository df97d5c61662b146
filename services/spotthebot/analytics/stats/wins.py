"""Who beats whom: every annotation, segment or conversation of two bots is a game, and a tie is dropped from the rates.

Deriu et al. 2020 (Spot The Bot), section 3: "human" beats "unsure" beats "bot"; the win rate is Eq. 1.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.annotator_sets import annotator_sets
from spotthebot.analytics.stats.bootstrap import defined
from spotthebot.analytics.stats.clustered_variance import Observations
from spotthebot.analytics.stats.errors import CriterionUnknown

HUMAN_LIKENESS: Final = "human"
SSA: Final = "ssa"


class Unit(StrEnum):
    """What counts as one game."""

    ANNOTATION = "annotation"
    SEGMENT = "segment"
    CONVERSATION = "conversation"


class Weighting(StrEnum):
    """What a segment of i exchanges is worth to the conversation: i, as released, or log(i), as in the early draft.

    Under the logarithms a segment also goes to who won more of its annotations, and only then to the better labels.
    By `LOG_EXCHANGES` a first segment of one exchange counts nothing; `LOG_TURNS` takes its two turns: log(2 i).
    """

    EXCHANGES = "exchanges"
    LOG_EXCHANGES = "log_exchanges"
    LOG_TURNS = "log_turns"


class SsaRule(StrEnum):
    """How sensibleness and specificity combine: as described, or as the published code has it."""

    BOTH = "both"
    PUBLISHED = "published"


@dataclass(frozen=True, eq=False)
class Games:
    """Games between two different bots: `first` and `second` (m,) index `bots`; `outcome` is 1 where the first won.

    `outcome` is 0 for a tie and -1 where the second won. Where a game joins several annotations `annotator` codes the
    set of their annotators, and `members` (sets, annotators) says who belongs to it. `conversation` codes the text:
    conversations of one text are one cluster. Games stand in the order of their conversation, so equal tables in
    another row order give equal games.
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
        """The games as observations that share conversations and annotators."""
        return Observations(self.conversation, self.annotator, self.members)


@dataclass(frozen=True)
class PairWins:
    """One pair's record; `estimate` is Eq. 1, the share of decided games that `bot` won, None if there are none."""

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    estimate: float | None


@dataclass(frozen=True, eq=False)
class PairCounts:
    """`wins[i, j]` counts the games that bot i won against bot j; `ties` is symmetric; both are (k, k)."""

    bots: tuple[str, ...]
    wins: IntArray
    ties: IntArray

    @property
    def n(self) -> int:
        """All games, ties included."""
        return int(self.wins.sum() + self.ties.sum() // 2)

    @property
    def tie_rate(self) -> float:
        """The share of games that are ties, NaN without games."""
        return int(self.ties.sum() // 2) / self.n if self.n else float("nan")

    @property
    def win_rates(self) -> FloatArray:
        """Eq. 1 for each ordered pair, (k, k); NaN on the diagonal and for a pair without decided games."""
        return pairwise_win_rates(self.wins.astype(np.float64))

    @property
    def win_rates_with_ties(self) -> FloatArray:
        """Wins among all games of each ordered pair, as the early draft has it, (k, k); NaN without games."""
        games = (self.wins + self.wins.T + self.ties).astype(np.float64)
        shares: FloatArray = np.divide(self.wins, games, out=np.full(games.shape, np.nan), where=games > 0)
        return shares

    @property
    def mean_win_rates(self) -> FloatArray:
        """Each bot's mean over the opponents with whom it has decided games, (k,); NaN if there are none."""
        return mean_win_rates(self.win_rates)

    def pairs(self) -> tuple[PairWins, ...]:
        """Every unordered pair once, the bot that comes first in `bots` as `bot`."""
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

    An annotation goes to the side with the higher score (label 2/1/0, feature 1/0). A segment goes to the side with
    the higher score summed over its annotations. A conversation adds up its segments, each worth its number of
    exchanges (`weighting` has the draft's logarithms) to the side that won it. Under "ssa" a side scores when it wins
    sensibleness and specificity both; the published code lets the second side win on specificity alone if it is not
    the less sensible one, and that rule is needed to reproduce Table 6. Raises `CriterionUnknown`.

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
    table = table.between_bots()
    table = table.select(table.entity[:, 0] != table.entity[:, 1])
    score = _scores(table, criterion, ssa_rule)
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
    """Keep the games between some bots, who are numbered again in the order of their `codes`."""
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
    """Eq. 1 over the last two axes of `wins` (..., k, k); NaN for a pair without decided games."""
    games = wins + np.swapaxes(wins, -1, -2)
    return np.divide(wins, games, out=np.full_like(wins, np.nan), where=games > 0)


def mean_win_rates(rates: FloatArray) -> FloatArray:
    """Mean over the opponents (last axis) whose rate is defined; NaN where none is.

    Rates are added in the order of their size, so that equal bots have equal means whatever their opponents' order.
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

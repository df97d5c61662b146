"""A verdict on each pair of bots that may be looked at after every annotation: ahead, behind, equivalent or open.

A test that is repeated while annotations arrive makes false claims more often than its level promises. The bounds here
are a confidence sequence: with a probability of 95 % they contain every pair's true difference at every look together.
So it is valid to stop as soon as the pairs are decided, and the table alone decides, without the earlier looks.

`benchmarks/analytics/verdicts` counts false claims of campaigns that are looked at after every package.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.sample_size import EVEN
from spotthebot.analytics.stats.verdict_bounds import LEVEL, PairBounds
from spotthebot.analytics.stats.wins import HUMAN_LIKENESS, play_games
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.errors import SettingOutOfRange

METHOD: Final = "confidence sequence: a t mixture of win rates, clustered by conversation and annotator, Bonferroni"
_FARTHEST: Final = 1_000_000
"""More conversations of a pair, or more annotators, than this are no plan."""


class Verdict(StrEnum):
    """The verdict on a pair, seen from its first bot."""

    AHEAD = "ahead"
    BEHIND = "behind"
    EQUIVALENT = "equivalent"
    OPEN = "open"


@dataclass(frozen=True)
class PairVerdict:
    """The verdict on one pair, with the bounds that it is based on.

    `estimate` is the win rate of `bot` minus the win rate of `other` among the `n` decided games of the two, from -1 to
    1. `low` and `high` bound the true difference at every look together with all other pairs. They are None as long as
    the annotations allow no bounds. `ahead` and `behind` mean that 0 is outside the bounds, `equivalent` that the
    bounds are within `margin` on both sides of 0. A pair that is both ahead and within the margin is `ahead`.

    An open pair has about how many more conversations of this pair would decide it, with the present annotators, and
    how many more annotators would, with as much work for each as now. Both assume that the estimate is the truth. None
    means that no number helps; `reason` then says why.
    """

    bot: str
    other: str
    verdict: Verdict
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    conversations: int
    annotators: int
    more_conversations: int | None
    more_annotators: int | None
    margin: float | None
    level: float
    n_pairs: int
    method: str
    reason: str | None


def pair_verdicts(
    table: AnnotationTable, *, margin: float | None = None, criterion: str = HUMAN_LIKENESS
) -> tuple[PairVerdict, ...]:
    """Return a verdict on every unordered pair of the table's bots, valid whenever and however often it is asked for.

    `margin` is the largest difference of win rates, above 0 and below 1, at which two bots count as equivalent; without
    it no pair is equivalent. `criterion` is a feature or "ssa" as in `play_games`. The number of pairs counts every two
    bots in `names`: name all bots of the study from the first look on. Raises `SettingOutOfRange` and
    `CriterionUnknown`.

    >>> rows = [(at // 2, "A", "B", 2, "human", "bot", at % 12) for at in range(120)]
    >>> (pair,) = pair_verdicts(AnnotationTable.from_rows(rows))  # A won all 120 games
    >>> pair.bot, pair.other, pair.verdict.value
    ('A', 'B', 'ahead')
    """
    if margin is not None and not 0 < margin < 1:
        raise SettingOutOfRange(setting="margin", allowed="between 0 and 1, both excluded", value=margin)
    games = play_games(table, criterion=criterion)
    basis = PairBounds.of(games)
    return tuple(_verdict(games.bots, basis, at, margin) for at in range(len(basis.first)))


def _verdict(bots: tuple[str, ...], basis: PairBounds, at: int, margin: float | None) -> PairVerdict:
    estimate, reach = float(2 * basis.rate[at] - 1), basis.reach(at)
    low, high = max(-1.0, estimate - reach), min(1.0, estimate + reach)
    if np.isnan(reach):
        low = high = float("nan")
    verdict = _verdict_of(low, high, margin)
    found = PairVerdict(
        bot=bots[basis.first[at]],
        other=bots[basis.second[at]],
        verdict=verdict,
        estimate=defined(estimate),
        low=defined(low),
        high=defined(high),
        n=int(basis.n[at]),
        conversations=int(basis.conversations[at]),
        annotators=int(basis.annotators[at]),
        more_conversations=None,
        more_annotators=None,
        margin=margin,
        level=LEVEL,
        n_pairs=len(basis.first),
        method=METHOD,
        reason=None,
    )
    return found if verdict is not Verdict.OPEN else _with_needs(found, basis, at)


def _verdict_of(low: float, high: float, margin: float | None) -> Verdict:
    if low > 0:
        return Verdict.AHEAD
    if high < 0:
        return Verdict.BEHIND
    if margin is not None and -margin < low and high < margin:
        return Verdict.EQUIVALENT
    return Verdict.OPEN


def _with_needs(pair: PairVerdict, basis: PairBounds, at: int) -> PairVerdict:
    """Return an open verdict with about how many more conversations or annotators would decide the pair."""
    if pair.estimate is None:
        return replace(pair, reason="no game of the two was decided")
    if np.isnan(basis.effect[at]):
        return replace(pair, reason="bounds need games of at least two conversations and two annotators")
    lead = abs(pair.estimate)
    target = lead if pair.margin is None else max(lead, pair.margin - lead)
    conversations = _least(lambda x: basis.reach(at, conversations=x) < target, pair.conversations)
    annotators = _least(lambda x: basis.reach(at, annotators=x) < target, basis.team)
    reason = None
    if conversations is None:
        few = f"{basis.team} annotators are too few, whatever the number of conversations"
        reason = EVEN if annotators is None and not target else few
    return replace(pair, more_conversations=conversations, more_annotators=annotators, reason=reason)


def _least(decides: Callable[[float], bool], n: int) -> int | None:
    """Return the fewest more of n clusters that decide; None if even `_FARTHEST` more do not."""
    if not decides((n + _FARTHEST) / n):
        return None
    return bisect_left(range(1, _FARTHEST), x=True, key=lambda more: decides((n + more) / n)) + 1

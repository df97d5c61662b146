"""The leaderboard of a game in which annotators open one exchange after the other: right and early is worth most.

A side that was labelled rightly at turn t of T earns w (1 - penalty (t - 1) / (T - 1)), one that was labelled wrongly
-w, one that was left unsure 0. The weight w of people and of bots is such that either have half of all weight: of N
sides of which n are of its kind, w = N / (2 n).

So who guesses earns nothing: labels that do not depend on the conversation, also always "bot" where most are, have the
expectation 0 at the first turn, as "unsure" has, and less at every later one. With a share b of right labels, the mean
over people and bots, a side is worth b (2 - penalty (t - 1) / (T - 1)) - 1 at turn t: it pays to look on while this
grows with the next exchange, and to decide at all where it is above 0.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.analytics.domain.errors import OneKindOnly
from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut, LeaderboardEntry
from spotthebot.contracts.annotation.annotations import Label

DEFAULT_PENALTY: Final = 0.5
"""Which part of its worth a right label has lost at the last exchange, unless somebody asks otherwise."""
LEAST_SIDES: Final = 40
"""Settled sides, from which an annotator has a rank while the campaign goes on: those of 20 conversations."""
_DECIMALS: Final = 3


@dataclass(frozen=True)
class PlayedSide:
    """One side of a conversation as an annotator decided on it, at `turn` of `turns`, and whether a person spoke."""

    conversation: object
    annotator: str
    package: object
    label: Label
    is_human: bool
    turn: int
    turns: int

    @property
    def is_right(self) -> bool:
        return self.label is (Label.HUMAN if self.is_human else Label.BOT)


def leaderboard(sides: Sequence[PlayedSide], *, penalty: float) -> tuple[LeaderboardEntry, ...]:
    """Return the annotators, those with most points first; equal points share a rank.

    Raises OneKindOnly where all sides are people's, or all are bots': a guess would be as good as a look.
    """
    kinds = Counter(side.is_human for side in sides)
    if sides and len(kinds) == 1:
        raise OneKindOnly(sides=len(sides), kind="people's" if True in kinds else "bots'")
    weights = {is_human: len(sides) / (2 * count) for is_human, count in kinds.items()}
    played: dict[str, list[PlayedSide]] = defaultdict(list)
    for side in sides:
        played[side.annotator].append(side)
    points = {
        annotator: round(sum(weights[side.is_human] * _worth(side, penalty) for side in own), _DECIMALS)
        for annotator, own in played.items()
    }
    ranks = _ranks(points.values())
    return tuple(
        _entry(annotator, played[annotator], points[annotator], ranks[points[annotator]])
        for annotator in sorted(played, key=lambda annotator: (-points[annotator], annotator))
    )


def final_ranks(sides: Sequence[PlayedSide]) -> tuple[AnnotatorRankOut, ...]:
    """Return the ranks of all annotators with their points, for a campaign that is over; raises OneKindOnly."""
    return tuple(
        AnnotatorRankOut(**each.model_dump(include={"rank", "annotator", "packages", "sides", "right", "points"}))
        for each in leaderboard(sides, penalty=DEFAULT_PENALTY)
    )


def ranks_so_far(sides: Sequence[PlayedSide], *, annotations_needed: int) -> tuple[AnnotatorRankOut, ...]:
    """Return ranks alone, by what nobody can use any more, for a campaign that goes on.

    A conversation counts once it is settled: `annotations_needed` annotators have labelled it, so that nobody gets it
    again. Of one side among the forty that a rank needs, a rank says next to nothing. Where all settled sides are of
    one kind there are no ranks, since a refusal would say so.
    """
    annotators: dict[object, set[str]] = defaultdict(set)
    for side in sides:
        annotators[side.conversation].add(side.annotator)
    settled = [side for side in sides if len(annotators[side.conversation]) >= annotations_needed]
    try:
        found = leaderboard(settled, penalty=DEFAULT_PENALTY)
    except OneKindOnly:
        return ()
    ranked = [each for each in found if each.sides >= LEAST_SIDES]
    ranks = _ranks(each.points for each in ranked)
    return tuple(
        AnnotatorRankOut(
            rank=ranks[each.points],
            annotator=each.annotator,
            packages=each.packages,
            sides=each.sides,
            right=None,
            points=None,
        )
        for each in ranked
    )


def _ranks(points: Iterable[float]) -> dict[float, int]:
    """Return the rank of each number of points, from 1 for the most."""
    ranks: dict[float, int] = {}
    for number, each in enumerate(sorted(points, reverse=True), start=1):
        ranks.setdefault(each, number)
    return ranks


def _worth(side: PlayedSide, penalty: float) -> float:
    if side.label is Label.UNSURE:
        return 0
    late = (side.turn - 1) / (side.turns - 1) if side.turns > 1 else 0
    return 1 - penalty * late if side.is_right else -1


def _entry(annotator: str, own: Sequence[PlayedSide], points: float, rank: int) -> LeaderboardEntry:
    decided = [side for side in own if side.label is not Label.UNSURE]
    right = sum(side.is_right for side in decided)
    return LeaderboardEntry(
        rank=rank,
        annotator=annotator,
        packages=len({side.package for side in own}),
        sides=len(own),
        right=right,
        wrong=len(decided) - right,
        unsure=len(own) - len(decided),
        mean_turn=round(sum(side.turn for side in decided) / len(decided), _DECIMALS) if decided else None,
        points=points,
        points_per_side=round(points / len(own), _DECIMALS),
    )

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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.analytics.domain.errors import OneKindOnly
from spotthebot.contracts.analytics import LeaderboardEntry
from spotthebot.contracts.annotation import Label

_DECIMALS: Final = 3


@dataclass(frozen=True)
class PlayedSide:
    """One side of a conversation as an annotator decided on it, at `turn` of `turns`, and whether a person spoke."""

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
    ranks: dict[float, int] = {}
    for number, each in enumerate(sorted(points.values(), reverse=True), start=1):
        ranks.setdefault(each, number)
    return tuple(
        _entry(annotator, played[annotator], points[annotator], ranks[points[annotator]])
        for annotator in sorted(played, key=lambda annotator: (-points[annotator], annotator))
    )


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

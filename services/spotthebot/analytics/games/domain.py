"""The leaderboard of a game in which annotators open one exchange after the other: early right labels score most.

A right label at turn t of T scores w (1 - penalty (t - 1) / (T - 1)). A wrong label scores -w, and "unsure" scores 0.
The weights w give people and bots half of the total weight each. If n of all N sides are people's, the weight of a
person's side is w = N / (2 n); likewise for bots.

So guessing earns nothing. Labels that do not depend on the conversation, such as always "bot", have an expected score
of 0 at the first turn, like "unsure". At every later turn their expected score is negative. Let b be the share of right
labels, averaged over people and bots. The expected score of a side at turn t is then b (2 - penalty (t - 1) / (T - 1))
- 1. It pays to open the next exchange as long as this score grows, and to decide at all if it is above 0.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.analytics.games.errors import OneKindOnly
from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut, LeaderboardEntry
from spotthebot.contracts.annotation.annotations import AnnotatorKind, Label

DEFAULT_PENALTY: Final = 0.5
"""The part of its worth that a right label loses up to the last exchange, unless the request sets another one."""
LEAST_SIDES: Final = 40
"""The settled sides that an annotator needs for a rank while the campaign runs: those of 20 conversations."""
_DECIMALS: Final = 3


@dataclass(frozen=True)
class PlayedSide:
    """One side of a conversation and an annotator's decision at `turn` of `turns`.

    `is_human` tells whether a person spoke on this side, and `speaker` is their name. `leads` has for fluency,
    sensibleness and specificity 1 if this side was preferred, -1 if the other was, else 0.
    """

    conversation: object
    annotator: str
    package: object
    label: Label
    is_human: bool
    turn: int
    turns: int
    speaker: str = ""
    leads: tuple[int, int, int] = (0, 0, 0)
    annotator_kind: AnnotatorKind = AnnotatorKind.PERSON

    @property
    def is_right(self) -> bool:
        return self.label is (Label.HUMAN if self.is_human else Label.BOT)


def leaderboard(sides: Sequence[PlayedSide], *, penalty: float) -> tuple[LeaderboardEntry, ...]:
    """Return the annotators by points, highest first. Annotators with equal points share a rank.

    Raises OneKindOnly if all sides are people's, or if all are bots': guessing would be as good as reading.
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
    """Return the ranks of all annotators with their points, after the campaign has ended; raises OneKindOnly."""
    return tuple(
        AnnotatorRankOut(**each.model_dump(include={"rank", "annotator", "packages", "sides", "right", "points"}))
        for each in leaderboard(sides, penalty=DEFAULT_PENALTY)
    )


def ranks_so_far(sides: Sequence[PlayedSide], *, annotations_needed: int) -> tuple[AnnotatorRankOut, ...]:
    """Return ranks without points, while the campaign runs. They reveal nothing that an annotator could still use.

    A conversation counts once it is settled: `annotations_needed` annotators have labelled it, so that nobody gets it
    again. An annotator needs forty sides to get a rank, so a rank reveals next to nothing about a single side. If all
    settled sides are people's, or all are bots', the result is empty, since an error would reveal this.
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
    """Return the rank of each number of points; the highest number has rank 1."""
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

"""Pairs: which two dialogues stand side by side, and which of them on the left.

Dialogues of different speakers are compared. Strata meet each other about equally often, dialogues of comparable length
are put together, and each stratum is as often on the left as on the right: over all its pairs and against each other
stratum, so that a preference for one side favours nobody.
"""

import heapq
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.packages.errors import TooFewToCompare

_MAX_CONSIDERED: Final = 64
"""Strata that are considered as partners of a dialogue: some hundred bots make thousands of strata."""


@dataclass(frozen=True)
class Dialogue:
    """What pairs are made by: the stratum, shared by dialogues of the same two speakers, and the length."""

    stratum: str
    exchanges: int


def pair(dialogues: Sequence[Dialogue], shuffle: Shuffle) -> list[tuple[int, int]]:
    """Return the pairs, left and right, as numbers of dialogues; each dialogue is in one pair.

    Of an odd number, one of the largest stratum is left out. Lengths are comparable where the longer has at most a
    quarter more exchanges than the shorter. Dialogues of the largest remaining stratum, longest first, get a partner
    by these rules in turn: a comparable length or the nearest one, a stratum that theirs met least often, the nearest
    length, the largest stratum. The largest always goes first, so that no dialogues of one stratum remain.

    Raises TooFewToCompare where more than half of the dialogues are of one stratum.
    """
    strata = _by_length(dialogues, shuffle)
    largest = max(strata, key=len, default=[])
    half, odd = divmod(len(dialogues), 2)
    at_most = half + odd if half else 0
    if len(largest) > at_most:
        raise TooFewToCompare(largest=len(largest), dialogues=len(dialogues), at_most=at_most)
    if odd:
        del largest[shuffle.number("left out", len(largest))]
    return _on_sides(_couples(dialogues, [members for members in strata if members]), shuffle)


def _by_length(dialogues: Sequence[Dialogue], shuffle: Shuffle) -> list[list[int]]:
    """Return the dialogues of each stratum, the shortest first; strata and equals in them are in a drawn order."""
    members: dict[str, list[int]] = defaultdict(list)
    for number in shuffle("dialogues", range(len(dialogues))):
        members[dialogues[number].stratum].append(number)
    return [sorted(each, key=lambda number: dialogues[number].exchanges) for each in members.values()]


@dataclass(frozen=True)
class _Couple:
    """Two dialogues with the codes of their strata, the smaller code first."""

    strata: tuple[int, int]
    dialogues: tuple[int, int]


def _couples(dialogues: Sequence[Dialogue], strata: list[list[int]]) -> list[_Couple]:
    """Empty the strata, of which none holds more than all others together, couple by couple."""
    left = list(range(len(strata)))
    by_size = [(-len(members), code) for code, members in enumerate(strata)]
    heapq.heapify(by_size)
    met: Counter[tuple[int, int]] = Counter()
    couples: list[_Couple] = []

    def take(code: int, at: int) -> int:
        taken = strata[code].pop(at)
        if strata[code]:
            heapq.heappush(by_size, (-len(strata[code]), code))
        else:
            left.remove(code)
        return taken

    while by_size:
        size, code = heapq.heappop(by_size)
        if -size != len(strata[code]):
            continue  # it was some other stratum's partner since
        one = take(code, -1)
        length = dialogues[one].exchanges
        ranked = []
        for other in _considered(left, len(couples)):
            if other != code:
                at = _nearest(dialogues, strata[other], length)
                difference = abs(dialogues[strata[other][at]].exchanges - length)
                times = met[min(code, other), max(code, other)]
                apart = _apart(length, dialogues[strata[other][at]].exchanges)
                ranked.append((apart, times, difference, -len(strata[other]), other, at))
        *_, other, at = min(ranked)
        partner = take(other, at)
        codes, found = ((code, other), (one, partner)) if code < other else ((other, code), (partner, one))
        met[codes] += 1
        couples.append(_Couple(codes, found))
    return couples


def _considered(strata: Sequence[int], turn: int) -> Sequence[int]:
    """Return some of many strata, others at each turn: two at least, or all."""
    if len(strata) <= _MAX_CONSIDERED:
        return strata
    start = turn * _MAX_CONSIDERED % len(strata)
    return [*strata[start : start + _MAX_CONSIDERED], *strata[: max(0, start + _MAX_CONSIDERED - len(strata))]]


def _nearest(dialogues: Sequence[Dialogue], members: Sequence[int], exchanges: int) -> int:
    """Return where the dialogue is whose length is nearest; members are sorted by length."""
    after = bisect_left(members, exchanges, key=lambda number: dialogues[number].exchanges)
    near = range(max(0, after - 1), min(after + 1, len(members)))
    return min(near, key=lambda at: abs(dialogues[members[at]].exchanges - exchanges))


def _apart(one: int, other: int) -> int:
    """Return by how much two lengths differ, 0 where they are comparable."""
    shorter, longer = sorted((one, other))
    return 0 if 4 * longer <= 5 * shorter else longer - shorter


def _on_sides(couples: Sequence[_Couple], shuffle: Shuffle) -> list[tuple[int, int]]:
    """Put one dialogue of each couple on the left: of the couples of two strata, each stratum in every second one.

    Of an odd number, one couple remains for each two such strata. These are the edges of a graph, and the strata its
    vertices: walked along in trails, each vertex is left about as often as it is come to, once more or less at most.
    """
    by_strata: dict[tuple[int, int], list[_Couple]] = defaultdict(list)
    for couple in couples:
        by_strata[couple.strata].append(couple)
    towards_second = _oriented([strata for strata, several in by_strata.items() if len(several) % 2], shuffle)
    pairs = []
    for strata, several in by_strata.items():
        first = shuffle.number(f"first/{strata}", 2)
        for number, couple in enumerate(several):
            is_last_of_odd = number == len(several) - 1 and strata in towards_second
            in_order = towards_second[strata] if is_last_of_odd else (number + first) % 2 == 0
            one, other = couple.dialogues
            pairs.append((one, other) if in_order else (other, one))
    return pairs


def _oriented(edges: Sequence[tuple[int, int]], shuffle: Shuffle) -> dict[tuple[int, int], bool]:
    """Give each edge of a graph a direction, so that as many leave a vertex as come to it, or one more or less.

    Trails begin at vertices of an odd degree as long as there are some, and end at another one of these; the others
    come back to where they began. Says whether an edge leads from its first vertex to its second.
    """
    neighbours: dict[int, set[int]] = defaultdict(set)
    for one, other in edges:
        neighbours[one].add(other)
        neighbours[other].add(one)
    odd = [vertex for vertex, near in neighbours.items() if len(near) % 2]
    found: dict[tuple[int, int], bool] = {}
    for trail, start in enumerate([*odd, *neighbours]):
        if trail < len(odd) and len(neighbours[start]) % 2 == 0:
            continue  # another trail ended here
        backwards = bool(shuffle.number(f"trail/{trail}", 2))
        at = start
        while neighbours[at]:
            to = min(neighbours[at])
            neighbours[at].remove(to)
            neighbours[to].remove(at)
            found[min(at, to), max(at, to)] = (at < to) is not backwards
            at = to
    return found

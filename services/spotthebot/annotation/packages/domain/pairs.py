"""Pairs of dialogues to compare, and the dialogue of each pair that is on the left.

Dialogues of different speakers are compared. Strata meet each other about equally often, and paired dialogues have
comparable lengths. Each stratum is equally often on the left and on the right, over all its pairs and in the pairs with
any other stratum. So a preference for one side favours nobody.

Pairs drawn at random would leave some bots uncompared in small campaigns.
"""

import heapq
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.packages.errors import NoPersonTwice, TooFewToCompare
from spotthebot.kit.errors import FieldError

_MAX_CONSIDERED: Final = 64
"""The number of strata considered as partners of a dialogue: some hundred bots make thousands of strata."""


@dataclass(frozen=True)
class Dialogue:
    """The properties that decide pairing: the stratum, shared by dialogues of the same two speakers, and the length."""

    stratum: str
    exchanges: int


def pair(dialogues: Sequence[Dialogue], shuffle: Shuffle) -> list[tuple[int, int]]:
    """Return the pairs, left and right, as indices of dialogues; each dialogue is in one pair.

    If the number of dialogues is odd, one dialogue of the largest stratum is left out. Lengths are comparable if the
    longer dialogue has at most a quarter more exchanges. Dialogues of the largest remaining stratum, longest first,
    choose a partner by these rules in turn: a comparable length or else the nearest; the stratum met least often; the
    nearest length; the largest stratum. The largest stratum always goes first, so that no dialogues of one stratum
    remain.

    Raises TooFewToCompare if more than half of the dialogues belong to one stratum.
    """
    strata = _by_length(dialogues, shuffle)
    largest = max(strata, key=len, default=[])
    half, odd = divmod(len(dialogues), 2)
    at_most = half + odd if half else 0
    if len(largest) > at_most:
        raise TooFewToCompare(largest=len(largest), dialogues=len(dialogues), at_most=at_most)
    if odd:
        del largest[shuffle.number("left out", len(largest))]
    by_code = dict(enumerate(members for members in strata if members))
    return _on_sides(_couples(dialogues, by_code, Counter()), shuffle)


def pair_by_person(
    dialogues: Sequence[Dialogue], people: Sequence[Hashable], shuffle: Shuffle
) -> list[tuple[int, int]]:
    """Return pairs, left and right, as indices of dialogues: two dialogues of one person, of different strata.

    `people` has the person of each dialogue. Each person's dialogues make as many pairs as possible: of a stratum with
    more than half of them, dialogues are left out at random, and of an odd number one dialogue is left out. The rules
    of `pair` choose the partners; strata meet over the pairs of all people.

    Raises NoPersonTwice if no person has dialogues of two strata.
    """
    of_person: dict[Hashable, dict[int, list[int]]] = {}
    for code, members in enumerate(_by_length(dialogues, shuffle)):
        for number in members:
            of_person.setdefault(people[number], {}).setdefault(code, []).append(number)
    met: Counter[tuple[int, int]] = Counter()
    couples = []
    for at, own in enumerate(of_person.values()):
        largest = max(own.values(), key=len)
        count = sum(map(len, own.values()))
        for more in range(max(2 * len(largest) - count, count % 2)):
            del largest[shuffle.number(f"left out/{at}/{more}", len(largest))]
        couples += _couples(dialogues, {code: members for code, members in own.items() if members}, met)
    if not couples:
        raise NoPersonTwice(fields=(FieldError("/pairs", "finds no person with two different bots here"),))
    return _on_sides(couples, shuffle)


def _by_length(dialogues: Sequence[Dialogue], shuffle: Shuffle) -> list[list[int]]:
    """Return the dialogues of each stratum, shortest first.

    Strata, and dialogues of equal length, are in a random order.
    """
    members: dict[str, list[int]] = defaultdict(list)
    for number in shuffle("dialogues", range(len(dialogues))):
        members[dialogues[number].stratum].append(number)
    return [sorted(each, key=lambda number: dialogues[number].exchanges) for each in members.values()]


@dataclass(frozen=True)
class _Couple:
    """Two dialogues with the codes of their strata, the smaller code first."""

    strata: tuple[int, int]
    dialogues: tuple[int, int]


def _couples(
    dialogues: Sequence[Dialogue], strata: Mapping[int, list[int]], met: Counter[tuple[int, int]]
) -> list[_Couple]:
    """Remove couples from the strata, given by their codes, until they are empty, and count in `met` who meets.

    No stratum holds more than all others together, and none is empty.
    """
    left = list(strata)
    by_size = [(-len(members), code) for code, members in strata.items()]
    heapq.heapify(by_size)
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
            continue  # it has become another stratum's partner since
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
    """Return the strata to consider: all if there are few, else a window that moves on with each turn."""
    if len(strata) <= _MAX_CONSIDERED:
        return strata
    start = turn * _MAX_CONSIDERED % len(strata)
    return [*strata[start : start + _MAX_CONSIDERED], *strata[: max(0, start + _MAX_CONSIDERED - len(strata))]]


def _nearest(dialogues: Sequence[Dialogue], members: Sequence[int], exchanges: int) -> int:
    """Return the index of the dialogue with the nearest length; members are sorted by length."""
    after = bisect_left(members, exchanges, key=lambda number: dialogues[number].exchanges)
    near = range(max(0, after - 1), min(after + 1, len(members)))
    return min(near, key=lambda at: abs(dialogues[members[at]].exchanges - exchanges))


def _apart(one: int, other: int) -> int:
    """Return the difference of two lengths; 0 if they are comparable."""
    shorter, longer = sorted((one, other))
    return 0 if 4 * longer <= 5 * shorter else longer - shorter


def _on_sides(couples: Sequence[_Couple], shuffle: Shuffle) -> list[tuple[int, int]]:
    """Decide for each couple which dialogue is left: for two strata, left and right alternate.

    If two strata have an odd number of couples, one couple remains. The remaining couples are the edges of a graph with
    strata as vertices. Walking the graph in trails enters each vertex as often as it leaves it, or once more or less.
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
    """Direct the edges of a graph so that each vertex has as many outgoing as incoming edges, or one more or less.

    Trails first begin at vertices of odd degree, and end at another such vertex. The other trails are circles. Returns
    for each edge whether it leads from its first vertex to its second.
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

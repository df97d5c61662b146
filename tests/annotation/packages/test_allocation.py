import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.annotation.packages.domain.allocation import Allocation, Candidate, Item, _rotations, allocate
from spotthebot.annotation.packages.domain.pairs import _apart
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.packages.errors import NothingToAnnotate, TooFewToCompare
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.kit.ids import new_ids

SECRET = bytes(range(32))
LENGTHS = st.lists(st.integers(1, 8), min_size=1, max_size=4, unique=True).map(lambda each: tuple(sorted(each)))
SPEAKERS = st.lists(st.tuples(st.integers(1, 9), st.sampled_from("abcde")), min_size=1, max_size=80)
"""Exchanges and stratum of each conversation."""
SIZES = st.integers(1, 25)
SECRETS = st.binary(min_size=32, max_size=32)
SEGMENTS = Unit((2, 3, 5))


def _candidates(conversations: Iterable[tuple[int, str]]) -> list[Candidate]:
    listed = list(conversations)
    return [
        Candidate(each_id, exchanges, stratum)
        for each_id, (exchanges, stratum) in zip(new_ids(len(listed)), listed, strict=True)
    ]


def _allocate(
    candidates: Sequence[Candidate],
    unit: Unit = SEGMENTS,
    *,
    package_size: int = 20,
    secret: bytes = SECRET,
    seed: int = 0,
) -> Allocation:
    return allocate(candidates, unit, package_size=package_size, secret=secret, seed=seed)


def _spread(counts: Iterable[int]) -> int:
    listed = list(counts)
    return max(listed) - min(listed)


class TestSegments:
    @given(SPEAKERS, LENGTHS, SIZES, SECRETS, st.integers(0, 1000))
    def test_meet_every_constraint(
        self, conversations: list[tuple[int, str]], lengths: tuple[int, ...], size: int, secret: bytes, seed: int
    ):
        candidates = _candidates(conversations)
        shown = {each.conversation_id: each.stratum for each in candidates if each.exchanges >= lengths[-1]}
        if not shown:
            with pytest.raises(NothingToAnnotate, match=f"{lengths[-1]} exchanges.* {len(candidates)} are too short"):
                _allocate(candidates, Unit(lengths), package_size=size, secret=secret, seed=seed)
            return
        found = _allocate(candidates, Unit(lengths), package_size=size, secret=secret, seed=seed)
        packages = [[(item.conversations[0], item.exchanges) for item in package.items] for package in found.packages]

        # Every conversation at every length or at none, each segment in one package, no conversation twice in one.
        assert found.too_short == len(candidates) - len(shown)
        assert found.conversations == set(shown)
        assert Counter(segment for package in packages for segment in package) == Counter(
            (each, length) for each in shown for length in lengths
        )
        for package in packages:
            assert 1 <= len(package) <= size
            assert len({conversation for conversation, _ in package}) == len(package)

        # As few packages as there can be, which differ by one at most.
        assert found.blocks == -(-len(shown) // size)
        assert len(packages) == found.blocks * len(lengths)
        assert _spread(map(len, packages)) <= 1
        for length in lengths:
            assert _spread(sum(each == length for _, each in package) for package in packages) <= 1
        for package in packages:
            assert _spread(sum(each == length for _, each in package) for length in lengths) <= 1
        for stratum in set(shown.values()):
            counts = [sum(shown[conversation] == stratum for conversation, _ in package) for package in packages]
            assert _spread(counts) <= 1

        # Packages of one block show the same conversations, others none of them.
        by_block: dict[int, set[Any]] = {}
        for package, allocated in zip(packages, found.packages, strict=True):
            assert by_block.setdefault(allocated.block, {each for each, _ in package}) == {each for each, _ in package}
        assert sum(map(len, by_block.values())) == len(shown)

    def test_spread_bots_about_evenly_too(self):
        """The demonstration's 15 pairs, 8 conversations each, and 30 of people: a package has 18 or 19 of 150."""
        pairs = [(a, b) for a in range(6) for b in range(a)]
        names = {f"{a}-{b}": (a, b) for a, b in pairs} | {"people": ()}
        for seed in range(20):
            candidates = _candidates([(5, name) for name in [*names] * 8 if name != "people"] + [(5, "people")] * 30)
            stratum = {each.conversation_id: each.stratum for each in candidates}
            found = _allocate(candidates, seed=seed)
            for bot in range(6):
                shares = [
                    sum(bot in names[stratum[item.conversations[0]]] for item in package.items)
                    for package in found.packages
                ]
                assert _spread(shares) <= 3  # of 5 a package: 40 conversations of a bot in 8 blocks

    def test_are_shown_in_an_order_that_the_secret_and_the_seed_decide(self):
        conversations = [(5, "ab"[number % 2]) for number in range(60)]

        def shape(**more: Any) -> list[list[tuple[int, int | None]]]:
            candidates = _candidates(conversations)
            numbers = {each.conversation_id: number for number, each in enumerate(candidates)}
            found = _allocate(candidates, **more)
            return [
                [(numbers[item.conversations[0]], item.exchanges) for item in each.items] for each in found.packages
            ]

        other = bytes(32)
        assert shape() == shape()  # whatever the ids
        assert len({str(shape(secret=secret, seed=seed)) for secret in (SECRET, other) for seed in (0, 1)}) == 4

    def test_are_packed_in_the_same_way_whatever_strata_are_called(self):
        conversations = [(5, "ab"[number % 2]) for number in range(60)]
        candidates = _candidates(conversations)
        renamed = [Candidate(each.conversation_id, 5, {"a": "z", "b": "c"}[each.stratum]) for each in candidates]
        assert _allocate(candidates) == _allocate(renamed)

    @pytest.mark.parametrize("strata", [1, 2, 7])
    def test_put_no_stratum_where_lengths_or_positions_are_others(self, strata: int):
        """A conversation of the first stratum has the length that a package has most of as often as any other.

        Of 19 items one length has 7, the others 6 each. Over 600 secrets the share of the stratum in that length is
        7/19 = .368 with a standard error of at most .02; four of them off is no draw.
        """
        in_the_fullest = positions = shown = 0
        for number in range(600):
            candidates = _candidates([(5, f"{position % strata}") for position in range(19)])
            first = {each.conversation_id for each in candidates if each.stratum == "0"}
            package = _allocate(candidates, secret=number.to_bytes(32, "big")).packages[0]
            ((length, count), *_) = Counter(item.exchanges for item in package.items).most_common(1)
            assert count == 7
            for position, item in enumerate(package.items):
                if first.issuperset(item.conversations):
                    shown += 1
                    in_the_fullest += item.exchanges == length
                    positions += position
        assert in_the_fullest / shown == pytest.approx(7 / 19, abs=0.08)
        assert positions / shown == pytest.approx(9, abs=0.9)  # 5.5 / sqrt(600) = .22

    def test_have_a_member_less_at_a_length_wherever_a_stratum_begins(self):
        """Of 5 members two lengths have two each and one has one: each member is that one in a fifth of all blocks.

        The standard error over 6000 blocks is .005.
        """
        shuffle = Shuffle(SECRET, 0)
        alone = Counter[int]()
        for block in range(6000):
            rotations = _rotations(5, 3, block, shuffle)
            times = Counter(rotations)
            assert sorted(times.values()) == [1, 2, 2]
            alone.update(member for member, each in enumerate(rotations) if times[each] == 1)
        assert {member: times / 6000 for member, times in alone.items()} == pytest.approx(
            dict.fromkeys(range(5), 0.2), abs=0.022
        )

    def test_are_beside_others_of_their_stratum_by_chance_only(self):
        """Of 20 items, ten of each stratum, two in a row are of one stratum in 9/19 of all cases."""
        alike = 0
        for number in range(300):
            candidates = _candidates([(5, "ab"[number % 2]) for number in range(20)])
            stratum = {each.conversation_id: each.stratum for each in candidates}
            package = _allocate(candidates, secret=number.to_bytes(32, "big")).packages[0]
            shown = [stratum[item.conversations[0]] for item in package.items]
            alike += sum(one == other for one, other in pairwise(shown))
        assert alike / (300 * 19) == pytest.approx(9 / 19, abs=0.03)  # sqrt(.25 / 5700) = .007

    def test_are_in_packages_that_do_not_follow_those_of_their_block(self):
        """The block of one package of 30 is that of the next in 2/29 of all cases, with three packages a block."""
        alike = 0
        for number in range(200):
            found = _allocate(_candidates([(5, "a")] * 20), package_size=2, secret=number.to_bytes(32, "big"))
            alike += sum(one.block == other.block for one, other in pairwise(found.packages))
        assert alike / (200 * 29) == pytest.approx(2 / 29, abs=0.02)  # in order it would be 20/29

    def test_do_not_remember_the_order_of_the_plan(self):
        """Neighbours of the plan are in one package as often as any two: the chance is 19/59 with 60 conversations."""
        together = 0
        for number in range(300):
            candidates = _candidates([(5, "ab"[number % 2]) for number in range(60)])
            found = _allocate(candidates, secret=number.to_bytes(32, "big"))
            block = {
                each: package.block
                for package in found.packages
                for item in package.items
                for each in item.conversations
            }
            together += sum(
                block[one.conversation_id] == block[other.conversation_id] for one, other in pairwise(candidates)
            )
        # Neighbours are of two strata, of which a block has 10 each: 10/30 of the others' members.
        assert together / (300 * 59) == pytest.approx(1 / 3, abs=0.02)

    def test_are_made_of_a_hundred_thousand_conversations_in_seconds(self):
        candidates = _candidates([(5, f"{number % 4951}") for number in range(100_000)])
        began = time.process_time()
        found = _allocate(candidates)
        assert time.process_time() - began < 20
        assert len(found.packages) == 3 * 5000


class TestDialogues:
    @given(SPEAKERS, SIZES)
    def test_are_shown_whole_and_once(self, conversations: list[tuple[int, str]], size: int):
        candidates = _candidates(conversations)
        found = _allocate(candidates, Unit(), package_size=size)
        items = [item for package in found.packages for item in package.items]
        assert Counter(each for item in items for each in item.conversations) == Counter(
            each.conversation_id for each in candidates
        )
        assert {item.exchanges for item in items} == {None}
        assert _spread(len(package.items) for package in found.packages) <= 1

    def test_without_a_single_exchange_are_left_out(self):
        assert _allocate(_candidates([(0, "a"), (1, "a")]), Unit()).too_short == 1


class TestPairs:
    @given(SPEAKERS, SIZES, SECRETS)
    def test_show_dialogues_of_different_speakers_once(
        self, conversations: list[tuple[int, str]], size: int, secret: bytes
    ):
        candidates = _candidates(conversations)
        strata = {each.conversation_id: each.stratum for each in candidates}
        largest = max(Counter(strata.values()).values())
        half, odd = divmod(len(candidates), 2)
        if largest > half + odd or not half:
            with pytest.raises(TooFewToCompare, match=f"{largest} of {len(candidates)} dialogues"):
                _allocate(candidates, Unit(dialogues=2), package_size=size, secret=secret)
            return
        found = _allocate(candidates, Unit(dialogues=2), package_size=size, secret=secret)
        items = [item for package in found.packages for item in package.items]
        assert found.unpaired == odd
        assert all(strata[left] != strata[right] for left, right in (item.conversations for item in items))
        assert len(found.conversations) == 2 * len(items) == 2 * half
        assert all(len(package.items) <= size for package in found.packages)

    @given(SPEAKERS, SECRETS)
    def test_have_each_speaker_on_the_left_as_often_as_on_the_right(
        self, conversations: list[tuple[int, str]], secret: bytes
    ):
        """Over all pairs and against each other speaker, once more or less at most."""
        candidates = _candidates(conversations)
        strata = {each.conversation_id: each.stratum for each in candidates}
        try:
            found = _allocate(candidates, Unit(dialogues=2), secret=secret)
        except TooFewToCompare:
            return
        balance, against = Counter[str](), Counter[tuple[str, str]]()
        for package in found.packages:
            for item in package.items:
                left, right = (strata[each] for each in item.conversations)
                balance.update({left: 1})
                balance.subtract({right: 1})
                against.update({(min(left, right), max(left, right)): 1 if left < right else -1})
        assert all(abs(each) <= 1 for each in (*balance.values(), *against.values()))

    @pytest.mark.parametrize(("speakers", "each"), [(2, 10), (4, 25), (5, 21), (9, 16)])
    def test_compare_every_two_speakers_equally_often(self, speakers: int, each: int):
        """n(n - 1)/2 couples share the pairs of n speakers; once more or less, as they are seldom a multiple."""
        candidates = _candidates([(5, str(number % speakers)) for number in range(speakers * each)])
        strata = {each.conversation_id: each.stratum for each in candidates}
        for secret in (SECRET, bytes(32)):
            found = _allocate(candidates, Unit(dialogues=2), secret=secret)
            met = Counter(frozenset(strata[each] for each in item.conversations) for item in _items(found))
            assert len(met) == speakers * (speakers - 1) // 2
            assert _spread(met.values()) <= 1

    @pytest.mark.parametrize("lengths", [(4, 5, 8, 10, 16, 20), (8, 10)])
    def test_put_dialogues_of_comparable_lengths_side_by_side(self, lengths: tuple[int, ...]):
        """Every dialogue has a partner that is at most a quarter longer: two speakers talk at length, two do not."""
        candidates = _candidates(
            [(length if name in "ab" else 3 * length, name) for name in "abcd" for length in lengths * 5]
        )
        exchanges = {each.conversation_id: each.exchanges for each in candidates}
        for number in range(20):
            found = _allocate(candidates, Unit(dialogues=2), secret=number.to_bytes(32, "big"))
            for item in _items(found):
                shorter, longer = sorted(exchanges[each] for each in item.conversations)
                assert longer <= 1.25 * shorter

    def test_are_spread_over_packages_by_the_two_speakers_of_each(self):
        candidates = _candidates([(5, "abcd"[number % 4]) for number in range(240)])
        strata = {each.conversation_id: each.stratum for each in candidates}
        found = _allocate(candidates, Unit(dialogues=2), package_size=20)
        couples = [
            Counter(frozenset(strata[each] for each in item.conversations) for item in package.items)
            for package in found.packages
        ]
        for couple in {couple for counts in couples for couple in counts}:
            assert _spread(counts[couple] for counts in couples) <= 1

    def test_do_not_follow_ids_or_the_names_of_strata(self):
        candidates = _candidates([(5, "abc"[number % 3]) for number in range(60)])
        renamed = [
            Candidate(each.conversation_id, 5, {"a": "z", "b": "y", "c": "x"}[each.stratum]) for each in candidates
        ]
        assert _allocate(candidates, Unit(dialogues=2)) == _allocate(renamed, Unit(dialogues=2))

    def test_are_other_ones_with_another_secret(self):
        candidates = _candidates([(5, "abc"[number % 3]) for number in range(60)])
        pairs = [
            {item.conversations for item in _items(_allocate(candidates, Unit(dialogues=2), secret=secret))}
            for secret in (SECRET, bytes(32))
        ]
        assert len(pairs[0] & pairs[1]) < 10  # a pair again by chance: 30 pairs of 60 * 40 possible ones, 0.4 expected

    def test_are_made_of_thousands_of_dialogues_of_a_thousand_speakers_in_seconds(self):
        candidates = _candidates([(5, f"{number % 1000}") for number in range(10_000)])
        began = time.process_time()
        found = _allocate(candidates, Unit(dialogues=2))
        assert time.process_time() - began < 20
        assert len(found.conversations) == 10_000


@pytest.mark.parametrize(
    ("one", "other", "apart"), [(4, 4, 0), (4, 5, 0), (5, 4, 0), (4, 6, 2), (8, 10, 0), (8, 11, 3), (11, 8, 3)]
)
def test_lengths_are_comparable_where_the_longer_has_a_quarter_more_at_most(one: int, other: int, apart: int):
    assert _apart(one, other) == apart


def _items(found: Allocation) -> list[Item]:
    return [item for package in found.packages for item in package.items]

"""The units that a campaign draws for two annotators, and the packages that they are in."""

from collections import Counter
from collections.abc import Iterable, Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.annotation.packages.domain.allocation import Allocation, Candidate, allocate, require_units
from spotthebot.annotation.packages.errors import TooFewUnits
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.kit.ids import new_ids

SECRET = bytes(range(32))
LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=4, unique=True).map(lambda each: tuple(sorted(each)))
STRATA = st.lists(st.integers(1, 20), min_size=1, max_size=6)
"""The number of conversations in each stratum."""
SECRETS = st.binary(min_size=32, max_size=32)
_Unit = tuple[UUID, ...]


def _candidates(strata: Sequence[int]) -> list[Candidate]:
    """Return conversations of five exchanges; the stratum `n` has as many as the n-th number says."""
    names = [str(number) for number, count in enumerate(strata) for _ in range(count)]
    return [Candidate(each, 5, name) for each, name in zip(new_ids(len(names)), names, strict=True)]


def _allocate(
    candidates: Sequence[Candidate],
    units_twice: int | None,
    unit: Unit | None = None,
    *,
    package_size: int = 20,
    secret: bytes = SECRET,
    seed: int = 0,
) -> Allocation:
    return allocate(
        candidates, unit or Unit(), package_size=package_size, units_twice=units_twice, secret=secret, seed=seed
    )


def _units(found: Allocation, *, annotated_twice: bool) -> list[_Unit]:
    """Return the dialogues or pairs of packages annotated twice, or of the other packages, once for each length."""
    packages = (package for package in found.packages if package.annotated_twice is annotated_twice)
    return [item.conversations for package in packages for item in package.items]


def _spread(counts: Iterable[int]) -> int:
    listed = list(counts)
    return max(listed, default=0) - min(listed, default=0)


class TestUnitsTwice:
    @given(STRATA, LENGTHS, st.integers(1, 25), SECRETS, st.data())
    def test_are_as_many_as_asked_for_and_in_packages_of_their_own(
        self, strata: list[int], lengths: tuple[int, ...], size: int, secret: bytes, data: st.DataObject
    ):
        candidates = _candidates(strata)
        count = data.draw(st.integers(1, len(candidates)))
        found = _allocate(candidates, count, Unit(lengths), package_size=size, secret=secret)
        twice, once = (_units(found, annotated_twice=each) for each in (True, False))
        assert Counter(twice).keys().isdisjoint(Counter(once))
        assert (len(set(twice)), len(set(once))) == (count, len(candidates) - count)
        # Each at every length, on either side.
        assert set(Counter(twice + once).values()) == {len(lengths)}
        assert found.blocks == -(-count // size) + -(-(len(candidates) - count) // size)
        stratum: dict[_Unit, str] = {(each.conversation_id,): each.stratum for each in candidates}
        for annotated_twice in (True, False):
            packages = [each for each in found.packages if each.annotated_twice is annotated_twice]
            assert _spread(len(each.items) for each in packages) <= 1
            assert all(len(each.items) <= size for each in packages)
            for name in set(stratum.values()):
                of_stratum = (sum(stratum[item.conversations] == name for item in each.items) for each in packages)
                assert _spread(of_stratum) <= 1
        blocks = {package.block for package in found.packages if package.annotated_twice}
        assert blocks.isdisjoint(package.block for package in found.packages if not package.annotated_twice)

    @given(STRATA, SECRETS, st.data())
    def test_are_the_same_share_of_every_stratum(self, strata: list[int], secret: bytes, data: st.DataObject):
        """Of the m units of a stratum, and of strata in a row, m * drawn / all are drawn, rounded up or down."""
        candidates = _candidates(strata)
        count = data.draw(st.integers(1, len(candidates)))
        stratum: dict[_Unit, str] = {(each.conversation_id,): each.stratum for each in candidates}
        found = _allocate(candidates, count, secret=secret)
        drawn = Counter(stratum[unit] for unit in _units(found, annotated_twice=True))
        for length in (1, 2):
            for first in range(len(strata) - length + 1):
                row = range(first, first + length)
                exact = count * sum(strata[each] for each in row) / len(candidates)
                assert abs(sum(drawn[str(each)] for each in row) - exact) < 1

    def test_are_pairs_where_dialogues_are_compared(self):
        """Two bots with eight dialogues each: eight pairs, three of them for two annotators."""
        found = _allocate(_candidates([8, 8]), 3, Unit(dialogues=2), package_size=2)
        twice, once = (_units(found, annotated_twice=each) for each in (True, False))
        assert (len(twice), len(once)) == (3, 5)
        assert len({conversation for pair in twice + once for conversation in pair}) == 16

    def test_are_drawn_by_the_secret_and_the_seed(self):
        def drawn(secret: bytes, seed: int) -> frozenset[int]:
            candidates = _candidates([30, 30])
            numbers: dict[_Unit, int] = {(each.conversation_id,): number for number, each in enumerate(candidates)}
            found = _allocate(candidates, 12, secret=secret, seed=seed)
            return frozenset(numbers[unit] for unit in _units(found, annotated_twice=True))

        assert drawn(SECRET, 0) == drawn(SECRET, 0)  # whatever the ids
        assert len({drawn(secret, seed) for secret in (SECRET, bytes(32)) for seed in (0, 1)}) == 4

    def test_may_be_any_with_the_same_probability(self):
        """3 of 10 units are drawn: each in .3 of all draws, with a standard error of .0102 over 2000 secrets."""
        candidates = _candidates([4, 6])
        drawn = Counter[_Unit]()
        for number in range(2000):
            found = _allocate(candidates, 3, secret=number.to_bytes(32, "big"))
            drawn.update(_units(found, annotated_twice=True))
        shares = {each.stratum + str(at): drawn[each.conversation_id,] / 2000 for at, each in enumerate(candidates)}
        assert shares == pytest.approx(dict.fromkeys(shares, 0.3), abs=0.04)

    def test_leave_the_order_of_the_others_to_chance(self):
        """Packages annotated twice are mixed with the others: one of 4 is the first in a quarter of all secrets."""
        candidates = _candidates([40])
        first = sum(
            _allocate(candidates, 10, package_size=10, secret=number.to_bytes(32, "big")).packages[0].annotated_twice
            for number in range(1000)
        )
        assert first / 1000 == pytest.approx(0.25, abs=0.055)  # sqrt(.1875 / 1000) = .0137

    def test_leave_every_package_as_it_was_where_none_are_drawn(self):
        candidates = _candidates([7, 30, 12])
        plain = allocate(candidates, Unit((2, 3, 5)), package_size=20, secret=SECRET, seed=3)
        assert _allocate(candidates, None, Unit((2, 3, 5)), seed=3) == plain
        assert not any(package.annotated_twice for package in plain.packages)

    def test_may_be_all(self):
        found = _allocate(_candidates([3, 4]), 7, package_size=4)
        assert [len(package.items) for package in found.packages if package.annotated_twice] in ([3, 4], [4, 3])
        assert len(found.packages) == 2

    @pytest.mark.parametrize(
        ("unit", "strata", "units", "called"),
        [(Unit(), [2, 3], 5, "dialogues"), (Unit(dialogues=2), [2, 3], 2, "pairs of dialogues")],
    )
    def test_are_no_more_than_there_are(self, unit: Unit, strata: list[int], units: int, called: str):
        said = f"units_twice is {units + 1}, but there are only {units} {called} to annotate: set it to {units} or less"
        with pytest.raises(TooFewUnits, match=said) as refused:
            _allocate(_candidates(strata), units + 1, unit)
        assert [each.pointer for each in refused.value.fields] == ["/units_twice"]
        require_units(units, units, unit)
        require_units(units, None, unit)

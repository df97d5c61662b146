from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.annotation.domain.conversations import ShownConversation
from spotthebot.annotation.domain.errors import NothingToAnnotate
from spotthebot.annotation.domain.packages import pack
from spotthebot.contracts.conversations import Turn
from spotthebot.kit.ids import new_ids


def _conversations(lengths: list[int]) -> list[ShownConversation]:
    return [
        ShownConversation(
            conversation_id=each_id,
            external_id=None,
            opening=(),
            turns=tuple(Turn(speaker="AB"[number % 2], text="x") for number in range(2 * exchanges)),
        )
        for each_id, exchanges in zip(new_ids(len(lengths)), lengths, strict=True)
    ]


class TestPack:
    @given(
        st.lists(st.integers(1, 8), min_size=1, max_size=60),
        st.lists(st.integers(1, 8), min_size=1, max_size=4, unique=True).map(sorted),
        st.integers(1, 25),
        st.integers(0, 1000),
    )
    def test_puts_every_segment_into_one_package_and_no_conversation_twice_into_a_package(
        self, exchanges: list[int], lengths: list[int], size: int, seed: int
    ):
        conversations = _conversations(exchanges)
        needed = {
            (each.conversation_id, length) for each in conversations for length in lengths if length <= each.exchanges
        }
        if not needed:
            with pytest.raises(NothingToAnnotate):
                pack(conversations, lengths, package_size=size, seed=seed)
            return
        packages = pack(conversations, lengths, package_size=size, seed=seed)
        packed = Counter((segment.conversation_id, segment.exchanges) for package in packages for segment in package)
        assert set(packed) == needed
        assert set(packed.values()) == {1}
        for package in packages:
            assert 1 <= len(package) <= size
            assert len({segment.conversation_id for segment in package}) == len(package)

    def test_packs_in_the_same_way_with_the_same_seed(self):
        conversations = _conversations([5] * 30)
        first, again, other = (pack(conversations, (2, 3, 5), package_size=7, seed=seed) for seed in (1, 1, 2))
        assert first == again
        assert first != other

    def test_mixes_lengths_in_a_package(self):
        packages = pack(_conversations([5] * 30), (2, 3, 5), package_size=10, seed=1)
        assert all({segment.exchanges for segment in package} == {2, 3, 5} for package in packages)

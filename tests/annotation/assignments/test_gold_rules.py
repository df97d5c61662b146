"""Which gold dialogues could be told from a campaign's items without reading, and how far each is shown."""

from typing import Any
from uuid import UUID

import pytest

from spotthebot.annotation.assignments.domain.gold import Extent, ShownSpeakers, check_alike, check_gold, place_gold
from spotthebot.annotation.assignments.errors import GoldStandsOut, GoldTooShort, NothingLeft
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.contracts.annotation.trainings import Training
from tests.factories.annotator_trainings import gold_dialogue, gold_pair, training, training_of_pairs

ANNOTATOR = UUID(int=1)
SHUFFLE = Shuffle(b"secret", 0)


def _gold(*exchanges: int) -> Training:
    return Training.model_validate(
        training(dialogues=[gold_dialogue(f"{number}", exchanges=each) for number, each in enumerate(exchanges)])
    )


def _pair(left: int, right: int) -> Training:
    pair = gold_pair("one", exchanges=left, right_exchanges=right)
    return Training.model_validate(training_of_pairs(dialogues=[pair]))


def _spoken(speakers: str) -> Training:
    turns = [{"speaker": side, "text": f"{number}"} for number, side in enumerate(speakers)]
    return Training.model_validate(training(dialogues=[gold_dialogue("x", turns=turns)]))


def _shown(*items: str | tuple[str, str]) -> list[ShownSpeakers]:
    return [ShownSpeakers(each) if isinstance(each, str) else ShownSpeakers(*each) for each in items]


def _why(gold: Training, shown: list[ShownSpeakers], *, is_cut: bool) -> str | None:
    try:
        check_alike(gold, shown, is_cut=is_cut)
    except GoldStandsOut as error:
        return str(error.facts["why"])
    return None


class TestCheckGold:
    def test_says_how_many_turns_the_longest_segment_shows(self):
        check_gold(_gold(3, 3), per_package=1, packages_per_annotator=2, longest=3)
        with pytest.raises(GoldTooShort, match=r"Gold dialogue 1 of .* has 4 turns: it needs 6"):
            check_gold(_gold(3, 2), per_package=1, packages_per_annotator=2, longest=3)


class TestCheckAlike:
    @pytest.mark.parametrize(
        ("speakers", "why"),
        [
            ("ABAB", None),
            ("ABABAB", None),  # only the beginning is shown
            ("ABA", "it has 3 turns, not at least 4"),
            ("BABA", "its speakers take turns as BABA, as in no conversation"),
            ("AABB", "its speakers take turns as AABB, as in no conversation"),
        ],
    )
    def test_takes_what_is_shown_as_far_as_any_item_as_its_speakers_take_turns(self, speakers: str, why: str | None):
        assert _why(_spoken(speakers), _shown("AB", "ABAB"), is_cut=True) == why

    def test_takes_what_begins_as_items_of_each_length_do(self):
        """Where both sides begin conversations, but only B those of two exchanges, AB is of gold if it goes on."""
        assert _why(_spoken("ABAB"), _shown("AB", "BA", "BABA"), is_cut=True) is not None
        assert _why(_spoken("BABA"), _shown("AB", "BA", "BABA"), is_cut=True) is None

    @pytest.mark.parametrize(
        ("exchanges", "why"),
        [
            (2, None),
            (4, None),
            (1, "it has 2 turns, as no conversation has"),
            (3, "it has 6 turns, as no conversation has"),
            (5, "it has 10 turns, as no conversation has"),
        ],
    )
    def test_takes_whole_dialogues_that_are_as_long_as_an_item(self, exchanges: int, why: str | None):
        assert _why(_gold(2, exchanges), _shown("ABAB", "ABABABAB"), is_cut=False) == why

    def test_takes_whole_dialogues_whose_speakers_take_turns_as_those_of_an_item(self):
        assert _why(_spoken("BABA"), _shown("ABAB"), is_cut=False) == (
            "its speakers take turns as BABA, as in no conversation"
        )
        assert _why(_spoken("BABA"), _shown("ABAB", "BABAB", "BABA"), is_cut=False) is None

    @pytest.mark.parametrize(
        ("left", "right", "why"),
        [
            (2, 2, None),
            (2, 3, None),
            (3, 2, None),
            (5, 5, None),
            (2, 5, "one of its dialogues has 6 turns more than the other, not 2 at most"),
            (1, 2, "it has 2 turns, as no conversation has"),
            (5, 4, "it has 8 turns, as no conversation has"),
        ],
    )
    def test_takes_pairs_that_are_as_long_as_others_and_differ_as_much(self, left: int, right: int, why: str | None):
        shown = _shown(("ABAB", "ABABAB"), ("ABAB" * 2 + "AB", "ABAB" * 2 + "AB"))
        assert _why(_pair(left, right), shown, is_cut=False) == why

    def test_looks_at_the_speakers_on_the_right_too(self):
        pair = gold_pair("one") | {"right_turns": [{"speaker": side, "text": "x"} for side in "BABA"]}
        gold = Training.model_validate(training_of_pairs(dialogues=[pair]))
        assert _why(gold, _shown(("ABAB", "ABAB")), is_cut=False) is not None
        assert _why(gold, _shown(("ABAB", "BABA")), is_cut=False) is None

    def test_takes_anything_where_nothing_is_shown(self):
        assert _why(_gold(1), [], is_cut=True) is None


class TestPlaceGold:
    def test_shows_each_as_far_as_one_of_the_items_with_its_opening(self):
        gold = _gold(*[5] * 40)
        extents = [Extent(5, 1), Extent(7, 1), Extent(9, 1)]
        placed = place_gold(gold, SHUFFLE, ANNOTATOR, positions=range(40), seen=(), extents=extents)
        assert {each.extent for each in placed} == {*extents}
        assert all(len(each.shown_of(gold).turns) == each.extent.turns for each in placed)
        assert [each.exchanges for each in extents] == [2, 3, 4]

    def test_shows_pairs_whole(self):
        gold = _pair(2, 3)
        (placed,) = place_gold(gold, SHUFFLE, ANNOTATOR, positions=[0], seen=(), extents=[])
        shown = placed.shown_of(gold)
        assert shown == gold.dialogues[0]

    def test_draws_what_was_not_seen_and_says_when_nothing_is_left(self):
        drawn: dict[str, Any] = {"positions": [0, 1], "extents": []}
        placed = place_gold(_gold(1, 1, 1), SHUFFLE, ANNOTATOR, seen={1}, **drawn)
        assert {each.dialogue for each in placed} == {0, 2}
        with pytest.raises(NothingLeft):
            place_gold(_gold(1, 1, 1), SHUFFLE, ANNOTATOR, seen={1, 2}, **drawn)

"""Ratings of chats as values of the bots, worked by hand."""

from collections.abc import Sequence

import pytest

from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.values.domain.value_table import RatedValue
from spotthebot.contracts.conversations.chats import ChatRatingOut
from tests.factories.rated_chats import rated_chat


def _chats(*ratings: ChatRatingOut, **asked: str) -> RatedChats:
    return RatedChats("everyday", complete=True, asked=asked, ratings=ratings, texts={})


BOTH = rated_chat(1, "ann", {1: ("ada", {"quality": 5}), 2: ("bob", {"quality": 2})}, preferred=1)
NEITHER = rated_chat(2, "ben", {3: ("bob", {"quality": 3}), 4: ("ada", {"quality": 3})})


def _given(values: Sequence[RatedValue]) -> list[tuple[int, str, str, float]]:
    return [(int(each.conversation[-1]), each.bot, each.annotator, each.value) for each in values]


class TestScores:
    def test_are_values_of_the_bot_by_its_person(self):
        chats = _chats(BOTH, NEITHER)
        assert _given([*chats.rated("quality")]) == [
            (1, "ada", "ann", 5),
            (2, "bob", "ann", 2),
            (3, "bob", "ben", 3),
            (4, "ada", "ben", 3),
        ]
        found = chats.values("quality")
        assert (found.names, found.bot.tolist(), found.value.tolist()) == (("ada", "bob"), [0, 1, 1, 0], [5, 2, 3, 3])
        assert (found.measure.lowest, found.measure.highest, found.measure.level) == (1, 5, "dialogue")

    def test_have_the_questions_that_were_asked_even_if_nobody_answered(self):
        chats = _chats(BOTH, kind="Was it kind?")
        assert [(each.measure, each.question) for each in chats.measures.values()] == [
            ("kind", "Was it kind?"),
            ("quality", "To what degree was this conversation of high quality, all in all?"),
            ("preferred", "Which of the two conversations was better?"),
        ]
        assert chats.values("kind").left_out == len(chats.values("kind").value) == 0

    def test_leave_out_people(self):
        chats = _chats(rated_chat(1, "ann", {1: ("HU", {"quality": 5}), 2: ("bob", {"quality": 2})}, preferred=1))
        assert _given([*chats.rated("quality")]) == [(2, "bob", "ann", 2)]
        assert (chats.values("quality").left_out, chats.values("preferred").left_out) == (1, 1)
        assert chats.bots == {"bob"}

    def test_have_a_fingerprint_that_changes_with_each_rating(self):
        other = rated_chat(1, "ann", {1: ("ada", {"quality": 5}), 2: ("bob", {"quality": 1})}, preferred=1)
        turned = rated_chat(1, "ann", {1: ("ada", {"quality": 5}), 2: ("bob", {"quality": 2})}, preferred=2)
        assert len({_chats(each, NEITHER).sha256 for each in (BOTH, other, turned)} | {_chats(BOTH).sha256}) == 4


class TestPreferences:
    def test_are_values_of_both_dialogues_and_half_of_each_where_neither_was_better(self):
        values = [*_chats(BOTH, NEITHER).rated("preferred")]
        assert _given(values) == [
            (1, "ada", "ann", 1),
            (2, "bob", "ann", 0),
            (3, "bob", "ben", 0.5),
            (4, "ada", "ben", 0.5),
        ]
        assert [each.pair for each in values] == [f"{values[0].conversation}+{values[1].conversation}"] * 2 + [
            f"{values[2].conversation}+{values[3].conversation}"
        ] * 2

    def test_are_games_of_the_two_bots(self):
        found = _chats(BOTH, NEITHER).values("preferred")
        assert (found.bot.tolist(), found.other.tolist(), found.value.tolist()) == ([0, 1], [1, 0], [1, 0.5])

    @pytest.mark.parametrize(
        ("rated", "preferred"),
        [
            ({1: ("ada", {"quality": 5})}, None),
            ({1: ("ada", {"quality": 5}), 2: ("bob", {})}, None),
        ],
    )
    def test_are_none_where_two_conversations_were_not_compared(self, rated, preferred):
        assert "preferred" not in _chats(rated_chat(1, "ann", rated, preferred=preferred)).measures

    def test_count_where_one_conversation_was_broken_off_but_the_other_preferred(self):
        chats = _chats(rated_chat(1, "ann", {1: ("ada", {"quality": 5}), 2: ("bob", {})}, preferred=1))
        assert _given([*chats.rated("preferred")]) == [(1, "ada", "ann", 1), (2, "bob", "ann", 0)]

    def test_compare_no_bot_with_itself(self):
        chats = _chats(rated_chat(1, "ann", {1: ("ada", {"quality": 5}), 2: ("ada", {"quality": 2})}, preferred=1))
        assert ([*chats.rated("preferred")], chats.values("preferred").left_out) == ([], 1)

    def test_by_a_question_are_measures_of_their_own(self):
        """ann prefers the second all in all, the first for its quality, and neither for its humour."""
        by_question = {"quality": 1, "humour": None}
        scores = {1: ("ada", {"quality": 5}), 2: ("bob", {"quality": 2})}
        chats = _chats(rated_chat(1, "ann", scores, preferred=2, preferences=by_question), NEITHER)
        assert [*chats.measures] == ["quality", "preferred", "preferred:humour", "preferred:quality"]
        assert chats.measures["preferred:quality"].kind == "preference"
        assert _given([*chats.rated("preferred")])[:2] == [(1, "ada", "ann", 0), (2, "bob", "ann", 1)]
        assert _given([*chats.rated("preferred:quality")]) == [(1, "ada", "ann", 1), (2, "bob", "ann", 0)]
        assert _given([*chats.rated("preferred:humour")]) == [(1, "ada", "ann", 0.5), (2, "bob", "ann", 0.5)]
        turned = rated_chat(1, "ann", scores, preferred=2, preferences=by_question | {"quality": 2})
        assert _chats(turned, NEITHER).sha256 != chats.sha256

    def test_have_another_name_than_a_question(self):
        chats = _chats(rated_chat(1, "ann", {1: ("ada", {"preferred": 5}), 2: ("bob", {"preferred": 2})}, preferred=1))
        assert {name: each.kind for name, each in chats.measures.items()} == {
            "preferred": "scale",
            "chats.preferred": "preference",
        }

"""What a page shows of a conversation, and which conversations a form asks for: rules without a browser."""

from typing import Any
from uuid import uuid4

import pytest

from spotthebot.contracts.annotation.annotations import AnnotationOut
from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from spotthebot.contracts.conversations.exports import ExportedQualityFlags
from spotthebot.contracts.conversations.quality import PersonalDataOut
from spotthebot.contracts.fed.score_jobs import ContextScoresOut
from spotthebot.web.conversations.domain import Column, annotation_table, bubbles, excerpt, scores_by_bot, widest
from spotthebot.web.conversations.forms import Filters
from tests.factories.exported import exported

FLAGS = ExportedQualityFlags(
    words=9,
    language=None,
    language_probability=None,
    exact_duplicate_of=None,
    near_duplicate_of=None,
    similarity=None,
    in_training=None,
    profanity=(1,),
    personal_data=(PersonalDataOut(position=2, kind="phone"), PersonalDataOut(position=2, kind="email")),
)


def _annotation(exchanges: int, answer: dict[str, Any], **more: Any) -> AnnotationOut:
    whole = {
        "id": uuid4(),
        "conversation_id": uuid4(),
        "package_id": uuid4(),
        "exchanges": exchanges,
        "right": None,
        "annotator": f"ann-{exchanges}",
        "annotator_kind": "person",
        "judge": None,
        "judge_labels": None,
        "answer": answer,
        "decisions": (),
        "started_at": None,
        "ended_at": None,
        "elapsed_ms": 1500,
        "reported_ms": None,
    }
    return AnnotationOut.model_validate(whole | more)


def _decision(question: str, target: str, exchanges: int) -> dict[str, Any]:
    at = "2026-01-01T00:00:00Z"
    return {"question": question, "target": target, "exchanges": exchanges, "opened_at": at, "decided_at": at}


class TestBubbles:
    def test_have_the_opening_first_and_the_flags_of_their_turns(self):
        shown = bubbles(exported(0).model_copy(update={"quality_flags": FLAGS}), [])
        assert [each.number for each in shown] == [None, None, 1, 2, 3, 4]
        assert [each.is_profane for each in shown[2:]] == [False, True, False, False]
        assert [each.personal_data for each in shown[2:]] == [[], [], ["email", "phone"], []]
        assert {each.mark for each in shown} == {None}

    def test_are_marked_where_annotators_had_read_to(self):
        votes = [("human", "bot"), ("bot", "bot"), ("bot", "human")]
        made = [(_annotation(1, {"entity": {"A": a, "B": b}, "fluency": "A"}), False) for a, b in votes]
        shown = bubbles(exported(0, exchanges=3), [*made, (_annotation(9, {}), False)])
        marks = {each.number: each.mark for each in shown if each.mark}
        assert [*marks] == [2, 6]  # one exchange is two turns; more than there are is the end
        assert (marks[2].exchanges, marks[2].annotators, marks[6].annotators) == (1, 3, 1)
        assert [(each.side, each.counts) for each in marks[2].votes] == [
            ("A", {"bot": 2, "human": 1}),
            ("B", {"bot": 2, "human": 1}),
        ]

    def test_are_marked_where_each_side_was_decided_if_exchanges_were_opened_one_by_one(self):
        decided = (_decision("entity", "A", 1), _decision("entity", "B", 2))
        made = _annotation(3, {"entity": {"A": "human", "B": "bot"}}, decisions=decided)
        shown = bubbles(exported(0, exchanges=3), [(made, False)])
        assert [(each.number, [vote.side for vote in each.mark.votes]) for each in shown if each.mark] == [
            (2, ["A"]),
            (4, ["B"]),
        ]

    def test_a_conversation_on_the_right_is_marked_at_its_own_length(self):
        right = {"conversation_id": uuid4(), "exchanges": 2}
        shown = bubbles(exported(0, exchanges=3), [(_annotation(1, {"better": "A"}, right=right), True)])
        assert [each.number for each in shown if each.mark] == [4]


class TestAnnotationTable:
    def test_has_a_column_for_each_question_and_target_of_any_protocol(self):
        table = annotation_table(
            [
                (_annotation(3, {"entity": {"A": "bot"}, "why": ["slow", "odd"]}), False),
                (_annotation(2, {"entity": {"A": "human", "B": "bot"}, "errs": {"4": True}, "note": None}), False),
            ]
        )
        assert [row.exchanges for row in table.rows] == [2, 3]
        assert table.columns == [
            Column("entity", side="A"),
            Column("entity", side="B"),
            Column("errs", turn=5),
            Column("note"),
            Column("why"),
        ]
        assert table.rows[1].values == {Column("entity", side="A"): "bot", Column("why"): "slow, odd"}
        assert table.rows[0].seconds == 1.5

    def test_counts_turns_as_the_page_does_where_annotators_saw_the_opening(self):
        table = annotation_table([(_annotation(1, {"errs": {"1": 1, "2": 2}}), False)], shown_opening=2)
        assert table.columns == [Column("errs", turn=2, of_opening=True), Column("errs", turn=1)]


class TestScores:
    def test_a_bot_has_those_after_its_last_turn_beside_what_length_says(self):
        def context(bot: str, turn: int, score: float, baseline: float | None) -> ContextScoresOut:
            return ContextScoresOut(
                conversation_id=uuid4(),
                turn=turn,
                bot=bot,
                length=9,
                turns_left_out=0,
                scores={"fluent": score},
                length_baselines={"fluent": baseline},
            )

        bots = scores_by_bot(
            [context("b", 5, 4.0, 4.5), context("a", 4, 2.0, None), context("b", 3, 1.0, 1.004)], opening=1
        )
        assert [(each.bot, each.turn, [before.turn for before in each.earlier]) for each in bots] == [
            ("a", 3, []),
            ("b", 4, [2]),
        ]
        assert [each.rows[0].beyond for each in bots] == [None, -0.5]
        assert str(bots[1].earlier[0].rows[0].beyond) == "0.0"  # no -0.00
        assert widest(bots) == 0.5


class TestFilters:
    @pytest.mark.parametrize(
        ("given", "matching"),
        [
            ({}, {}),
            ({"text": "  hi\0 ", "participant": "HU"}, {"text": "hi", "participant": "HU"}),
            ({"ending": "farewell"}, {"ended_by": Ending.FAREWELL}),
            ({"ending": "failed", "flag": "profanity"}, {"state": ConversationState.FAILED, "flag": "profanity"}),
            ({"min_turns": "4", "max_turns": "9999"}, {"min_turns": 4, "max_turns": 1000}),
            ({"min_turns": "-1", "max_turns": "²", "ending": "over", "flag": "rude", "text": " "}, {}),
            ({"text": "x" * 300, "min_turns": "9" * 5000}, {"text": "x" * 200}),
        ],
    )
    def test_ask_for_what_there_is_and_for_nothing_else(self, given: dict[str, str], matching: dict[str, Any]):
        filters = Filters.read(given)
        assert filters.matching() == matching
        assert bool(filters) is bool(matching)

    def test_go_on_in_links(self):
        assert (
            Filters.read({"text": "a&b=ü", "max_turns": "3"}).query(cursor="=")
            == "?text=a%26b%3D%C3%BC&max_turns=3&cursor=%3D"
        )
        assert Filters().query() == ""


class TestExcerpt:
    def test_shows_what_was_searched_for_in_the_middle_of_a_long_turn(self):
        found = excerpt(["first", "x" * 300 + "NEEDLE" + "y" * 300], "needle", longest=30)
        assert (found.before, found.match) == ("…" + "x" * 10, "NEEDLE")
        assert found.after == "y" * 14 + "…"

    def test_is_the_beginning_where_nothing_was_searched_for_or_it_stands_nowhere(self):
        assert excerpt(["abcdef"], None, longest=3).before == "abc…"
        assert excerpt(["abc"], "z").before == "abc"
        assert excerpt([], "z").before == ""

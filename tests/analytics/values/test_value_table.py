"""The table of values, worked by hand."""

from itertools import permutations
from math import nan
from typing import Any

import numpy as np
import pytest

from spotthebot.analytics.values.domain.assessed_values import MeasuredValues, preferences_of
from spotthebot.analytics.values.domain.value_table import LONGEST_SECONDS, RatedValue, ValueTable
from spotthebot.contracts.annotation.annotations import AnnotatorKind

JUDGE = AnnotatorKind.JUDGE


def _value(conversation: str, bot: str, annotator: str, value: float, **more: Any) -> RatedValue:
    names: dict[str, Any] = {"turn": "", "exchanges": "", "pair": "", "seconds": nan} | more
    return RatedValue(conversation=conversation, bot=bot, annotator=annotator, value=value, **names)


def _table(*values: tuple[str, RatedValue], pairs_named: bool = True) -> ValueTable:
    table = ValueTable(pairs_named=pairs_named)
    for measure, value in values:
        table.add(measure, [value])
    return table


def _seconds(*seconds: float, **more: Any) -> float | None:
    given = [_value("c", "ada", "ann", 1, turn=str(at), seconds=each, **more) for at, each in enumerate(seconds)]
    return _table(*(("kind", each) for each in given)).measured("kind")[1].minutes


RATED = [
    ("kind", _value("c2", "bob", "ann", 4)),
    ("kind", _value("c1", "bob", "ben", 2)),
    ("kind", _value("c1", "ada", "ann", 3)),
    ("quality", _value("c1", "ada", "eve", 5)),
]


class TestMeasured:
    def test_has_a_dialogue_for_each_bot_in_a_conversation(self):
        (kind,), quality, dialogues = _table(*RATED).measured("quality")
        assert (dialogues.bots, dialogues.bot.tolist(), dialogues.text.tolist()) == (
            ("ada", "bob"),
            [0, 1, 1],
            [0, 0, 1],
        )
        assert (kind.name, kind.dialogue.tolist(), kind.value.tolist()) == ("kind", [0, 1, 2], [3, 2, 4])
        assert (quality.name, quality.dialogue.tolist()) == ("quality", [0])

    def test_does_not_depend_on_the_order_of_rows(self):
        (first, *others) = [_table(*order).measured("quality") for order in permutations(RATED)]
        for (kind,), quality, dialogues in others:
            for one, other in ((kind, first[0][0]), (quality, first[1])):
                assert _columns(one) == _columns(other)
            assert (dialogues.bot.tolist(), dialogues.text.tolist()) == (first[2].bot.tolist(), first[2].text.tolist())

    def test_counts_the_first_of_two_values_of_one_annotator(self):
        table = _table(("kind", _value("c", "ada", "ann", 2)), ("kind", _value("c", "ada", "ann", 5)))
        assert table.measured("kind")[1].value.tolist() == [2]

    def test_counts_all_values_of_unknown_annotators(self):
        table = _table(("kind", _value("c", "ada", "", 5)), ("kind", _value("c", "ada", "", 2)))
        found = table.measured("kind")[1]
        assert (found.value.tolist(), found.annotator) == ([2, 5], None)

    def test_tells_turns_and_lengths_apart(self):
        rated = [("2", "3"), ("2", "5"), ("10", "3")]
        found = _table(*(("kind", _value("c", "ada", "ann", 1, turn=t, exchanges=e)) for t, e in rated)).measured(
            "kind"
        )
        assert len(set(found[1].unit.tolist())) == 3
        assert found[1].level == "turn"

    def test_is_of_dialogues_where_sides_are_named_in_place_of_turns(self):
        table = _table(
            ("kind", _value("c", "ada", "ann", 1, turn="A")), ("kind", _value("c", "ada", "ann", 2, turn="B"))
        )
        found = table.measured("kind")[1]
        assert (found.level, found.value.tolist()) == ("dialogue", [1, 2])


def _columns(found: MeasuredValues) -> list[Any]:
    return [found.dialogue.tolist(), found.turn.tolist(), np.asarray(found.annotator).tolist(), found.value.tolist()]


COMPARED = [
    ("better", _value("c1", "ada", "ann", 1, pair="c1+c2")),
    ("better", _value("c2", "bob", "ann", 0, pair="c1+c2")),
    ("better", _value("c2", "bob", "ann", 0.5, pair="c2+c3")),
    ("better", _value("c3", "ada", "ann", 0.5, pair="c2+c3")),
]


class TestPairs:
    def test_keep_comparisons_apart_that_share_a_dialogue(self):
        """ada's dialogue c1 and bob's c2, then ada's c3 and bob's c2: dialogues 0, 1 and 2, 1."""
        _, found, dialogues = _table(*COMPARED).measured("better")
        first, second = preferences_of(found, dialogues) or (np.array([]), np.array([]))
        assert found.dialogue[first].tolist() == [0, 2]
        assert found.dialogue[second].tolist() == [1, 1]

    def test_meet_ratings_of_their_dialogues(self):
        (kind,), better, _ = _table(*COMPARED, ("kind", _value("c2", "bob", "ben", 4))).measured("better")
        assert kind.dialogue.tolist() == [1]
        assert 1 in better.dialogue

    def test_are_of_one_conversation_where_the_table_names_none(self):
        rows = [("better", _value("c", "ada", "ann", 1)), ("better", _value("c", "bob", "ann", 0))]
        for pairs_named, expected in ((False, True), (True, False)):
            _, found, dialogues = _table(*rows, pairs_named=pairs_named).measured("better")
            assert (preferences_of(found, dialogues) is not None) is expected


class TestTexts:
    def test_join_conversations_directly_or_through_others(self):
        table = _table(*(("kind", _value(f"c{at}", "ada", "ann", at)) for at in range(5)))
        for conversation, text in (("c0", "x"), ("c2", "x"), ("c2", "y"), ("c4", "y"), ("c1", "z"), ("gone", "z")):
            table.add_text(conversation, text)
        assert table.measured("kind")[2].text.tolist() == [0, 1, 0, 2, 0]
        assert {row.conversation: row.text for row in table} == {"c0": "x", "c1": "z", "c2": "x", "c3": None, "c4": "x"}


class TestMinutes:
    def test_are_the_sum_of_an_annotator_s_seconds_for_a_dialogue(self):
        assert _seconds(30, 60, nan) == 1.5

    def test_leave_out_times_of_more_than_a_day_and_negative_ones(self):
        assert _seconds(60, LONGEST_SECONDS + 1, -1) == 1

    def test_are_unknown_without_times(self):
        assert _seconds(nan, nan) is None

    def test_are_the_median_of_annotators_and_dialogues(self):
        rated = [("c1", "ann", 60), ("c1", "ben", 120), ("c2", "ann", 300)]
        table = _table(*(("kind", _value(of, "ada", who, 1, seconds=time)) for of, who, time in rated))
        assert table.measured("kind")[1].minutes == pytest.approx(2)


class TestRows:
    def test_say_what_was_added_measure_by_measure(self):
        table = _table(
            ("kind", _value("c1", "ada", "gpt", 4, turn="2", exchanges="3", seconds=1.5, annotator_kind=JUDGE)),
            *COMPARED[:2],
        )
        rows = [row.model_dump() for row in table]
        assert len(table) == len(rows) == 3
        assert rows[0] == {
            "conversation": "c1",
            "turn": "2",
            "bot": "ada",
            "annotator": "gpt",
            "annotator_kind": "judge",
            "dimension": "kind",
            "value": 4,
            "exchanges": 3,
            "pair": None,
            "text": None,
            "seconds": 1.5,
        }
        assert [(row["conversation"], row["pair"], row["exchanges"], row["seconds"]) for row in rows[1:]] == [
            ("c1", "c1+c2", None, None),
            ("c2", "c1+c2", None, None),
        ]

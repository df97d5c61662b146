"""Which questions a protocol asks, which answers it takes, and their long rows."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spotthebot.annotation.protocols.domain.answers import AnswerValue, asked_questions, check_answer, missing, values
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.questions import UnitShape, questions_of, targets_of
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.turns import Turn
from tests.factories.protocols import JSON, TEXT, answers, protocol, protocols, shapes, single

SPOT_THE_BOT = built_in_protocols()["spot_the_bot", 1]
FACTS = built_in_protocols()["factual_behaviour", 1]
SEGMENT = UnitShape.of_turns([Turn(speaker="A", text="Hi"), Turn(speaker="B", text="Hello")])
ANNOTATION = {
    "entity": {"A": "human", "B": "unsure"},
    "fluency": "A",
    "sensibleness": "tie",
    "specificity": "B",
}
TURNS = {"kind": "turns", "speaker": "B"}


def _pointers(*arguments: Any) -> list[str]:
    return [fault.pointer for fault in check_answer(*arguments)]


class TestAskedQuestions:
    def test_for_spot_the_bot_are_a_label_for_each_side_and_three_features(self):
        asked = [(each.step, each.question.id, each.target) for each in asked_questions(SPOT_THE_BOT, SEGMENT, {})]
        assert asked == [
            ("decide", "entity", "A"),
            ("decide", "entity", "B"),
            ("features", "fluency", None),
            ("features", "sensibleness", None),
            ("features", "specificity", None),
        ]

    def test_follow_the_choices_that_were_taken_of_the_same_turn(self):
        """The tree of the document: facts -> accuracy where yes -> search where unsure."""
        shape = UnitShape(speakers=("A", "B"))
        answer = {"facts": {"0": "yes", "1": "no"}, "accuracy": {"0": "unsure"}}
        asked = [(each.question.id, each.target) for each in asked_questions(FACTS, shape, answer)]
        assert asked == [("facts", "0"), ("facts", "1"), ("accuracy", "0"), ("search", "0")]

    def test_per_turn_are_those_of_the_units_speaker(self):
        asking = protocol([single("x", "yes", "no", per="turn")], unit=TURNS)
        shape = UnitShape(speakers=("A", "B", "A", "B"))
        assert [each.target for each in asked_questions(asking, shape, {})] == ["1", "3"]

    def test_per_side_follow_a_question_about_the_unit(self):
        asking = protocol([single("x", "yes", "no"), single("y", "a", "b", per="side", when=_when("x", "yes"))])
        asked = asked_questions(asking, SEGMENT, {"x": "yes"})
        assert [(each.question.id, each.target) for each in asked] == [("x", None), ("y", "A"), ("y", "B")]

    @settings(max_examples=50)
    @given(st.data())
    def test_are_those_that_the_written_out_definition_names(self, data: st.DataObject):
        asking = data.draw(protocols())
        shape = data.draw(shapes(asking))
        answer = data.draw(answers(asking, shape))
        asked = {(each.question.id, each.target) for each in asked_questions(asking, shape, answer)}
        expected = {
            (placed.question.id, target)
            for placed in questions_of(asking)
            for target in targets_of(asking, placed.question, shape)
            if _is_asked(asking.model_dump(mode="json"), placed.question.id, target, answer)
        }
        assert asked == expected


class TestCheckAnswer:
    def test_takes_an_annotation_of_spot_the_bot(self):
        assert check_answer(SPOT_THE_BOT, SEGMENT, ANNOTATION) == ()
        assert missing(SPOT_THE_BOT, SEGMENT, ANNOTATION) == ()

    @pytest.mark.parametrize(
        ("answer", "pointer", "rule"),
        [
            ([], "", "is an object"),
            ({"entity": "human"}, "/entity", "asked per side"),
            ({"entity": {}}, "/entity", "with one at least"),
            ({"entity": {"C": "human"}}, "/entity/C", "no side of this name"),
            ({"entity": {"A": "Human"}}, "/entity/A", "one of human, bot, unsure"),
            ({"entity": {"A": None}}, "/entity/A", "one of human"),
            ({"fluency": {"A": "A"}}, "/fluency", "one of A, B, tie"),
            ({"fluency": True}, "/fluency", "one of A, B, tie"),
            ({"fluencies": "A"}, "/fluencies", "no question of this name"),
            ({"a/b~c": "A"}, "/a~1b~0c", "no question"),
            ({"x" * 100_000: "A"}, f"/{'x' * 60}…", "no question"),
        ],
    )
    def test_names_the_field_and_the_rule(self, answer: Any, pointer: str, rule: str):
        (fault,) = check_answer(SPOT_THE_BOT, SEGMENT, answer)
        assert fault.pointer == pointer
        assert rule in fault.detail
        (prefixed,) = check_answer(SPOT_THE_BOT, SEGMENT, answer, at="/answer")
        assert prefixed.pointer == f"/answer{pointer}"

    @pytest.mark.parametrize("value", [0, 6, 3.0, True, "3", None, [3]])
    def test_takes_whole_numbers_of_the_scale_alone(self, value: Any):
        asking = protocol([{"id": "x", "kind": "likert", "text": "?", "scale": {"min": 1, "max": 5}}])
        assert [_pointers(asking, SEGMENT, {"x": number}) for number in range(1, 6)] == [[]] * 5
        assert _pointers(asking, SEGMENT, {"x": value}) == ["/x"]

    @pytest.mark.parametrize("value", ["a", {"a": 1}, ["a", "a"], ["a", "c"], [["a"]], [{}], None])
    def test_takes_lists_of_different_choices_alone(self, value: Any):
        choices = [{"value": each, "text": each} for each in "ab"]
        asking = protocol([{"id": "x", "kind": "multiple", "text": "?", "choices": choices}])
        assert [_pointers(asking, SEGMENT, {"x": taken}) for taken in ([], ["b"], ["b", "a"])] == [[]] * 3
        assert _pointers(asking, SEGMENT, {"x": value}) == ["/x"]

    @pytest.mark.parametrize("value", ["123456", "a\0b", "\ud800", 5, None, ["a"]])
    def test_takes_text_that_is_short_enough_and_can_be_stored(self, value: Any):
        asking = protocol([{"id": "x", "kind": "text", "text": "?", "max_length": 5}])
        assert _pointers(asking, SEGMENT, {"x": "<b>é"}) == []
        assert _pointers(asking, SEGMENT, {"x": value}) == ["/x"]

    def test_refuses_an_answer_to_a_follow_up_of_another_choice(self):
        answer = {"facts": {"0": "no"}, "accuracy": {"0": "true"}}
        (fault,) = check_answer(FACTS, UnitShape(speakers=("A",)), answer)
        assert (fault.pointer, fault.detail) == (
            "/accuracy/0",
            "The question isn't asked: only where 'facts' is yes.",
        )

    @settings(max_examples=50)
    @given(st.data())
    def test_takes_every_answer_that_follows_the_questions(self, data: st.DataObject):
        asking = data.draw(protocols())
        shape = data.draw(shapes(asking))
        assert check_answer(asking, shape, data.draw(answers(asking, shape))) == ()

    @settings(max_examples=50)
    @given(st.data())
    def test_refuses_an_answer_to_a_question_that_is_not_asked(self, data: st.DataObject):
        asking = data.draw(protocols())
        shape = data.draw(shapes(asking))
        answer = data.draw(answers(asking, shape))
        asked = {(each.question.id, each.target) for each in asked_questions(asking, shape, answer)}
        unasked = [
            (placed.question.id, target)
            for placed in questions_of(asking)
            for target in targets_of(asking, placed.question, shape)
            if (placed.question.id, target) not in asked
        ]
        assume(unasked)
        name, target = data.draw(st.sampled_from(unasked))
        value = data.draw(JSON)
        given_more = answer | {name: value if target is None else {**answer.get(name, {}), target: value}}
        assert (f"/{name}" if target is None else f"/{name}/{target}") in _pointers(asking, shape, given_more)

    @settings(max_examples=50)
    @given(st.data())
    def test_takes_any_json_without_raising(self, data: st.DataObject):
        asking = data.draw(protocols())
        shape = data.draw(shapes(asking))
        names = st.sampled_from([placed.question.id for placed in questions_of(asking)]) | TEXT
        targets = st.sampled_from(["A", "B", "0", "1"]) | TEXT
        by_target = st.dictionaries(targets, JSON, max_size=3)
        answer = data.draw(JSON | st.dictionaries(names, JSON | by_target, max_size=4))
        check_answer(asking, shape, answer)
        if isinstance(answer, dict):
            asked_questions(asking, shape, answer)
            missing(asking, shape, answer)
            values(asking, answer)


class TestMissing:
    def test_names_what_a_step_needs(self):
        def pointers(step: str | None) -> list[str]:
            answer = {"entity": {"A": "bot"}, "fluency": "A"}
            return [fault.pointer for fault in missing(SPOT_THE_BOT, SEGMENT, answer, step)]

        assert pointers("decide") == ["/entity/B"]
        assert pointers("features") == ["/sensibleness", "/specificity"]
        assert pointers(None) == ["/entity/B", "/sensibleness", "/specificity"]

    def test_counts_no_blank_text_and_no_value_of_the_wrong_type_as_an_answer(self):
        asking = protocol([{"id": "x", "kind": "text", "text": "?"}, single("y", "a", "b")])
        assert [fault.pointer for fault in missing(asking, SEGMENT, {"x": " \n", "y": 3})] == ["/x", "/y"]

    def test_counts_an_empty_list_as_the_answer_none_of_them(self):
        choices = [{"value": "a", "text": "a"}]
        asking = protocol([{"id": "x", "kind": "multiple", "text": "?", "choices": choices}])
        assert missing(asking, SEGMENT, {"x": []}) == ()
        assert [fault.pointer for fault in missing(asking, SEGMENT, {})] == ["/x"]

    @settings(max_examples=50)
    @given(st.data())
    def test_is_nothing_exactly_where_all_required_questions_that_are_asked_have_an_answer(self, data: st.DataObject):
        asking = data.draw(protocols())
        shape = data.draw(shapes(asking))
        answer = data.draw(answers(asking, shape))
        document = asking.model_dump(mode="json")
        expected = [
            f"/{placed.question.id}" if target is None else f"/{placed.question.id}/{target}"
            for placed in questions_of(asking)
            for target in targets_of(asking, placed.question, shape)
            if placed.question.required
            and _is_asked(document, placed.question.id, target, answer)
            and not _has(answer, placed.question.id, target)
        ]
        assert [fault.pointer for fault in missing(asking, shape, answer)] == expected
        full = data.draw(answers(asking, shape, complete=True))
        assert missing(asking, shape, full) == ()


class TestValues:
    def test_are_five_rows_for_spot_the_bot(self):
        assert values(SPOT_THE_BOT, ANNOTATION) == (
            AnswerValue("entity", "A", "human"),
            AnswerValue("entity", "B", "unsure"),
            AnswerValue("fluency", None, "A"),
            AnswerValue("sensibleness", None, "tie"),
            AnswerValue("specificity", None, "B"),
        )

    def test_tell_none_of_the_choices_from_no_answer(self):
        choices = [{"value": each, "text": each} for each in "ab"]
        asking = protocol([{"id": "x", "kind": "multiple", "text": "?", "per": "turn", "choices": choices}], unit=TURNS)
        rows = values(asking, {"x": {"3": ["b", "a"], "11": []}})
        assert [(row.target, row.value) for row in rows] == [("3", "b"), ("3", "a"), ("11", None)]

    @settings(max_examples=50)
    @given(st.data())
    def test_give_every_accepted_answer_back(self, data: st.DataObject):
        asking = data.draw(protocols())
        shape = data.draw(shapes(asking))
        answer = data.draw(answers(asking, shape))
        assert check_answer(asking, shape, answer) == ()
        assert _answer_of(asking, values(asking, answer)) == answer


def _when(question: str, *any_of: str | int) -> dict[str, Any]:
    return {"question": question, "any_of": any_of}


def _answer_of(asking: AnnotationProtocol, rows: tuple[AnswerValue, ...]) -> dict[str, Any]:
    kinds = {placed.question.id: placed.question.kind for placed in questions_of(asking)}
    answer: dict[str, Any] = {}
    for row in rows:
        holder: dict[str, Any] = answer if row.target is None else answer.setdefault(row.question, {})
        key = row.question if row.target is None else row.target
        if kinds[row.question] == "multiple":
            holder.setdefault(key, []).extend([] if row.value is None else [row.value])
        else:
            holder[key] = row.value
    return answer


def _is_asked(document: Mapping[str, Any], name: str, target: str | None, answer: Mapping[str, Any]) -> bool:
    """Say it as the documents define it, from the question up, on the bare JSON."""
    question, parent, choice = next(found for found in _walk(document) if found[0]["id"] == name)
    conditions = [(parent["id"], [choice])] if parent else []
    if when := question["when"]:
        conditions.append((when["question"], when["any_of"]))
    return all(_holds(document, earlier, any_of, target, answer) for earlier, any_of in conditions)


def _holds(
    document: Mapping[str, Any], earlier: str, any_of: list[Any], target: str | None, answer: Mapping[str, Any]
) -> bool:
    named = next(found[0] for found in _walk(document) if found[0]["id"] == earlier)
    its_target = None if named["per"] == "unit" else target
    if not _has(answer, earlier, its_target) or not _is_asked(document, earlier, its_target, answer):
        return False
    value = answer[earlier] if its_target is None else answer[earlier][its_target]
    return any(each in any_of for each in (value if isinstance(value, list) else [value]))


def _has(answer: Mapping[str, Any], name: str, target: str | None) -> bool:
    return name in answer and (target is None or target in answer[name])


def _walk(
    document: Mapping[str, Any],
) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None, str | None]]:
    def below(
        questions: list[dict[str, Any]], parent: dict[str, Any] | None, taken: str | None
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None, str | None]]:
        for question in questions:
            yield question, parent, taken
            for choice in question.get("choices", []):
                yield from below(choice["questions"], question, choice["value"])

    for step in document["steps"]:
        yield from below(step["questions"], None, None)

"""What a protocol's document may hold: faults by field and rule, and the documents that are built in."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from pydantic import ValidationError

from spotthebot.annotation.protocols.domain.answers import asked_questions, check_answer, missing
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.checks import check_protocol
from spotthebot.annotation.protocols.domain.questions import PlacedQuestion, UnitShape, questions_of, values_of
from spotthebot.contracts.annotation.annotations import Label, Preference
from spotthebot.contracts.annotation.protocols import (
    MAX_NESTING,
    MAX_QUESTIONS,
    AnnotationProtocol,
    protocol_schema_text,
)
from tests.factories.protocols import document, protocols, single

ROOT = Path(__file__).parents[3]
X = single("x", "yes", "no")
PAIR, TURNS = {"kind": "pair"}, {"kind": "turns", "speaker": "B"}
PREFERENCE = {"id": "p", "kind": "preference", "text": "?"}


def _faults(of: dict[str, Any]) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.detail) for fault in check_protocol(AnnotationProtocol.model_validate(of))]


def _y(**more: Any) -> dict[str, Any]:
    return single("y", "a", "b", **more)


def _when(question: str, *any_of: str | int) -> dict[str, Any]:
    return {"question": question, "any_of": any_of}


def _likert(low: int, high: int, **labels: str) -> dict[str, Any]:
    labels = {point.removeprefix("at_"): label for point, label in labels.items()}
    return {"id": "l", "kind": "likert", "text": "?", "scale": {"min": low, "max": high, "labels": labels}}


class TestCheckProtocol:
    @pytest.mark.parametrize(
        ("faulty", "pointer", "rule"),
        [
            (document([X, X]), "/steps/0/questions/1/id", "Another question has the id 'x'."),
            (
                document([single("x", "yes", "no", follows={"no": [X]})]),
                "/steps/0/questions/0/choices/1/questions/0/id",
                "Another question has the id 'x'.",
            ),
            (document([single("x", "a", "a")]), "/steps/0/questions/0/choices/1/value", "Another choice"),
            (document([_y(per="turn")]), "/steps/0/questions/0/per", "this is a segment"),
            (document([_y(per="side")], unit=PAIR), "/steps/0/questions/0/per", "A pair has no sides"),
            (document([PREFERENCE | {"per": "side"}]), "/steps/0/questions/0/per", "compares the sides"),
            (
                document([single("x", "yes", "no", per="side", follows={"yes": [_y()]})]),
                "/steps/0/questions/0/choices/0/questions/0/per",
                "its parent 'x' is asked per side",
            ),
            (document([_y(when=_when("z", "a")), X]), "/steps/0/questions/0/when/question", "'z' is not in this"),
            (document([_y(when=_when("x", "yes"))], [X]), "/steps/0/questions/0/when/question", "comes later"),
            (document([_y(when=_when("y", "a"))]), "/steps/0/questions/0/when/question", "or is this one"),
            (
                document([single("x", "yes", "no", per="side"), _y(when=_when("x", "yes"))]),
                "/steps/0/questions/1/when/question",
                "'x' is asked per side, this one per unit",
            ),
            (document([X, _y(when=_when("x", "no", "maybe"))]), "/steps/0/questions/1/when/any_of/1", "value 'maybe'"),
            (document([_likert(1, 5), _y(when=_when("l", "3"))]), "/steps/0/questions/1/when/any_of/0", "value '3'"),
            (document([_likert(1, 5), _y(when=_when("l", 6))]), "/steps/0/questions/1/when/any_of/0", "no value 6"),
            (document([PREFERENCE, _y(when=_when("p", "C"))]), "/steps/0/questions/1/when/any_of/0", "value 'C'"),
            (
                document([{"id": "t", "kind": "text", "text": "?"}, _y(when=_when("t", "a"))]),
                "/steps/0/questions/1/when/question",
                "free text",
            ),
            (document([_likert(5, 5)]), "/steps/0/questions/0/scale/max", "must be above the min, 5"),
            (document([_likert(0, 21)]), "/steps/0/questions/0/scale/max", "22 points: it may have 21"),
            (document([_likert(1, 5, at_0="none")]), "/steps/0/questions/0/scale/labels/0", "goes from 1 to 5"),
            (
                document([X], unit=TURNS, reveal="exchange_by_exchange"),
                "/reveal",
                "only with the unit segment or dialogue",
            ),
            (
                document([X], unit=PAIR, reveal="exchange_by_exchange"),
                "/reveal",
                "only with the unit segment or dialogue",
            ),
        ],
    )
    def test_names_the_field_and_the_rule(self, faulty: dict[str, Any], pointer: str, rule: str):
        (found,) = _faults(faulty)
        assert found[0] == pointer
        assert rule in found[1]

    def test_refuses_two_steps_of_one_id(self):
        twice = document([X], [_y()])
        twice["steps"][1]["id"] = "step_0"
        assert _faults(twice) == [("/steps/1/id", "Another step has the id 'step_0'.")]

    def test_begins_its_pointers_with_the_place_of_the_document(self):
        read = AnnotationProtocol.model_validate(document([X, X]))
        assert [fault.pointer for fault in check_protocol(read, at="/protocol")] == ["/protocol/steps/0/questions/1/id"]

    def test_allows_as_many_levels_of_questions_as_are_promised(self):
        assert _faults(_nested(MAX_NESTING)) == []
        ((pointer, rule),) = _faults(_nested(MAX_NESTING + 1))
        assert pointer == "/steps/0/questions/0" + "/choices/0/questions/0" * MAX_NESTING
        assert "levels deep at most" in rule

    def test_allows_as_many_questions_as_are_promised(self):
        def of(count: int) -> dict[str, Any]:
            questions = [single(f"q{number}", "a", "b") for number in range(count)]
            return document(*(questions[start : start + 40] for start in range(0, count, 40)))

        assert _faults(of(MAX_QUESTIONS)) == []
        assert [pointer for pointer, _ in _faults(of(MAX_QUESTIONS + 1))] == ["/steps"]


class TestReachability:
    def test_refuses_a_follow_up_of_one_choice_that_needs_another(self):
        follow_up = single("x", "yes", "no", follows={"yes": [_y(when=_when("x", "no"))]})
        assert _faults(document([follow_up])) == [
            ("/steps/0/questions/0/choices/0/questions/0", "No answer leads here: 'x' would need two values at once.")
        ]

    def test_names_one_of_several_questions_that_would_need_two_values(self):
        """The last needs `no` of both x and y, and `z`, which is asked where both are `yes`."""
        last = single("last", "a", "b", when=_when("z", "a"))
        inner = single("inner", "a", "b", when=_when("x", "no"), follows={"a": [last]})
        z = single("z", "a", "b", when=_when("x", "yes"))
        y = single("y", "yes", "no", follows={"yes": [z], "no": [inner]})
        assert [pointer for pointer, _ in _faults(document([X, y]))] == [
            "/steps/0/questions/1/choices/1/questions/0/choices/0/questions/0"
        ]

    def test_refuses_a_question_that_needs_the_follow_ups_of_two_choices(self):
        tree = single("x", "yes", "no", follows={"yes": [_y()]})
        last = single("z", "a", "b", when=_when("y", "a"))
        impossible = single("w", "a", "b", follows={"a": [single("v", "a", "b", when=_when("u", "a"))]})
        blocker = single("u", "a", "b", when=_when("x", "no"))
        assert _faults(document([tree, last, blocker])) == []
        impossible["when"] = _when("y", "a")
        found = _faults(document([tree, blocker, impossible]))
        assert [pointer for pointer, _ in found] == ["/steps/0/questions/2/choices/0/questions/0"]

    def test_knows_that_several_choices_can_be_taken_together(self):
        both = single("x", "a", "b", follows={"a": [_y(when=_when("x", "b"))]}) | {"kind": "multiple"}
        assert _faults(document([both])) == []

    @given(protocols(kinds=("single", "multiple", "preference"), max_questions=4))
    def test_finds_exactly_the_questions_that_none_of_all_answers_leads_to(self, drawn: AnnotationProtocol):
        """All combinations of all questions' values, by brute force over a unit with one target of each kind."""
        shape = UnitShape(sides=("A",), speakers=("A", "B"))
        placed = list(questions_of(drawn))
        reached = {asked for answer in _every_answer(placed) for asked in _asked(drawn, shape, answer)}
        expected = {each.pointer for each in placed if each.question.id not in reached}
        assert {fault.pointer for fault in check_protocol(drawn)} == expected


class TestForm:
    @pytest.mark.parametrize(
        ("kind", "more"),
        [
            ("likert", {"scale": {"min": 1, "max": 5}, "choices": []}),
            ("likert", {}),
            ("single", {"choices": [{"value": "a", "text": "a"}]}),
            ("single", {"choices": [{"value": "A b", "text": "a"}, {"value": "b", "text": "b"}]}),
            ("preference", {"labels": {"C": "c"}}),
            ("text", {"max_length": 20_001}),
            ("text", {"text": "a\0b"}),
            ("slider", {}),
        ],
    )
    def test_is_checked_question_by_question(self, kind: str, more: dict[str, Any]):
        with pytest.raises(ValidationError):
            AnnotationProtocol.model_validate(document([{"id": "x", "kind": kind, "text": "?", **more}]))

    def test_nested_without_end_is_refused_and_no_error_of_ours(self):
        with pytest.raises(ValidationError):
            AnnotationProtocol.model_validate(_nested(300) | {"name": ""})


class TestSchema:
    def test_the_committed_one_is_current(self):
        committed = (ROOT / "docs" / "protocol.schema.json").read_text()
        assert committed == protocol_schema_text() + "\n", "renew it: ./stb docs"

    def test_takes_the_documents_that_are_built_in(self):
        validator = jsonschema_rs.validator_for(json.loads(protocol_schema_text()))
        for built_in in built_in_protocols().values():
            assert validator.is_valid(built_in.model_dump(mode="json", exclude_none=True))
        assert not validator.is_valid(document([{"id": "x", "kind": "likert", "text": "?", "choices": []}]))

    @settings(max_examples=40)
    @given(protocols())
    def test_takes_every_document_that_the_models_take(self, drawn: AnnotationProtocol):
        validator = jsonschema_rs.validator_for(json.loads(protocol_schema_text()))
        assert validator.is_valid(drawn.model_dump(mode="json"))


class TestPage:
    """`docs/protocols.md` shows a document, an answer to it, and a training."""

    def test_shows_a_protocol_without_a_fault_and_a_complete_answer(self):
        page = (ROOT / "docs" / "protocols.md").read_text()
        shown, answer, _ = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL))
        read = AnnotationProtocol.model_validate(shown)
        shape = UnitShape(speakers=("A", "B", "A", "B"))
        assert check_protocol(read) == ()
        assert check_answer(read, shape, answer) == ()
        assert missing(read, shape, answer) == ()

    def test_names_every_protocol_that_is_built_in_and_no_other(self):
        page = (ROOT / "docs" / "protocols.md").read_text()
        table = page.split("These are built in:")[1].split("The dimensions")[0]
        assert {*re.findall(r"^\| `(\w+)`", table, re.MULTILINE)} == {name for name, _ in built_in_protocols()}


class TestBuiltInProtocols:
    def test_have_no_fault_and_the_name_of_their_file(self):
        assert [name for name, version in built_in_protocols() if version == 1] == [
            "abc_commonsense",
            "abc_consistency",
            "abc_empathy",
            "abc_interpretability",
            "abc_knowledge",
            "abc_personal_information",
            "abc_sociality",
            "abc_transitions",
            "bipartite_likert",
            "comparative",
            "dialogue_likert",
            "factual_behaviour",
            "spot_the_bot",
            "spot_the_bot_gamified",
            "spot_the_bot_labels",
            "turn_likert",
        ]
        assert [check_protocol(each) for each in built_in_protocols().values()] == [()] * 19

    def test_ask_in_spot_the_bot_for_the_values_of_its_annotations(self):
        asked = {each.question.id: each.question for each in questions_of(built_in_protocols()["spot_the_bot", 1])}
        assert set(values_of(asked["entity"]) or ()) == set(Label)
        features = ["fluency", "sensibleness", "specificity"]
        assert [*asked] == ["entity", *features]
        assert {values_of(asked[feature]) for feature in features} == {tuple(Preference)}

    def test_ask_in_the_game_for_the_features_once_both_sides_are_decided(self):
        """Appendix B of Spot The Bot: "If both decisions have been made", annotators compare the three features."""
        first, second = (built_in_protocols()["spot_the_bot_gamified", version] for version in (1, 2))
        assert second.steps == (*first.steps, built_in_protocols()["spot_the_bot", 1].steps[1])
        assert second.opens_one_by_one

    def test_rate_the_eight_dimensions_of_abc_eval(self):
        """Finch, Finch and Choi (2023) rate dialogues, turns and pairs of dialogues by the same dimensions."""
        asked = [
            [each.question.id for each in questions_of(built_in_protocols()[name, 1])]
            for name in ("dialogue_likert", "turn_likert", "comparative")
        ]
        assert (
            asked
            == [
                [
                    "grammatical",
                    "relevant",
                    "informative",
                    "emotion_aware",
                    "engaging",
                    "consistent",
                    "proactive",
                    "quality",
                ]
            ]
            * 3
        )

    def test_name_the_sixteen_behaviours_of_abc_eval(self):
        """Finch, Finch and Choi (2023): Table 4; Figure 4 has the undesirable ones; section 8 the final set."""
        named = [each for protocol in built_in_protocols().values() for each in protocol.behaviours]
        undesirable = {
            *("uninterpretable", "antisocial", "lack_of_empathy", "commonsense_contradiction", "incorrect_fact"),
            *("self_contradiction", "partner_contradiction", "redundant", "ignore", "irrelevant"),
        }
        desirable = {"preference_info", "life_info", "empathetic", "correct_fact", "follow_up", "topic_switch"}
        assert {each.id for each in named if not each.desirable} == undesirable
        assert {each.id for each in named if each.desirable} == desirable
        left_out = {"preference_info", "life_info", "follow_up", "topic_switch"}
        assert {each.id for each in named if not each.final} == left_out
        assert len(named) == 16


BEHAVIOUR = {"id": "rude", "definition": "It is rude.", "shown_by": [{"question": "q", "any_of": ["a"]}]}
RATED = {"id": "tone", "kind": "likert", "text": "?", "scale": {"min": 1, "max": 3}}


class TestBehaviours:
    @pytest.mark.parametrize(
        ("behaviours", "questions", "faults"),
        [
            ([BEHAVIOUR], [], []),
            ([BEHAVIOUR, BEHAVIOUR], [], [("/behaviours/1/id", "Another behaviour has the id 'rude'.")]),
            ([BEHAVIOUR | {"id": "q"}], [], []),
            (
                [BEHAVIOUR | {"id": "tone"}],
                [RATED],
                [("/behaviours/0/id", "The question 'tone' has a measure of this name: rename one.")],
            ),
            (
                [BEHAVIOUR | {"shown_by": [{"question": "r", "any_of": ["a"]}]}],
                [],
                [("/behaviours/0/shown_by/0/question", "'r' is no question with choices in this protocol.")],
            ),
            (
                [BEHAVIOUR | {"shown_by": [{"question": "tone", "any_of": [1]}]}],
                [RATED],
                [("/behaviours/0/shown_by/0/question", "'tone' is no question with choices in this protocol.")],
            ),
            (
                [BEHAVIOUR | {"shown_by": [{"question": "q", "any_of": ["a", "c"]}]}],
                [],
                [("/behaviours/0/shown_by/0/any_of/1", "'q' has no choice 'c'.")],
            ),
            (
                [BEHAVIOUR | {"shown_by": [{"question": each, "any_of": ["a"]} for each in ("q", "side")]}],
                [single("side", "a", "b") | {"per": "side"}],
                [("/behaviours/0/shown_by", "Name questions of one `per`: these are asked of different things.")],
            ),
        ],
    )
    def test_name_choices_that_there_are(
        self, behaviours: list[Any], questions: list[Any], faults: list[tuple[str, str]]
    ):
        written = document([single("q", "a", "b"), *questions]) | {"behaviours": behaviours}
        found = check_protocol(AnnotationProtocol.model_validate(written))
        assert [(each.pointer, each.detail) for each in found] == faults

    def test_are_none_of_pairs(self):
        written = document([single("q", "a", "b")]) | {"behaviours": [BEHAVIOUR], "unit": {"kind": "pair"}}
        found = check_protocol(AnnotationProtocol.model_validate(written))
        assert [each.pointer for each in found] == ["/behaviours"]


def _nested(levels: int) -> dict[str, Any]:
    question = single(f"q{levels}", "a", "b")
    for level in range(levels - 1, 0, -1):
        question = single(f"q{level}", "a", "b", follows={"a": [question]})
    return document([question])


def _every_answer(placed: Sequence[PlacedQuestion]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the questions' values, each with what its question is asked per."""
    options: list[list[Any]] = []
    for each in placed:
        values = values_of(each.question) or ()
        if each.question.kind == "multiple":
            options.append([[*taken] for size in range(len(values) + 1) for taken in combinations(values, size)])
        else:
            options.append([*values])
    for chosen in product(*options):
        yield {each.question.id: (each.question.per, value) for each, value in zip(placed, chosen, strict=True)}


def _asked(drawn: AnnotationProtocol, shape: UnitShape, chosen: dict[str, Any]) -> set[str]:
    speaker = "1" if getattr(drawn.unit, "speaker", None) == "B" else "0"
    targets = {"side": "A", "turn": speaker}
    answer = {name: value if per == "unit" else {targets[per]: value} for name, (per, value) in chosen.items()}
    return {each.question.id for each in asked_questions(drawn, shape, answer)}


def test_answers_to_built_in_protocols_are_checked_for_pairs_as_well():
    comparative = built_in_protocols()["comparative", 1]
    assert check_answer(comparative, UnitShape(sides=()), {"quality": "A"}) == ()

"""What a training may hold, what is right in an answer, and ABC-Eval's training dialogues as trainings."""

import json
import sys
from collections import Counter
from typing import Any

import pytest

from spotthebot.annotation.protocols.domain.answers import check_answer, missing
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.questions import UnitShape
from spotthebot.annotation.trainings.domain.checks import check_training
from spotthebot.annotation.trainings.domain.grades import grade, mistakes
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.trainings import Training
from spotthebot.importers.abc_eval.errors import TrainingNotConvertible
from spotthebot.importers.abc_eval.tasks import Conversion, convert_tasks
from spotthebot.importers.abc_eval.trainings import convert_training
from tests.factories.annotator_trainings import (
    RIGHT,
    WRONG,
    gold_dialogue,
    gold_pair,
    preferring,
    training,
    training_of_pairs,
)
from tests.factories.protocols import protocol, single
from tests.factories.published_dump import SHARED

FOLDER = SHARED / "data" / "abc-eval"
SPOT_THE_BOT = built_in_protocols()["spot_the_bot", 1]
COMPARATIVE = built_in_protocols()["comparative", 1]
BOXES = {
    "id": "boxes",
    "kind": "multiple",
    "text": "?",
    "per": "turn",
    "choices": [{"value": "rude", "text": "Rude"}, {"value": "odd", "text": "Odd"}],
}
TURNS = protocol([BOXES], unit={"kind": "turns", "speaker": "B"})


def _faults(of: dict[str, Any], by: AnnotationProtocol = SPOT_THE_BOT) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.detail) for fault in check_training(Training.model_validate(of), by)]


def _turns(gold: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Write a training of one dialogue of two exchanges, whose turns of B are annotated."""
    dialogue = gold_dialogue("one", exchanges=2, gold=gold, explanations={}) | more
    return training(questions=None, dialogues=[dialogue])


class TestCheckTraining:
    def test_accepts_whole_answers_with_explanations(self):
        assert _faults(training()) == []
        assert (
            _faults(_turns({"boxes": {"1": [], "3": ["odd"]}}, accepted={"3": [{"boxes": ["rude", "odd"]}]}), TURNS)
            == []
        )

    def test_takes_twice_the_work_for_twice_the_turns_with_all_the_right_answers_that_they_may_have(self):
        """Where each of 20 answers for 1,000 turns was checked with all other turns, it took a minute."""

        def calls(exchanges: int) -> int:
            turns = [str(2 * number + 1) for number in range(exchanges)]
            gold = {"boxes": {turn: ["odd"] for turn in turns}}
            accepted = {turn: [{"boxes": ["rude"]}] * 20 for turn in turns}
            dialogue = gold_dialogue("one", exchanges=exchanges, gold=gold, explanations={}) | {"accepted": accepted}
            long = Training.model_validate(training(questions=None, dialogues=[dialogue]))
            counted: Counter[str] = Counter()
            sys.setprofile(lambda _frame, event, _argument: counted.update([event]))
            try:
                assert check_training(long, TURNS) == ()
            finally:
                sys.setprofile(None)
            return counted["call"]

        assert calls(40) < 2.2 * calls(20)

    @pytest.mark.parametrize(
        ("faulty", "pointer", "rule"),
        [
            (
                training(dialogues=[gold_dialogue("x", gold={**RIGHT, "entity": {"A": "human"}})]),
                "/dialogues/0/gold/entity/B",
                "The question needs an answer.",
            ),
            (
                training(dialogues=[gold_dialogue("x", gold=RIGHT | {"fluency": "C"})]),
                "/dialogues/0/gold/fluency",
                "The value has to be one of A, B, tie.",
            ),
            (training(questions=["humour"]), "/questions/0", "The protocol has no question of this name."),
            (
                training(dialogues=[gold_dialogue("x"), gold_dialogue("x")]),
                "/dialogues/1/turns",
                "Dialogue 0 has the same turns.",
            ),
            (
                training(dialogues=[gold_dialogue("x", explanations={"7": "why"})]),
                "/dialogues/0/explanations/7",
                "No question is asked about a turn or side of this name in this dialogue.",
            ),
            (
                training(dialogues=[gold_dialogue("x", accepted={"A": [{"fluency": "A"}]})]),
                "/dialogues/0/accepted/A/0/fluency",
                "No question of this name is asked here.",
            ),
            (
                training(dialogues=[gold_dialogue("x", accepted={"A": [{"entity": "cat"}]})]),
                "/dialogues/0/accepted/A/0/entity/A",
                "The value has to be one of human, bot, unsure.",
            ),
        ],
    )
    def test_names_each_fault_and_its_place(self, faulty: dict[str, Any], pointer: str, rule: str):
        assert _faults(faulty) == [(pointer, rule)]

    def test_refuses_protocols_without_anything_that_can_be_wrong(self):
        text = protocol([{"id": "why", "kind": "text", "text": "?"}])
        dialogue = gold_dialogue("x", gold={"why": "because"}, explanations={})
        assert [pointer for pointer, _ in _faults(training(questions=None, dialogues=[dialogue]), text)] == [
            "/questions"
        ]
        assert [pointer for pointer, _ in _faults(training(questions=["why"], dialogues=[dialogue]), text)] == [
            "/questions/0"
        ]

    def test_accepts_pairs_for_protocols_that_compare_and_for_those_alone(self):
        assert _faults(training_of_pairs(), COMPARATIVE) == []
        one = training_of_pairs(dialogues=[gold_pair("one"), gold_dialogue("two", gold=preferring("A"))])
        assert _faults(one, COMPARATIVE) == [("/dialogues/1/right_turns", "The protocol compares two dialogues.")]
        two = training(dialogues=[gold_pair("one", gold=RIGHT, explanations={})])
        assert _faults(two) == [("/dialogues/0/right_turns", "The protocol shows one dialogue.")]

    def test_names_what_is_no_answer_to_a_pair(self):
        sides = gold_pair("x", explanations={"A": "why"})
        assert [pointer for pointer, _ in _faults(training_of_pairs(dialogues=[sides]), COMPARATIVE)] == [
            "/dialogues/0/explanations/A"
        ]
        unanswered = gold_pair("x", gold=preferring("A") | {"relevant": "left"})
        assert [pointer for pointer, _ in _faults(training_of_pairs(dialogues=[unanswered]), COMPARATIVE)] == [
            "/dialogues/0/gold/relevant"
        ]

    def test_names_a_pair_that_comes_again_with_its_sides_exchanged(self):
        pair = gold_pair("x")
        exchanged = pair | {"turns": pair["right_turns"], "right_turns": pair["turns"], "gold": preferring("B")}
        beside_another = pair | {"right_turns": gold_dialogue("y")["turns"]}
        found = _faults(training_of_pairs(dialogues=[pair, beside_another, exchanged]), COMPARATIVE)
        assert found == [("/dialogues/2/turns", "Dialogue 0 has the same turns.")]


class TestGrade:
    def test_counts_each_side_and_leaves_out_questions_that_are_not_graded(self):
        read = Training.model_validate(training())
        grades = grade(read, SPOT_THE_BOT, read.dialogues[0], WRONG | {"fluency": "B"})
        assert [(each.target, each.given, each.is_right) for each in grades] == [
            ("A", {"entity": "bot"}, False),
            ("B", {"entity": "human"}, False),
        ]
        assert [each.right for each in grades] == [({"entity": "human"},), ({"entity": "bot"},)]
        assert grades[1].explanation == "training 0 repeats itself."
        assert (mistakes(grades), mistakes(grade(read, SPOT_THE_BOT, read.dialogues[0], RIGHT))) == (2, 0)

    @pytest.mark.parametrize(
        ("given", "right"),
        [({"relevant": "A"}, True), ({"relevant": "tie"}, True), ({"relevant": "B"}, False), ({}, False)],
    )
    def test_compares_the_preference_between_the_dialogues_of_a_pair(self, given: dict[str, Any], right: bool):
        pair = gold_pair("x", accepted={"unit": [{"relevant": "tie"}]})
        read = Training.model_validate(training_of_pairs(dialogues=[pair]))
        (found,) = grade(read, COMPARATIVE, read.dialogues[0], preferring("B") | {"relevant": None} | given)
        assert found.target == "unit"
        assert found.is_right == right
        assert found.explanation == "x repeats itself on the right."

    def test_counts_all_questions_of_the_unit_as_one(self):
        read = Training.model_validate(training(questions=None))
        wrong = RIGHT | {"fluency": "B", "specificity": "B"}
        grades = grade(read, SPOT_THE_BOT, read.dialogues[0], wrong)
        assert [(each.target, each.is_right) for each in grades] == [("A", True), ("B", True), ("unit", False)]

    @pytest.mark.parametrize(
        ("given", "right"),
        [(["rude", "odd"], True), (["odd", "rude"], True), ([], True), (["odd"], False), (["rude"], False)],
    )
    def test_takes_every_accepted_answer_in_any_order_of_its_values(self, given: list[str], right: bool):
        document = _turns({"boxes": {"1": [], "3": ["rude", "odd"]}}, accepted={"3": [{"boxes": []}]})
        read = Training.model_validate(document)
        answer: Answer = {"boxes": {"1": [], "3": [*given]}}
        first, second = grade(read, TURNS, read.dialogues[0], answer)
        assert first.target == "1"
        assert first.is_right is True
        assert second.target == "3"
        assert second.is_right == right

    def test_counts_a_turn_with_a_follow_up_that_is_wrong_once(self):
        tree = single("q", "yes", "no", per="turn", follows={"no": [single("why", "a", "b", per="turn")]})
        by = protocol([tree], unit={"kind": "turns", "speaker": "B"})
        gold = {"q": {"1": "yes", "3": "no"}, "why": {"3": "a"}}
        read = Training.model_validate(_turns(gold))
        assert check_training(read, by) == ()
        answer: Answer = {"q": {"1": "no", "3": "no"}, "why": {"1": "a", "3": "b"}}
        assert mistakes(grade(read, by, read.dialogues[0], answer)) == 2


def _theirs(**more: Any) -> dict[str, Any]:
    """Write a file of theirs with two dialogues."""
    turns = [
        ["user", "hi"],
        ["system", "Go away.", {"polite_q": "SPEAKER_X is rude."}, "SPEAKER_X sends SPEAKER_Y away."],
        ["user", "oh"],
        ["system", "Sorry.", {}, "That is polite."],
    ]
    dialogue = {"annotation_tasks": ["polite"], "pass_criteria": 1, "turns": turns}
    return {"one": dialogue, "two": dialogue | {"turns": [["user", "hello"], *turns[1:]]} | more}


POLITE = {"config": "button_flow", "indices": "odd", "options": {"polite_q": {"_type_": {"checkbox": {}}}}}
POLITE["options"]["polite_q"]["SPEAKER_X is rude."] = {}  # type: ignore[index]


@pytest.fixture(scope="module")
def polite() -> tuple[Conversion, ...]:
    return convert_tasks({"config": {"polite": POLITE}})


class TestConvertTraining:
    def test_takes_labels_explanations_and_who_passes(self, polite: tuple[Conversion, ...]):
        converted = convert_training(_theirs(), polite)
        assert converted.training is not None
        assert (converted.task, converted.training.allowed_mistakes) == ("polite", 1)
        dialogue = converted.training.dialogues[0]
        assert dialogue.gold == {"polite_q": {"1": ["speaker_x_is_rude"], "3": []}}
        assert [turn.speaker for turn in dialogue.turns] == ["A", "B", "A", "B"]
        assert dialogue.explanations["1"] == "Speaker B sends Speaker A away."

    def test_takes_the_first_of_several_right_labels_as_gold(self, polite: tuple[Conversion, ...]):
        either = {"_disjunction": True, "options": [{}, {"polite_q": "SPEAKER_X is rude."}]}
        turns = [["user", "hi"], ["system", "Well.", either, "Who knows?"]]
        converted = convert_training(_theirs(turns=turns), polite)
        assert converted.training is not None
        dialogue = converted.training.dialogues[1]
        assert dialogue.gold == {"polite_q": {"1": []}}
        assert len(dialogue.accepted["1"]) == 1

    @pytest.mark.parametrize(
        ("turns", "reason"),
        [
            ([["system", "x", {"other": "y"}, "z"]], "a question 'other'"),
            ([["system", "x", {"polite_q": "y"}, "z"]], "a choice 'y'"),
            ([["system", "x", {}, 3]], "its turn 0 is not of the known form"),
            ([["user", "x\0"]], "no training can say it"),
            (None, "it has no list 'turns'"),
        ],
    )
    def test_says_which_dialogue_is_not_converted_and_why(
        self, polite: tuple[Conversion, ...], turns: Any, reason: str
    ):
        converted = convert_training(_theirs(turns=turns), polite)
        assert (converted.training, converted.dialogues[0].reason) == (None, "")
        assert reason in converted.dialogues[1].reason

    @pytest.mark.parametrize("document", [{}, {"one": 3}, {"one": {"annotation_tasks": ["a", "b"]}}])
    def test_refuses_a_file_of_something_else(self, polite: tuple[Conversion, ...], document: dict[str, Any]):
        with pytest.raises(TrainingNotConvertible, match="dialogues of one task"):
            convert_training(document, polite)

    def test_converts_every_dialogue_of_the_published_files(self):
        if not FOLDER.is_dir():
            pytest.skip("ABC-Eval's training dialogues ../shared/data/abc-eval are not here")
        conversions = convert_tasks(json.loads((FOLDER / "annotation_buckets.json").read_text()))
        protocols = {each.protocol.name: each.protocol for each in conversions if each.protocol}
        files = sorted((FOLDER / "training").glob("*.json"))
        assert len(files) == 8
        for file in files:
            theirs = json.loads(file.read_text())
            converted = convert_training(theirs, conversions)
            assert [(each.name, each.reason) for each in converted.dialogues] == [(name, "") for name in theirs]
            assert converted.training is not None
            # Fewer than 2 mistakes where labels are uninterpretable or antisocial, else fewer than 3: their section 4.
            assert converted.training.allowed_mistakes == (1 if converted.task in {"grammar", "sociality"} else 2)
            by = protocols[converted.training.protocol]
            assert check_training(converted.training, by) == ()
            for dialogue, original in zip(converted.training.dialogues, theirs.values(), strict=True):
                shape = UnitShape.of_turns(dialogue.turns)
                assert check_answer(by, shape, dialogue.gold) == () == missing(by, shape, dialogue.gold)
                asked = sum(turn[0] == "system" for turn in original["turns"])
                grades = grade(converted.training, by, dialogue, dialogue.gold)
                assert (len(grades), mistakes(grades)) == (asked, 0)
                assert all(each.explanation for each in grades)

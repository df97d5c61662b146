"""ABC-Eval's task schemas as protocols: the same questions in the same order, for every path and every gold answer."""

import copy
import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import pytest

from spotthebot.annotation.protocols.domain.answers import asked_questions, check_answer, missing
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.annotation.protocols.domain.questions import UnitShape, questions_of
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.importers.abc_eval.errors import TaskNotConvertible
from spotthebot.importers.abc_eval.tasks import convert_tasks, shown_text
from tests.factories.published_dump import SHARED

FOLDER = SHARED / "data" / "abc-eval"
TREES = ("transitions", "knowledge", "grammar", "sociality", "commonsense", "empathy", "personal_information")
TRAINING = {
    **{task: task for task in ("commonsense", "empathy", "knowledge", "personal_information", "sociality")},
    "transitions": "transitions",
    "grammar": "interpretability",
}
"""The file of training dialogues for each task whose gold answers name its questions."""
OURS = {
    **{task: f"abc_{task}" for task in TREES if task != "grammar"},
    "grammar": "abc_interpretability",
    "consistency_label": "abc_consistency",
}
"""The built-in protocol for each of the eight tasks with behaviours."""
TURN = UnitShape(speakers=("A", "B"))


@pytest.fixture(scope="module")
def tasks() -> dict[str, Any]:
    if not FOLDER.is_dir():
        pytest.skip("ABC-Eval's task schemas ../shared/data/abc-eval are not here")
    return json.loads((FOLDER / "annotation_buckets.json").read_text())["config"]


class TestConvertTasks:
    def test_converts_all_tasks_but_the_one_that_needs_profiles(self, tasks: dict[str, Any]):
        conversions = convert_tasks({"config": tasks})
        assert [each.task for each in conversions] == [*tasks]
        assert len(conversions) == 35
        assert {each.task: each.reason for each in conversions if each.protocol is None} == {
            "consistency_label_withprofile": "cont_profile and use_profile are about the bot's profile, "
            "and no unit shows annotators a profile"
        }

    @pytest.mark.parametrize("task", TREES)
    def test_asks_the_questions_of_a_tree_in_its_order_for_every_path(self, tasks: dict[str, Any], task: str):
        converted = _converted(tasks, task)
        names = _names(tasks[task]["options"], converted)
        paths = [*_paths(tasks[task]["options"])]
        assert len(paths) == _number_of_paths(tasks[task]["options"])
        for path in paths:
            answer = {names[text][0]: {"1": _value(names[text][1], taken)} for text, taken in path}
            asked = [each.question.id for each in asked_questions(converted, TURN, answer)]
            assert asked == [names[text][0] for text, _ in path]
            assert check_answer(converted, TURN, answer) == ()
            assert missing(converted, TURN, answer) == ()

    @pytest.mark.parametrize(("task", "file"), [*TRAINING.items()])
    def test_takes_every_gold_answer_of_the_training_dialogues(self, tasks: dict[str, Any], task: str, file: str):
        converted = _converted(tasks, task)
        names = _names(tasks[task]["options"], converted)
        dialogues = json.loads((FOLDER / "training" / f"{file}.json").read_text())
        golds = [turn[2] for dialogue in dialogues.values() for turn in dialogue["turns"] if turn[0] == "system"]
        assert len(golds) > 29
        for gold in (each for labels in golds for each in labels.get("options", [labels])):
            answer: dict[str, Any] = {
                name: {"1": []} for name, values in names.values() if values["kind"] == "multiple"
            }
            given = {text: taken for text, taken in gold.items() if taken}
            answer |= {names[text][0]: {"1": _value(names[text][1], [taken])} for text, taken in given.items()}
            assert check_answer(converted, TURN, answer) == ()
            assert missing(converted, TURN, answer) == ()

    @pytest.mark.parametrize(("task", "own"), OURS.items())
    def test_has_the_structure_of_the_protocol_that_is_built_in(self, tasks: dict[str, Any], task: str, own: str):
        """Kinds of questions, numbers of choices and follow-ups are the same in the same order; the words are ours."""
        converted, built_in = _converted(tasks, task), built_in_protocols()[own, 1]
        (published,), (ours,) = converted.steps, built_in.steps
        assert _structure(ours.questions) == _structure(published.questions)

    def test_takes_every_gold_answer_of_the_consistency_task(self, tasks: dict[str, Any]):
        converted = _converted(tasks, "consistency_label")
        dialogues = json.loads((FOLDER / "training" / "consistency.json").read_text())
        golds = [turn[2] for dialogue in dialogues.values() for turn in dialogue["turns"] if turn[0] == "system"]
        answers = [{"labels": {"1": gold.get("consistency_label_labels", [])}} for gold in golds]
        assert [check_answer(converted, TURN, answer) for answer in answers] == [()] * 44

    @pytest.mark.parametrize(
        ("task", "needed"), [("sociality", 1), ("consistency_label", 1), ("transitions", 3), ("response_likert", 0)]
    )
    def test_needs_answers_about_boxes_and_where_the_task_requires_them(
        self, tasks: dict[str, Any], task: str, needed: int
    ):
        assert ("require" in tasks[task]) == (task == "transitions")
        assert len(missing(_converted(tasks, task), TURN, {})) == needed

    @pytest.mark.parametrize("task", ["quality_likert", "quality_likert_turn"])
    def test_keeps_scales_with_their_labels(self, tasks: dict[str, Any], task: str):
        (placed,) = questions_of(_converted(tasks, task))
        assert placed.question.kind == "likert"
        scale = placed.question.scale
        assert scale.min == 1
        assert scale.max == 5
        assert scale.labels == {"1": "poor", "5": "excellent"}
        assert placed.question.text == shown_text(tasks[task]["options"][0]["question"])

    @pytest.mark.parametrize("task", ["response_likert", "dialogue_likert"])
    def test_rates_every_dimension_of_a_list(self, tasks: dict[str, Any], task: str):
        texts = [placed.question.text for placed in questions_of(_converted(tasks, task))]
        assert texts == [f"{tasks[task]['question']} {option['label']}" for option in tasks[task]["options"]]

    def test_compares_two_dialogues_by_a_preference(self, tasks: dict[str, Any]):
        converted = _converted(tasks, "quality_comparative")
        (placed,) = questions_of(converted)
        assert converted.unit.kind == "pair"
        assert placed.question.kind == "preference"
        assert [*placed.question.labels.values()] == tasks["quality_comparative"]["options"]

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"config": "slider"}, "its config is 'slider'"),
            ({"indices": "even"}, "its indices are 'even'"),
            ({"options": []}, "its config is 'button_flow' with options of list"),
            ({"options": {"x": {"_type_": {"slider": {}}, "a": {}}}}, "only 'radio' and 'checkbox'"),
            ({"options": {"x": {"a": {}}}}, "must hold at least 2 items"),
            ({"options": {"x": {"a": {}, "b": []}}}, "it holds [] in place of an object"),
            ({"options": {"x": {"a": {"y": 3}, "b": {}}}}, "it holds 3 in place of an object"),
            ({"options": {}}, "must hold at least 1 item"),
            ({"config": "multiselect", "options": [{}], "question": "?"}, "no text 'value'"),
            ({"config": "multiselect", "options": [3], "question": "?"}, "it holds 3"),
            ({"config": "comparative", "options": ["a", "b", "c"], "question": "?"}, "does not say 'left'"),
        ],
    )
    def test_says_why_a_task_is_not_converted(self, change: dict[str, Any], reason: str):
        task = {"config": "button_flow", "indices": "odd", "options": {"x": {"a": {}, "b": {}}}}
        (whole,) = convert_tasks({"config": {"task": task}})
        assert whole.protocol is not None
        (conversion,) = convert_tasks({"config": {"task": task | change}})
        assert conversion.protocol is None
        assert reason in conversion.reason

    @pytest.mark.parametrize("task", [None, 3, [], {}])
    def test_says_why_what_is_no_task_is_not_converted(self, task: Any):
        (conversion,) = convert_tasks({"config": {"task": task}})
        assert conversion.protocol is None
        assert conversion.reason

    def test_refuses_a_file_of_something_else(self):
        with pytest.raises(TaskNotConvertible, match="no object 'config'"):
            convert_tasks({"tasks": {}})

    def test_gives_texts_that_begin_alike_names_of_their_own(self):
        long = "Does the response hold something that is long enough to be cut, "
        task = {
            "config": "button_flow",
            "indices": "odd",
            "options": {f"{long}{n}": {"1 a": {}, "1: a": {}} for n in "xy"},
        }
        (conversion,) = convert_tasks({"config": {"task": task}})
        assert conversion.protocol is not None
        questions = [placed.question for placed in questions_of(conversion.protocol)]
        assert len({question.id for question in questions}) == 2
        assert [
            [choice.value for choice in question.choices] for question in questions if question.kind == "single"
        ] == [["q_1_a", "q_1_a_2"]] * 2


def _converted(tasks: dict[str, Any], task: str) -> AnnotationProtocol:
    (conversion,) = convert_tasks({"config": {task: copy.deepcopy(tasks[task])}})
    assert conversion.protocol is not None
    return conversion.protocol


Path = list[tuple[str, list[str]]]
"""The questions that are asked one after the other, by their texts, each with the choices that are taken."""


def _paths(options: Mapping[str, Any]) -> Iterator[Path]:
    """Yield every way through a tree of theirs: each question's follow-ups come before the question beside it."""
    if not options:
        yield []
        return
    (text, choices), *beside = options.items()
    for taken in _taken(choices):
        follow_ups = {name: tree for choice in taken for name, tree in choices[choice].items()}
        for below in _paths(follow_ups):
            for after in _paths(dict(beside)):
                yield [(text, taken), *below, *after]


def _taken(choices: Mapping[str, Any]) -> list[list[str]]:
    names = [name for name in choices if name != "_type_"]
    if "_type_" not in choices:
        return [[name] for name in names]
    return [[*some] for size in range(len(names) + 1) for some in combinations(names, size)]


def _number_of_paths(options: Mapping[str, Any]) -> int:
    """Count: questions beside each other multiply, choices add up; an unticked box is one more way."""
    number = 1
    for choices in options.values():
        ways = {name: _number_of_paths(tree) for name, tree in choices.items() if name != "_type_"}
        number *= sum(ways.values()) + ("_type_" in choices)  # no box of the file has a second one beside it
    return number


def _names(options: Mapping[str, Any], converted: AnnotationProtocol) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the question's id, and its kind and values, by their text; choices by their text as well."""
    theirs = [*_texts(options)]
    ours = [placed.question for placed in questions_of(converted)]
    assert len(theirs) == len(ours)
    found = {}
    for (text, choices), question in zip(theirs, ours, strict=True):
        assert question.kind in {"single", "multiple"}
        taken = {choice.text: choice.value for choice in getattr(question, "choices", ())}
        assert [*taken] == [shown_text(choice) for choice in choices]
        found[text] = (question.id, {"kind": question.kind, "values": taken})
    return found


def _texts(options: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for text, choices in options.items():
        names = [name for name in choices if name != "_type_"]
        yield text, names
        for name in names:
            yield from _texts(choices[name])


def _value(question: Mapping[str, Any], taken: list[str]) -> Any:
    values = [question["values"][shown_text(choice)] for choice in taken]
    return values if question["kind"] == "multiple" else values[0]


def _structure(questions: Any) -> list[Any]:
    """Return the kind of each question, what it is asked per, and the follow-ups of each of its choices."""
    return [
        (each.kind, each.per, [_structure(choice.questions) for choice in getattr(each, "choices", ())])
        for each in questions
    ]

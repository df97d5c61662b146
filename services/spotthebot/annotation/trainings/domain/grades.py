"""Grades an answer to a dialogue with a known right answer, for each turn, for each side, or as a whole."""

from dataclasses import dataclass

from spotthebot.annotation.protocols.domain.questions import PAIR_SHAPE, UnitShape, questions_of, targets_of
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, Question
from spotthebot.contracts.annotation.trainings import Training, TrainingDialogue

UNIT = "unit"
"""The target of questions that are asked once."""


@dataclass(frozen=True)
class Grade:
    """The answer for a turn, a side or the unit, all right answers, and whether the answer is right."""

    target: str
    given: Answer
    right: tuple[Answer, ...]
    is_right: bool
    explanation: str


def shape_of_dialogue(dialogue: TrainingDialogue) -> UnitShape:
    """Return the shape of a training's dialogue or pair."""
    return UnitShape.of_turns(dialogue.turns) if dialogue.right_turns is None else PAIR_SHAPE


def graded_questions(training: Training, protocol: AnnotationProtocol) -> tuple[Question, ...]:
    """Return the graded questions in the protocol's order; free text is not graded."""
    return tuple(
        placed.question
        for placed in questions_of(protocol)
        if placed.question.kind != "text" and (training.questions is None or placed.question.id in training.questions)
    )


def grade(
    training: Training, protocol: AnnotationProtocol, dialogue: TrainingDialogue, answer: Answer
) -> tuple[Grade, ...]:
    """Compare a complete answer with the right answers, for each turn, side or unit with graded questions.

    A target is right if the values of all its graded questions together match one right answer. The order of a multiple
    question's values does not count.
    """
    questions = graded_questions(training, protocol)
    given, gold = by_target(questions, answer), by_target(questions, dialogue.gold)
    targets = dict.fromkeys(
        target or UNIT
        for question in questions
        for target in targets_of(protocol, question, shape_of_dialogue(dialogue))
    )
    grades = []
    for target in targets:
        right = (gold.get(target, {}), *(_of(questions, each) for each in dialogue.accepted.get(target, ())))
        found = given.get(target, {})
        is_right = any(_unordered(found) == _unordered(each) for each in right)
        grades.append(Grade(target, found, right, is_right, dialogue.explanations.get(target, "")))
    return tuple(grades)


def mistakes(grades: tuple[Grade, ...]) -> int:
    """Count the wrong turns, sides and units."""
    return sum(not each.is_right for each in grades)


def by_target(questions: tuple[Question, ...], answer: Answer) -> dict[str, Answer]:
    """Return the values of these questions by turn, side or unit."""
    found: dict[str, Answer] = {}
    for question in questions:
        if question.id not in answer:
            continue
        value = answer[question.id]
        values = value if question.per != UNIT and isinstance(value, dict) else {UNIT: value}
        for target, each in values.items():
            found.setdefault(target, {})[question.id] = each
    return found


def _of(questions: tuple[Question, ...], values: Answer) -> Answer:
    return {question.id: values[question.id] for question in questions if question.id in values}


def _unordered(values: Answer) -> dict[str, object]:
    return {name: frozenset(map(str, value)) if isinstance(value, list) else value for name, value in values.items()}

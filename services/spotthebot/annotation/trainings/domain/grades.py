"""What is right in an answer to a dialogue whose right answer is known: turn by turn, side by side, or as a whole."""

from dataclasses import dataclass

from spotthebot.annotation.protocols.domain.questions import PAIR_SHAPE, UnitShape, questions_of, targets_of
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, Question
from spotthebot.contracts.annotation.trainings import Training, TrainingDialogue

UNIT = "unit"
"""The target of questions that are asked once."""


@dataclass(frozen=True)
class Grade:
    """What was given for a turn, a side or the unit, all answers that are right, and whether it is one of them."""

    target: str
    given: Answer
    right: tuple[Answer, ...]
    is_right: bool
    explanation: str


def shape_of_dialogue(dialogue: TrainingDialogue) -> UnitShape:
    """Return the shape of what a training shows at once: a dialogue, or a pair."""
    return UnitShape.of_turns(dialogue.turns) if dialogue.right_turns is None else PAIR_SHAPE


def graded_questions(training: Training, protocol: AnnotationProtocol) -> tuple[Question, ...]:
    """Return the questions whose answers are right or wrong, in the protocol's order; free text is neither."""
    return tuple(
        placed.question
        for placed in questions_of(protocol)
        if placed.question.kind != "text" and (training.questions is None or placed.question.id in training.questions)
    )


def grade(
    training: Training, protocol: AnnotationProtocol, dialogue: TrainingDialogue, answer: Answer
) -> tuple[Grade, ...]:
    """Compare a whole answer with those that are right, for each turn, side or unit that graded questions are about.

    A target is right where the values of all its graded questions together are those of one right answer; the order of
    a multiple question's values does not count.
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
    """Count the turns, sides and units that are wrong."""
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

"""Rules between a training and its protocol; `check_training` finds every fault of a document."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from spotthebot.annotation.protocols.domain.answers import check_answer, missing
from spotthebot.annotation.protocols.domain.questions import UnitShape, questions_of, targets_of
from spotthebot.annotation.trainings.domain.grades import UNIT, graded_questions, shape_of_dialogue
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, Question
from spotthebot.contracts.annotation.trainings import Training, TrainingDialogue
from spotthebot.kit.errors import FieldError

_Asked: TypeAlias = Mapping[str, Sequence[Question]]


def check_training(training: Training, protocol: AnnotationProtocol, *, at: str = "") -> tuple[FieldError, ...]:
    """Return the faults of a training for its protocol, by JSON pointers that begin with `at`."""
    faults = [*_questions(training, protocol), *_repeated(training)]
    for number, dialogue in enumerate(training.dialogues):
        here = f"/dialogues/{number}"
        faults += [FieldError(f"{here}{fault.pointer}", fault.detail) for fault in check_dialogue(protocol, dialogue)]
    return tuple(FieldError(f"{at}{fault.pointer}", fault.detail) for fault in faults)


def check_dialogue(protocol: AnnotationProtocol, dialogue: TrainingDialogue) -> tuple[FieldError, ...]:
    """Return the faults of a dialogue's right answers and explanations, by JSON pointers into the dialogue."""
    if (dialogue.right_turns is not None) is not (protocol.unit.kind == "pair"):
        detail = "The protocol shows one dialogue." if dialogue.right_turns else "The protocol compares two dialogues."
        return (FieldError("/right_turns", detail),)
    shape = shape_of_dialogue(dialogue)
    gold = _whole(protocol, shape, dialogue.gold, "/gold")
    asked = _questions_by_target(protocol, shape)
    return gold or (*_accepted(protocol, shape, dialogue, asked), *_explanations(dialogue, asked))


def texts_of(dialogue: TrainingDialogue) -> frozenset[tuple[str, ...]]:
    """Return the texts of a dialogue, or of both dialogues of a pair in any order."""
    return frozenset(tuple(turn.text for turn in turns) for turns in (dialogue.turns, dialogue.right_turns or ()))


def _whole(protocol: AnnotationProtocol, shape: UnitShape, answer: Answer, at: str) -> tuple[FieldError, ...]:
    return check_answer(protocol, shape, answer, at=at) or missing(protocol, shape, answer, at=at)


def _questions(training: Training, protocol: AnnotationProtocol) -> Iterator[FieldError]:
    kinds = {placed.question.id: placed.question.kind for placed in questions_of(protocol)}
    for number, name in enumerate(training.questions or ()):
        if name not in kinds:
            yield FieldError(f"/questions/{number}", "The protocol has no question of this name.")
        elif kinds[name] == "text":
            yield FieldError(f"/questions/{number}", "Leave this question out: free text is neither right nor wrong.")
    if training.questions is None and not graded_questions(training, protocol):
        yield FieldError("/questions", "All questions of the protocol are answered with free text: none can be wrong.")


def _repeated(training: Training) -> Iterator[FieldError]:
    first: dict[frozenset[tuple[str, ...]], int] = {}
    for number, dialogue in enumerate(training.dialogues):
        same = first.setdefault(texts_of(dialogue), number)
        if same != number:
            yield FieldError(f"/dialogues/{number}/turns", f"Dialogue {same} has the same turns.")


def _accepted(
    protocol: AnnotationProtocol, shape: UnitShape, dialogue: TrainingDialogue, asked: _Asked
) -> Iterator[FieldError]:
    """Yield the faults of each accepted answer of a target, checked in place of the target's gold answer.

    Conditions name only the same target or the unit, so the answers of other targets are not checked again. That keeps
    checks fast: a training may hold 20 answers for each of 1,000 turns.
    """
    of_unit = {question.id for question in asked.get(UNIT, ())}
    unit: Answer = {name: value for name, value in dialogue.gold.items() if name in of_unit}
    for target, answers in dialogue.accepted.items():
        if target not in asked:
            yield _foreign(f"/accepted/{target}")
            continue
        known = {question.id for question in asked[target]}
        for number, values in enumerate(answers):
            here = f"/accepted/{target}/{number}"
            if foreign := values.keys() - known:
                yield FieldError(f"{here}/{min(foreign)}", "No question of this name is asked here.")
                continue
            if target == UNIT:
                kept = {name: value for name, value in dialogue.gold.items() if name not in of_unit}
                faults = _whole(protocol, shape, kept | values, "")
            else:
                at_target: Answer = {name: {target: value} for name, value in values.items()}
                faults = _whole(protocol, replace(shape, only=target), unit | at_target, "")
            yield from (FieldError(f"{here}{fault.pointer}", fault.detail) for fault in faults)


def _explanations(dialogue: TrainingDialogue, asked: _Asked) -> Iterator[FieldError]:
    for target in dialogue.explanations:
        if target != UNIT and target not in asked:
            yield _foreign(f"/explanations/{target}")


def _questions_by_target(protocol: AnnotationProtocol, shape: UnitShape) -> _Asked:
    """Return the questions of each target."""
    found = defaultdict(list)
    for placed in questions_of(protocol):
        for target in targets_of(protocol, placed.question, shape):
            found[target or UNIT].append(placed.question)
    return found


def _foreign(pointer: str) -> FieldError:
    return FieldError(pointer, "No question is asked about a turn or side of this name in this dialogue.")

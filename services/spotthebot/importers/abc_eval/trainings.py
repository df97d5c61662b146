"""Trainings from ABC-Eval's training files (Finch, Finch and Choi 2023): one file per task, with three dialogues.

Each turn of the system has gold labels and an explanation. Labels name questions and choices by their texts; a box that
no label names is not ticked. If several labels are right (`_disjunction`), the first is the gold answer. ABC-Eval's
annotators pass the last dialogue with at most `pass_criteria` mistakes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, ValidationError

from spotthebot.annotation.protocols.domain.questions import questions_of
from spotthebot.annotation.trainings.domain.checks import check_dialogue
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, MultipleQuestion, Question, SingleQuestion
from spotthebot.contracts.annotation.trainings import Training, TrainingDialogue
from spotthebot.importers.abc_eval.errors import TrainingNotConvertible
from spotthebot.importers.abc_eval.tasks import Conversion, shown_text
from spotthebot.kit.text.validation import faults_of

_SOURCE = "ABC-Eval, Finch, Finch and Choi 2023: training dialogues"
_SPEAKERS = {"user": "A", "system": "B"}


@dataclass(frozen=True)
class ConvertedDialogue:
    """The result of converting one dialogue; `reason` says why it can't be converted."""

    name: str
    dialogue: TrainingDialogue | None
    reason: str


@dataclass(frozen=True)
class ConvertedTraining:
    """The result of converting one file: a training from the convertible dialogues, if the last one is convertible."""

    task: str
    training: Training | None
    dialogues: tuple[ConvertedDialogue, ...]


def convert_training(document: Mapping[str, Any], conversions: Sequence[Conversion]) -> ConvertedTraining:
    """Convert a file of training dialogues; `conversions` are the converted task schemas.

    Raises TrainingNotConvertible if the file holds no dialogues of a converted task.
    """
    task, allowed = _task_of(document)
    protocol = next((each.protocol for each in conversions if each.task == task), None)
    if protocol is None:
        raise TrainingNotConvertible(reason=f"no task '{task}' is among the converted task schemas")
    dialogues = tuple(_convert(str(name), each, protocol) for name, each in document.items())
    converted = [each.dialogue for each in dialogues if each.dialogue is not None]
    if dialogues[-1].dialogue is None:
        return ConvertedTraining(task, None, dialogues)
    training = Training(
        format=1,
        name=protocol.name,
        version=1,
        title=protocol.title,
        source=_SOURCE,
        protocol=protocol.name,
        protocol_version=protocol.version,
        allowed_mistakes=allowed,
        dialogues=tuple(converted),
    )
    return ConvertedTraining(task, training, dialogues)


def _task_of(document: Mapping[str, Any]) -> tuple[str, int]:
    """Return the task of the dialogues, and how many mistakes the last dialogue may have."""
    found = [each for each in document.values() if isinstance(each, Mapping)]
    tasks = {task for each in found for task in each.get("annotation_tasks", ())}
    if len(tasks) != 1 or len(found) < len(document):
        raise TrainingNotConvertible(reason="the file does not hold dialogues of one task")
    allowed = found[-1].get("pass_criteria")
    if type(allowed) is not int:
        raise TrainingNotConvertible(reason="its last dialogue does not say by 'pass_criteria' who passes")
    return str(*tasks), allowed


def _convert(name: str, theirs: Mapping[str, Any], protocol: AnnotationProtocol) -> ConvertedDialogue:
    try:
        dialogue = _dialogue(theirs, protocol)
    except TrainingNotConvertible as error:
        return ConvertedDialogue(name, None, str(error.facts["reason"]))
    except ValidationError as error:
        return ConvertedDialogue(name, None, f"no training can say it: {faults_of(error, separator='.')[0]}")
    for found in check_dialogue(protocol, dialogue):
        return ConvertedDialogue(name, None, f"its labels are no answer: {found.pointer}: {found.detail}")
    return ConvertedDialogue(name, dialogue, "")


def _dialogue(theirs: Mapping[str, Any], protocol: AnnotationProtocol) -> TrainingDialogue:
    gold: dict[str, dict[str, JsonValue]] = {}
    accepted: dict[str, list[Answer]] = {}
    explanations: dict[str, str] = {}
    turns = theirs.get("turns")
    if not isinstance(turns, list):
        raise TrainingNotConvertible(reason="it has no list 'turns'")
    for number, turn in enumerate(turns):
        match turn:
            case [("user" | "system"), str()]:
                continue
            case ["system", str(), dict(), str(explanation)]:
                target = str(number)
                explanations[target] = shown_text(explanation)
                first, *others = (_answer(each, protocol) for each in _alternatives(turn[2]))
                for question, value in first.items():
                    gold.setdefault(question, {})[target] = value
                if others:
                    accepted[target] = others
            case _:
                raise TrainingNotConvertible(reason=f"its turn {number} is not of the known form")
    return TrainingDialogue.model_validate(
        {
            "turns": [{"speaker": _SPEAKERS[turn[0]], "text": turn[1]} for turn in turns],
            "gold": gold,
            "accepted": accepted,
            "explanations": explanations,
        }
    )


def _alternatives(labels: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return all label sets of a turn that count as right."""
    options: list[Mapping[str, Any]] = labels["options"] if "_disjunction" in labels else [labels]
    return options


def _answer(labels: Mapping[str, Any], protocol: AnnotationProtocol) -> Answer:
    """Return the values of one turn by question; boxes that no label names are not ticked."""
    questions = [placed.question for placed in questions_of(protocol) if not placed.parents]
    answer: Answer = {each.id: [] for each in questions if isinstance(each, MultipleQuestion)}
    for text, choice in labels.items():
        question = _question(text, protocol)
        values = choice if isinstance(choice, list) else [_value(question, choice)] if choice else []
        if isinstance(question, MultipleQuestion):
            answer[question.id] = values
        elif values:
            answer[question.id] = values[0]
    return answer


def _question(text: str, protocol: AnnotationProtocol) -> Question:
    """Return the question with this text; in tasks with a list of labels, the text may end with the question's id."""
    questions = [placed.question for placed in questions_of(protocol)]
    for question in questions:
        if text == question.id or shown_text(text) == question.text or text.endswith(f"_{question.id}"):
            return question
    raise TrainingNotConvertible(reason=f"its labels name a question '{text}' that the task does not have")


def _value(question: Question, choice: object) -> str:
    if isinstance(question, SingleQuestion | MultipleQuestion):
        for each in question.choices:
            if shown_text(str(choice)) == each.text:
                return each.value
    raise TrainingNotConvertible(reason=f"its labels name a choice {choice!r} that '{question.id}' does not have")

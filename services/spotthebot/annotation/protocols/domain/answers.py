"""Answers to the questions of a protocol: questions asked, valid values, missing answers, rows in long format.

An answer is a draft in JSON, as frontends send it: values by question, and by target for questions per side or per
turn. A question is asked if the answer meets its conditions. Answers to other questions are refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from spotthebot.annotation.protocols.domain.questions import (
    PlacedQuestion,
    Target,
    UnitShape,
    Value,
    question_ids,
    questions_of,
    targets_of,
)
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, MultipleQuestion, Question, TextQuestion
from spotthebot.kit.errors import FieldError
from spotthebot.kit.text.characters import UNSTORABLE

_LONGEST_NAME = 60
_MISSING = object()


@dataclass(frozen=True)
class AskedQuestion:
    """A question that is asked, with its target."""

    question: Question
    step: str
    target: Target


@dataclass(frozen=True)
class AnswerValue:
    """One value of an answer, as a row of a table in long format.

    `value` is None if a multiple question was answered without a choice.
    """

    question: str
    target: Target
    value: Value | None


@dataclass
class _Reading:
    """The findings of a walk through an answer, question by question in order."""

    asked: list[tuple[PlacedQuestion, Target]] = field(default_factory=list)
    faults: list[FieldError] = field(default_factory=list)
    answered: dict[tuple[str, Target], frozenset[Value]] = field(default_factory=dict)


def check_answer(
    protocol: AnnotationProtocol, shape: UnitShape, answer: object, *, at: str = ""
) -> tuple[FieldError, ...]:
    """Return the faults of an answer, which may be incomplete.

    Faults are JSON pointers into the answer that begin with `at`.
    """
    if not isinstance(answer, Mapping):
        return (FieldError(at, "An answer is an object: values by question."),)
    faults = [*_read(protocol, shape, answer).faults, *_foreign(protocol, answer)]
    return tuple(FieldError(f"{at}{fault.pointer}", fault.detail) for fault in faults)


def asked_questions(
    protocol: AnnotationProtocol, shape: UnitShape, answer: Mapping[str, object]
) -> tuple[AskedQuestion, ...]:
    """Return the questions that are asked, given an answer so far, in order; for each, the targets in order."""
    asked = _read(protocol, shape, answer).asked
    return tuple(AskedQuestion(placed.question, placed.step, target) for placed, target in asked)


def answered_questions(
    protocol: AnnotationProtocol, shape: UnitShape, answer: Mapping[str, object]
) -> dict[tuple[str, Target], object]:
    """Return the values of a valid answer by question and target; blank texts are left out."""
    answered = _read(protocol, shape, answer).answered
    by_question = {name: answer[name] for name, _ in answered}
    return {
        (name, target): by_question[name] if target is None else _of_target(by_question[name], target)
        for name, target in answered
    }


def missing(
    protocol: AnnotationProtocol,
    shape: UnitShape,
    answer: Mapping[str, object],
    step: str | None = None,
    *,
    at: str = "",
) -> tuple[FieldError, ...]:
    """Return the required questions without an answer, in one step or in all; empty if the answer is complete."""
    reading = _read(protocol, shape, answer)
    return tuple(
        FieldError(f"{at}{_pointer(placed.question.id, target)}", "The question needs an answer.")
        for placed, target in reading.asked
        if placed.question.required
        and step in {None, placed.step}
        and (placed.question.id, target) not in reading.answered
    )


def values(protocol: AnnotationProtocol, answer: Mapping[str, object]) -> tuple[AnswerValue, ...]:
    """Return a valid answer as rows in long format, in the order of questions, targets and values."""
    rows = []
    for placed in questions_of(protocol):
        question = placed.question
        if question.id in answer:
            rows += [
                AnswerValue(question.id, target, value)
                for target, given in _by_target(question, answer[question.id])
                for value in _given_values(given)
            ]
    return tuple(rows)


def _read(protocol: AnnotationProtocol, shape: UnitShape, answer: Mapping[str, object]) -> _Reading:
    reading = _Reading()
    for placed in questions_of(protocol):
        question = placed.question
        given = answer.get(question.id, _MISSING)
        if question.per == "unit":
            _read_target(reading, placed, None, given)
            continue
        targets = targets_of(protocol, question, shape)
        if given is not _MISSING and (not isinstance(given, Mapping) or not given):
            detail = f"It is asked per {question.per}: an object of values by {question.per}, with one at least."
            reading.faults.append(FieldError(_pointer(question.id), detail))
        by_target: Mapping[str, object] = given if isinstance(given, Mapping) else {}
        for target in targets:
            _read_target(reading, placed, target, by_target.get(str(target), _MISSING))
        known = set(targets)
        reading.faults += [
            FieldError(_pointer(question.id, str(name)), f"The unit has no {question.per} of this name to ask about.")
            for name in by_target
            if name not in known
        ]
    return reading


def _read_target(reading: _Reading, placed: PlacedQuestion, target: Target, given: object) -> None:
    question = placed.question
    if placed.conditions and not _is_asked(placed, target, reading):
        if given is not _MISSING:
            detail = f"The question isn't asked: {_reason(placed, target, reading)}."
            reading.faults.append(FieldError(_pointer(question.id, target), detail))
        return
    reading.asked.append((placed, target))
    if given is _MISSING:
        return
    fault = _fault(placed, given)
    if fault is not None:
        reading.faults.append(FieldError(_pointer(question.id, target), fault))
    elif not (isinstance(question, TextQuestion) and not str(given).strip()):  # a blank text is not an answer
        reading.answered[question.id, target] = frozenset(v for v in _given_values(given) if v is not None)


def _is_asked(placed: PlacedQuestion, target: Target, reading: _Reading) -> bool:
    return all(condition.values & _answered(condition.question, target, reading) for condition in placed.conditions)


def _answered(question: str, target: Target, reading: _Reading) -> frozenset[Value]:
    """Return the values of a question for a target, or for the whole unit if the question is about the unit."""
    found = reading.answered.get((question, target)) or reading.answered.get((question, None))
    return found or frozenset()


def _reason(placed: PlacedQuestion, target: Target, reading: _Reading) -> str:
    condition = next(c for c in placed.conditions if not c.values & _answered(c.question, target, reading))
    named = " or ".join(sorted(map(str, condition.values)))
    return f"only where '{condition.question}' is {named}"


def _fault(placed: PlacedQuestion, given: object) -> str | None:
    """Return the fault of the value for one question and target; None if it is valid."""
    question = placed.question
    if isinstance(question, TextQuestion):
        return _fault_of_text(question, given)
    values = placed.values or ()
    if isinstance(question, MultipleQuestion):
        return _fault_of_list(values, given)
    return None if _is_among(given, values) else f"The value has to be one of {_named(values)}."


def _fault_of_text(question: TextQuestion, given: object) -> str | None:
    if not isinstance(given, str):
        return "The answer is text."
    if len(given) > question.max_length:
        return f"The text may hold {question.max_length} characters at most."
    if UNSTORABLE.search(given):
        return "The text holds a character that can't be stored: NUL, or half of a surrogate pair."
    return None


def _fault_of_list(values: tuple[Value, ...], given: object) -> str | None:
    if not isinstance(given, list | tuple):
        return f"The answer is a list of any of {_named(values)}."
    if not all(_is_among(value, values) for value in given):
        return f"Each value has to be one of {_named(values)}."
    if len(set(given)) < len(given):
        return "A value stands in the list twice."
    return None


def _is_among(given: object, values: tuple[Value, ...]) -> bool:
    """Return whether a value is one of the question's values, of the same type: neither True nor 1.0 is 1."""
    return type(given) in {str, int} and given in values


def _named(values: tuple[Value, ...]) -> str:
    known = [str(value) for value in values]
    return ", ".join([*known[:12], *(["..."] if len(known) > 12 else [])])


def _given_values(given: object) -> tuple[Value | None, ...]:
    """Return the single values in a valid answer to one question and target."""
    if isinstance(given, list | tuple):
        return tuple(given) or (None,)
    return (given,) if isinstance(given, str | int) else ()


def _of_target(given: object, target: str) -> object:
    return given[target] if isinstance(given, Mapping) else None


def _by_target(question: Question, given: object) -> Iterator[tuple[Target, object]]:
    if question.per == "unit":
        yield None, given
    elif isinstance(given, Mapping):
        yield from sorted(given.items(), key=lambda item: (len(item[0]), item[0]))  # turn 10 comes after turn 9


def _foreign(protocol: AnnotationProtocol, answer: Mapping[str, object]) -> Iterator[FieldError]:
    steps = question_ids(protocol).values()
    for name in answer:
        if not any(name in ids for ids in steps):
            yield FieldError(_pointer(str(name)), "The protocol has no question of this name.")


def _pointer(name: str, target: Target = None) -> str:
    """Return the JSON pointer (RFC 6901) to a question's answer, or to its value for a target; shortens long names."""
    parts = (name,) if target is None else (name, target)
    shown = (part if len(part) <= _LONGEST_NAME else f"{part[:_LONGEST_NAME]}…" for part in parts)
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in shown)

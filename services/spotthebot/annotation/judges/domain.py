"""A version of a judge, and the checks of the labels that it gives for an item."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from spotthebot.annotation.protocols.domain.answers import answered_questions, asked_questions, check_answer, missing
from spotthebot.annotation.protocols.domain.questions import Target, UnitShape, values_of
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.judges import JudgeAnswer, JudgeLabels, JudgeSettings
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, MultipleQuestion, Question
from spotthebot.kit.errors import FieldError

_ROUNDING: Final = 1e-6
_Key = tuple[str, Target]


@dataclass(frozen=True)
class JudgeVersion:
    """A version of a judge. The hash is that of its settings."""

    id: UUID
    name: str
    version: int
    description: str
    settings: JudgeSettings
    sha256: str
    created_at: datetime


@dataclass(frozen=True)
class AnnotatingJudge:
    """The version of a judge that annotates; an imported judge has the name of its annotator, and no version."""

    name: str
    version: int | None


def sha256_of(settings: JudgeSettings) -> str:
    """Return the hash of a judge's settings, as hexadecimal digits: equal settings have the same hash."""
    written = json.dumps(settings.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


def check_labels(
    protocol: AnnotationProtocol,
    shape: UnitShape,
    answer: Answer,
    labels: JudgeLabels,
    *,
    at: str,
    name: str = "labels",
) -> tuple[FieldError, ...]:
    """Return the faults of a judge's work on an item; empty if each question is answered or stated as missing.

    Every answer to a question with options has probabilities. Faults are JSON pointers that begin with `at`; the
    labels are in its field `name`.
    """
    if faults := check_answer(protocol, shape, answer, at=f"{at}/answer"):
        return faults
    asked: Mapping[_Key, Question] = {
        (each.question.id, each.target): each.question for each in asked_questions(protocol, shape, answer)
    }
    answered = answered_questions(protocol, shape, answer)
    stated: dict[_Key, JudgeAnswer] = {}
    faults = ()
    for number, each in enumerate(labels.answers):
        key, here = (each.question, each.target), f"{at}/{name}/answers/{number}"
        question = asked.get(key)
        if question is None:
            faults += (FieldError(here, "The question isn't asked here."),)
        elif key in stated:
            faults += (FieldError(here, "The question stands here twice."),)
        else:
            faults += tuple(_faults_of_one(question, each, here, is_answered=key in answered))
        stated[key] = each
    return faults or (*_unstated(asked, answered, stated, at), *_unanswered(protocol, shape, answer, stated, at))


def _faults_of_one(question: Question, each: JudgeAnswer, at: str, *, is_answered: bool) -> Iterator[FieldError]:
    options = values_of(question)
    if is_answered and each.missing is not None:
        yield FieldError(f"{at}/missing", "The question has an answer: leave out one of the two.")
    if not is_answered and each.missing is None:
        yield FieldError(f"{at}/missing", "The question has no answer: say why it is missing.")
    if each.probabilities is None:
        return
    if options is None:
        yield FieldError(f"{at}/probabilities", "A free text has no probabilities.")
    elif each.probabilities.keys() != {*map(str, options)}:
        yield FieldError(f"{at}/probabilities", f"They must be for each of {', '.join(map(str, options))}.")
    elif not isinstance(question, MultipleQuestion) and abs(math.fsum(each.probabilities.values()) - 1) > _ROUNDING:
        yield FieldError(f"{at}/probabilities", "They must sum to 1.")


def _unstated(
    asked: Mapping[_Key, Question], answered: Mapping[_Key, object], stated: Mapping[_Key, JudgeAnswer], at: str
) -> Iterator[FieldError]:
    """Yield a fault for each answer to a question with options that has no probabilities."""
    for key in answered:
        found = stated.get(key)
        if values_of(asked[key]) is not None and (found is None or found.probabilities is None):
            where = "".join(f"/{part}" for part in key if part is not None)
            yield FieldError(f"{at}/answer{where}", "The answer has no probabilities.")


def _unanswered(
    protocol: AnnotationProtocol, shape: UnitShape, answer: Answer, stated: Mapping[_Key, JudgeAnswer], at: str
) -> Iterator[FieldError]:
    """Yield a fault for each required question that is neither answered nor stated as missing."""
    known = {"".join(f"/{part}" for part in key if part is not None) for key in stated}
    for fault in missing(protocol, shape, answer):
        if fault.pointer not in known:
            yield FieldError(
                f"{at}/answer{fault.pointer}", "The question needs an answer, or a reason why it is missing."
            )

"""Agreement of an annotator's labels with other labels of the same items. The service does not know the speakers."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.assignments.domain.work_checks import ResponseTimes
from spotthebot.annotation.protocols.domain.answers import values
from spotthebot.annotation.protocols.domain.questions import Target, Value, questions_of
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import AnnotationProtocol


@dataclass(frozen=True)
class Agreement:
    """The number of answers to a question that were compared with another annotator's, and how many are equal."""

    compared: int
    equal: int


@dataclass(frozen=True)
class AnnotatorQuality:
    """The quality of an annotator's work so far; `median_time` is for one item; None before the first item.

    `others_times` is None before another annotator has submitted an item.
    """

    annotator: Annotator
    annotations: int
    median_time: timedelta | None
    others_times: ResponseTimes | None
    agreement: Mapping[str, Agreement]


def agreement(protocol: AnnotationProtocol, pairs: Iterable[tuple[Answer, Answer]]) -> dict[str, Agreement]:
    """Compare answers of two annotators to the same items, by question; free text is left out.

    A question about sides or turns is compared for each target for which both annotators answered it.
    """
    kinds = {placed.question.id: placed.question.kind for placed in questions_of(protocol)}
    compared, equal = Counter[str](), Counter[str]()
    for one, other in pairs:
        ours, theirs = _by_target(protocol, one), _by_target(protocol, other)
        for question, target in ours.keys() & theirs.keys():
            if kinds[question] != "text":
                compared[question] += 1
                equal[question] += ours[question, target] == theirs[question, target]
    return {question: Agreement(compared[question], equal[question]) for question in kinds if compared[question]}


def _by_target(protocol: AnnotationProtocol, answer: Answer) -> dict[tuple[str, Target], frozenset[Value | None]]:
    found: dict[tuple[str, Target], set[Value | None]] = {}
    for row in values(protocol, answer):
        found.setdefault((row.question, row.target), set()).add(row.value)
    return {key: frozenset(each) for key, each in found.items()}

"""Which questions of a protocol rate bots, and what their answers are as numbers.

A question of a scale counts its point. A preference between the two sides counts 1 for the one that was preferred and
0.5 for a tie. A choice, such as a behaviour that a turn shows, counts 1 where it was taken and 0 where another one was;
where a follow-up was not asked, its choices were not taken. Free text and comparisons of two dialogues rate nobody.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from spotthebot.contracts.annotation.protocols import (
    AnnotationProtocol,
    LikertQuestion,
    MultipleQuestion,
    PreferenceQuestion,
    Question,
    SingleQuestion,
    TurnsUnit,
)

Target: TypeAlias = str | None
"""A side, the number of a turn from `"0"`, or None: the unit as a whole."""
Answer: TypeAlias = Mapping[str, Any]

LABEL: Final = "label"
"""What people take a side for, as in Spot The Bot."""
_LABELS: Final = {"human": 1.0, "unsure": 0.5, "bot": 0.0}
_SIDES: Final = ("A", "B")


@dataclass(frozen=True)
class RatedQuestion:
    """A question whose answers are ratings: of a turn, or of a dialogue as one of its `sides` spoke in it.

    `numbers` maps an answer to the rating of each target that it rates.
    """

    name: str
    per: Literal["unit", "side", "turn"]
    sides: tuple[str, ...]
    numbers: Callable[[Answer], Mapping[Target, float]]


def rated_questions(protocol: AnnotationProtocol) -> dict[str, RatedQuestion]:
    """Return the questions of a protocol that rate somebody, by what asks for them; none of a comparison.

    A question's id asks for a scale or a preference, `QUESTION:CHOICE` for a choice, and `label` for what people take
    a side for, human or bot.
    """
    if protocol.unit.kind == "pair":
        return {}
    sides: tuple[str, ...] = _SIDES
    if isinstance(protocol.unit, TurnsUnit) and protocol.unit.speaker != "both":
        sides = (protocol.unit.speaker,)
    questions = [question for step in protocol.steps for question in step.questions]
    return {each.name: each for each in _rated(questions, sides, ())}


def _rated(
    questions: Iterable[Question], sides: tuple[str, ...], asked: tuple[tuple[str, str], ...]
) -> Iterator[RatedQuestion]:
    """Yield questions in order; `asked` are the choices that lead to them, outermost first."""
    for question in questions:
        if isinstance(question, LikertQuestion):
            yield RatedQuestion(question.id, question.per, sides, _points(question.id))
        elif isinstance(question, PreferenceQuestion):
            yield RatedQuestion(question.id, "side", sides, _preferences(question.id))
        elif isinstance(question, SingleQuestion | MultipleQuestion):
            choices = [choice.value for choice in question.choices]
            if question.per == "side" and set(choices) == set(_LABELS):
                yield RatedQuestion(LABEL, "side", sides, _labels(question.id))
            for choice in question.choices:
                name = f"{question.id}:{choice.value}"
                yield RatedQuestion(name, question.per, sides, _taken(question.id, choice.value, asked))
                yield from _rated(choice.questions, sides, (*asked, (question.id, choice.value)))


def _points(question: str) -> Callable[[Answer], Mapping[Target, float]]:
    return lambda answer: {target: float(given) for target, given in _by_target(answer, question).items()}


def _labels(question: str) -> Callable[[Answer], Mapping[Target, float]]:
    return lambda answer: {target: _LABELS[given] for target, given in _by_target(answer, question).items()}


def _preferences(question: str) -> Callable[[Answer], Mapping[Target, float]]:
    def numbers(answer: Answer) -> Mapping[Target, float]:
        preferred = answer.get(question)
        if preferred is None:
            return {}
        return {side: 0.5 if preferred == "tie" else float(preferred == side) for side in _SIDES}

    return numbers


def _taken(
    question: str, choice: str, asked: tuple[tuple[str, str], ...]
) -> Callable[[Answer], Mapping[Target, float]]:
    def numbers(answer: Answer) -> Mapping[Target, float]:
        found: dict[Target, float] = {}
        for parent, needed in asked:
            others = _by_target(answer, parent)
            found |= {target: 0.0 for target, given in others.items() if not _has(given, needed)}
        return found | {target: float(_has(given, choice)) for target, given in _by_target(answer, question).items()}

    return numbers


def _has(given: Any, choice: str) -> bool:  # noqa: ANN401 - JSON
    return choice in given if isinstance(given, list | tuple) else bool(given == choice)


def _by_target(answer: Answer, question: str) -> Mapping[Target, Any]:
    given = answer.get(question)
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else {None: given}

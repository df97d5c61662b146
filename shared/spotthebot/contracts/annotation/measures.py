"""Measures of annotation protocols: they turn the answers to a question into numbers for each bot.

An answer on a scale counts its point. A preference between two sides, or between two dialogues of a pair, counts 1 for
the preferred one and 0.5 for each in a tie. A choice counts 1 if the annotator took it and 0 if the annotator took
another choice. If a follow-up question was not asked, each of its choices counts 0. A protocol that names behaviours
has a measure for each behaviour instead of each choice. Free text has no measure. A question about a pair as a whole
has none either, since its answer is about neither dialogue alone.

In place of a value, an answer may have a judge's probabilities of the options: they count their mean. None in place of
a value is a missing answer of a judge, and counts NaN.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from pydantic import Field

from spotthebot.contracts.annotation.protocols import (
    AnnotationProtocol,
    Behaviour,
    LikertQuestion,
    MultipleQuestion,
    PreferenceQuestion,
    Question,
    SingleQuestion,
    TurnsUnit,
)
from spotthebot.contracts.conversations.conversations import TextsOut
from spotthebot.contracts.wire import Wire

Target: TypeAlias = str | None
"""The target of a rating: a side, the number of a turn from `"0"`, or None for the whole unit."""
Answer: TypeAlias = Mapping[str, Any]
MeasureLevel = Literal["turn", "dialogue", "pair"]
MeasureKind = Literal["scale", "share", "preference"]

LABEL: Final = "label"
"""The label of a side: human, unsure or bot, as in Spot The Bot."""
LONGEST_MEASURE: Final = 110
"""Characters of a measure's name: a question's, a colon and a choice's."""
HEADLINE: Final = "headline"
"""The name that asks for the measure by which bots are ranked; a question of this name goes before."""
_HEADLINES: Final = ("quality", "overall", LABEL)
LABELS: Final = {"human": 1.0, "unsure": 0.5, "bot": 0.0}
"""What a label counts."""
_SIDES: Final = ("A", "B")


class Measure(Wire):
    """One number for each bot: the mean answer to a question, or the share of answers with a choice or a behaviour."""

    measure: str = Field(
        description="The question, QUESTION:CHOICE of a choice, the behaviour, or `label` of people's labels."
    )
    question: str = Field(description="What annotators are asked, or what the behaviour is.")
    level: MeasureLevel = Field(description="What one value is of: a turn, a dialogue, or one of two dialogues.")
    kind: MeasureKind = Field(
        description="Points of a scale; a share, whose values are 0 and 1; or preferences: 1, 0.5 for a tie, 0."
    )
    lowest: float | None = Field(description="The lowest value that can be given; null of numbers without ends.")
    highest: float | None
    better: Literal["higher", "lower"] | None = Field(
        description="Which values are better: bots that have them rank first. Null of a choice, of which nobody said;"
        " bots with higher shares then rank first."
    )

    @property
    def ends(self) -> tuple[float, float] | None:
        """Return the lowest and the highest value; None of numbers without ends."""
        return None if self.lowest is None or self.highest is None else (self.lowest, self.highest)


@dataclass(frozen=True)
class MeasuredQuestion:
    """A measure and its question. The question is about a turn, or about a speaker in a dialogue: one of `sides`.

    `numbers` maps an answer to the value of each target.
    """

    measure: Measure
    per: Literal["unit", "side", "turn"]
    sides: tuple[str, ...]
    numbers: Callable[[Answer], Mapping[Target, float]]


@dataclass(frozen=True)
class ShownTurns:
    """The speaker's side of each turn after the opening, and the numbers of turns that the opening has and shows."""

    sides: str
    opening: int
    opening_shown: int


def shown_turns_of(texts: TextsOut) -> ShownTurns:
    """Return which side spoke each turn of a conversation. An answer about a turn is about the side that spoke it."""
    opening = len(texts.opening)
    sides = "".join(turn.speaker for turn in texts.turns)
    return ShownTurns(sides, opening, opening if texts.opening_shown else 0)


def measured_questions(protocol: AnnotationProtocol) -> dict[str, MeasuredQuestion]:
    """Return the measures of a protocol by their names, in the order of its questions."""
    sides: tuple[str, ...] = _SIDES
    if isinstance(protocol.unit, TurnsUnit) and protocol.unit.speaker != "both":
        sides = (protocol.unit.speaker,)
    questions = [question for step in protocol.steps for question in step.questions]
    of_pair = protocol.unit.kind == "pair"
    found = {each.measure.measure: each for each in _measured(questions, sides, (), of_pair=of_pair)}
    measures = {name: each for name, each in found.items() if not of_pair or each.per == "side"}
    if not protocol.behaviours:
        return measures
    shown = {each.id: _behaviour(each, found) for each in protocol.behaviours}
    return shown | {name: each for name, each in measures.items() if each.measure.kind != "share"}


def _behaviour(behaviour: Behaviour, choices: Mapping[str, MeasuredQuestion]) -> MeasuredQuestion:
    """Return the measure of a behaviour from the measures of the choices that show it."""
    shown_by = [choices[f"{each.question}:{value}"] for each in behaviour.shown_by for value in each.any_of]
    first = shown_by[0]

    def numbers(answer: Answer) -> Mapping[Target, float]:
        shown: dict[Target, float] = {}
        for each in shown_by:
            for target, taken in each.numbers(answer).items():
                both = taken, shown.get(target, 0.0)
                shown[target] = math.nan if any(map(math.isnan, both)) else max(both)
        return shown

    measure = first.measure.model_copy(
        update={
            "measure": behaviour.id,
            "question": behaviour.definition,
            "better": "higher" if behaviour.desirable else "lower",
        }
    )
    return replace(first, measure=measure, numbers=numbers)


def headline_of(measures: Iterable[str]) -> str:
    """Return the measure that ranks the bots by default: quality, overall, labels, or else the first measure."""
    names = list(measures)
    return next((name for name in _HEADLINES if name in names), names[0])


def sides_of(question: MeasuredQuestion, target: Target, turns: ShownTurns | None) -> tuple[tuple[str, ...], int]:
    """Return the sides that a value with this target is about, and the number of its turn after the opening, or -1.

    A value about the whole unit is about each side that the protocol asks about. A value about a turn of the opening,
    or about an unknown turn, is about no side.
    """
    if question.per != "turn":
        return (question.sides if target is None else (target,)), -1
    number = -1 if turns is None or target is None else int(target) - turns.opening_shown
    if turns is None or not 0 <= number < len(turns.sides):
        return (), -1
    return (turns.sides[number],), number


def _measured(
    questions: Iterable[Question], sides: tuple[str, ...], asked: tuple[tuple[str, str], ...], *, of_pair: bool
) -> Iterator[MeasuredQuestion]:
    """Yield the measured questions in order.

    `asked` holds the choices that lead to these questions, outermost first.
    """
    for question in questions:
        level: MeasureLevel = "turn" if question.per == "turn" else "pair" if of_pair else "dialogue"

        def of(
            name: str,
            kind: MeasureKind,
            ends: tuple[float, float],
            text: str = question.text,
            level: MeasureLevel = level,
        ) -> Measure:
            return Measure(
                measure=name,
                question=text,
                level=level,
                kind=kind,
                lowest=ends[0],
                highest=ends[1],
                better=None if kind == "share" else "higher",
            )

        if isinstance(question, LikertQuestion):
            ends = (question.scale.min, question.scale.max)
            yield MeasuredQuestion(of(question.id, "scale", ends), question.per, sides, _points(question.id))
        elif isinstance(question, PreferenceQuestion):
            yield MeasuredQuestion(of(question.id, "preference", (0, 1)), "side", sides, _preferences(question.id))
        elif isinstance(question, SingleQuestion | MultipleQuestion):
            choices = [choice.value for choice in question.choices]
            if question.per == "side" and set(choices) == set(LABELS):
                yield MeasuredQuestion(of(LABEL, "scale", (0, 1)), "side", sides, _labels(question.id))
            for choice in question.choices:
                measure = of(f"{question.id}:{choice.value}", "share", (0, 1), f"{question.text} {choice.text}")
                yield MeasuredQuestion(measure, question.per, sides, _taken(question.id, choice.value, asked))
                yield from _measured(choice.questions, sides, (*asked, (question.id, choice.value)), of_pair=of_pair)


def _points(question: str) -> Callable[[Answer], Mapping[Target, float]]:
    return lambda answer: {target: _mean(given, float) for target, given in _by_target(answer, question).items()}


def _labels(question: str) -> Callable[[Answer], Mapping[Target, float]]:
    return lambda answer: {
        target: _mean(given, LABELS.__getitem__) for target, given in _by_target(answer, question).items()
    }


def _preferences(question: str) -> Callable[[Answer], Mapping[Target, float]]:
    def numbers(answer: Answer) -> Mapping[Target, float]:
        return {
            side: _share(given, side) + 0.5 * _share(given, "tie")
            for given in _by_target(answer, question).values()
            for side in _SIDES
        }

    return numbers


def _taken(
    question: str, choice: str, asked: tuple[tuple[str, str], ...]
) -> Callable[[Answer], Mapping[Target, float]]:
    def numbers(answer: Answer) -> Mapping[Target, float]:
        found: dict[Target, float] = {}
        for parent, needed in asked:
            shares = {target: _share(given, needed) for target, given in _by_target(answer, parent).items()}
            found |= {target: 0.0 * share for target, share in shares.items() if share != 1}
        return found | {target: _share(given, choice) for target, given in _by_target(answer, question).items()}

    return numbers


def _mean(given: Any, value: Callable[[Any], float]) -> float:  # noqa: ANN401 - JSON
    if given is None:
        return math.nan
    if isinstance(given, Mapping):
        return math.fsum(share * value(option) for option, share in given.items())
    return value(given)


def _share(given: Any, choice: str) -> float:  # noqa: ANN401 - JSON
    if isinstance(given, Mapping):
        return float(given.get(choice, 0.0))
    return _mean(given, lambda taken: float(choice in taken if isinstance(taken, list | tuple) else taken == choice))


def _by_target(answer: Answer, question: str) -> Mapping[Target, Any]:
    given = answer.get(question)
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else {None: given}

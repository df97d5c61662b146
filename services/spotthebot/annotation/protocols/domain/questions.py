"""The questions of a protocol in order, whom each is asked for, and the unit that an item shows.

The order is that of the document, depth first: a question, the follow-ups of its first choice, those of its second.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from spotthebot.contracts.annotation.annotations import Preference
from spotthebot.contracts.annotation.protocols import (
    AnnotationProtocol,
    LikertQuestion,
    MultipleQuestion,
    PreferenceQuestion,
    Question,
    Side,
    SingleQuestion,
    TextQuestion,
    TurnsUnit,
)
from spotthebot.contracts.turns import Turn

Value: TypeAlias = str | int
Target: TypeAlias = str | None
"""Of a question per side `"A"` or `"B"`, per turn the number of the turn from `"0"`, per unit None."""


@dataclass(frozen=True)
class UnitShape:
    """What a protocol's answers depend on of the unit that is shown: its sides, and who speaks each turn.

    A pair has neither sides nor turns. A unit of which one side alone is annotated has that side in `sides`. `only` is
    the target that alone is looked at, besides the unit as a whole; None: all of them.
    """

    sides: tuple[Side, ...] = ("A", "B")
    speakers: tuple[Side, ...] = ()
    only: Target = None

    @classmethod
    def of_turns(cls, turns: Sequence[Turn]) -> "UnitShape":
        """Return the shape of a conversation whose turns are shown."""
        return cls(speakers=tuple(turn.speaker for turn in turns))


PAIR_SHAPE = UnitShape(sides=())
_MAX_PLACED = 256


@dataclass(frozen=True)
class Condition:
    """A question has one of these values, for the same target or for the unit."""

    question: str
    values: frozenset[Value]


@dataclass(frozen=True)
class PlacedQuestion:
    """A question, where it stands, and what must hold for it to be asked.

    `pointer` (RFC 6901) leads to it in the document; `parents` are the questions that it follows up, outermost first.
    `values` are those of `values_of`.
    """

    question: Question
    step: str
    pointer: str
    parents: tuple[Question, ...]
    conditions: tuple[Condition, ...]
    values: tuple[Value, ...] | None


@dataclass(frozen=True)
class _Placed:
    """The questions of a protocol in order, and the ids of each step's."""

    questions: tuple[PlacedQuestion, ...]
    ids: Mapping[str, frozenset[str]]


class _SameObject:
    """A protocol as a key that is equal where it is the same object: to compare documents takes longer than a walk."""

    __slots__ = ("protocol",)

    def __init__(self, protocol: AnnotationProtocol) -> None:
        self.protocol = protocol

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameObject) and other.protocol is self.protocol

    def __hash__(self) -> int:
        return id(self.protocol)


def questions_of(protocol: AnnotationProtocol) -> tuple[PlacedQuestion, ...]:
    """Return the questions of a protocol in order."""
    return _place(_SameObject(protocol)).questions


def question_ids(protocol: AnnotationProtocol) -> Mapping[str, frozenset[str]]:
    """Return the ids of the questions of each step."""
    return _place(_SameObject(protocol)).ids


@lru_cache(maxsize=_MAX_PLACED)
def _place(same: _SameObject) -> _Placed:
    """Walk through a protocol, which every save of an answer needs, once."""
    questions = tuple(
        placed
        for number, step in enumerate(same.protocol.steps)
        for placed in _placed(step.questions, step.id, f"/steps/{number}/questions", (), ())
    )
    ids = {
        step.id: frozenset(each.question.id for each in questions if each.step == step.id)
        for step in same.protocol.steps
    }
    return _Placed(questions, MappingProxyType(ids))


def _placed(
    questions: Sequence[Question],
    step: str,
    pointer: str,
    parents: tuple[Question, ...],
    taken: tuple[Condition, ...],
) -> Iterator[PlacedQuestion]:
    for number, question in enumerate(questions):
        here = f"{pointer}/{number}"
        when = question.when
        own = () if when is None else (Condition(when.question, frozenset(when.any_of)),)
        yield PlacedQuestion(question, step, here, parents, (*taken, *own), values_of(question))
        if isinstance(question, SingleQuestion | MultipleQuestion):
            for index, choice in enumerate(question.choices):
                follows = (Condition(question.id, frozenset({choice.value})),)
                below = f"{here}/choices/{index}/questions"
                yield from _placed(choice.questions, step, below, (*parents, question), follows)


def targets_of(protocol: AnnotationProtocol, question: Question, shape: UnitShape) -> tuple[Target, ...]:
    """Return for which targets a question stands in a unit of this shape."""
    if shape.only is not None and question.per != "unit":
        return (shape.only,) if (question.per == "turn") is shape.only.isdecimal() else ()
    match question.per:
        case "unit":
            return (None,)
        case "side":
            return shape.sides
        case "turn":
            speaker = protocol.unit.speaker if isinstance(protocol.unit, TurnsUnit) else None
            return tuple(str(turn) for turn, each in enumerate(shape.speakers) if speaker in {each, "both"})


def text_questions(protocol: AnnotationProtocol) -> tuple[str, ...]:
    """Return the ids of the questions that are answered in the annotator's own words."""
    return tuple(each.question.id for each in questions_of(protocol) if isinstance(each.question, TextQuestion))


def values_of(question: Question) -> tuple[Value, ...] | None:
    """Return the values that a question's answer can have or hold; None for free text."""
    match question:
        case SingleQuestion() | MultipleQuestion():
            return tuple(choice.value for choice in question.choices)
        case LikertQuestion():
            return tuple(range(question.scale.min, question.scale.max + 1))
        case PreferenceQuestion():
            return tuple(each.value for each in Preference)
        case TextQuestion():
            return None


@dataclass(frozen=True)
class Unit:
    """What one item shows: a conversation, or two side by side; at each of several lengths in exchanges, or whole.

    Segments have lengths; dialogues, and dialogues of which turns are annotated, have none; pairs have two dialogues.
    """

    lengths: tuple[int, ...] = ()
    dialogues: Literal[1, 2] = 1

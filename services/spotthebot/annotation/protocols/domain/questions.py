"""The questions of a protocol in order, their targets, and the unit that an item shows.

Questions are in the order of the document, depth first: a question, the follow-ups of its first choice, the follow-ups
of its second choice.
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
"""`"A"` or `"B"` for a question per side, the turn's number from `"0"` per turn, None per unit."""


@dataclass(frozen=True)
class UnitShape:
    """The properties of a shown unit that determine its questions: its sides, and the speaker of each turn.

    A pair has neither sides nor turns. If only one side of a unit is annotated, `sides` holds only this side. With
    `only`, questions are asked for this target and for the unit as a whole; None asks for all targets.
    """

    sides: tuple[Side, ...] = ("A", "B")
    speakers: tuple[Side, ...] = ()
    only: Target = None

    @classmethod
    def of_turns(cls, turns: Sequence[Turn]) -> "UnitShape":
        """Return the shape of a conversation with these turns."""
        return cls(speakers=tuple(turn.speaker for turn in turns))


PAIR_SHAPE = UnitShape(sides=())
_MAX_PLACED = 256


@dataclass(frozen=True)
class Condition:
    """The condition that a question has one of these values, for the same target or for the unit."""

    question: str
    values: frozenset[Value]


@dataclass(frozen=True)
class PlacedQuestion:
    """A question with its place in the document and its conditions.

    `pointer` (RFC 6901) leads to it in the document; `parents` are the questions that it is a follow-up of, outermost
    first. `values` is the result of `values_of`.
    """

    question: Question
    step: str
    pointer: str
    parents: tuple[Question, ...]
    conditions: tuple[Condition, ...]
    values: tuple[Value, ...] | None


@dataclass(frozen=True)
class _Placed:
    """The questions of a protocol in order, and the ids of each step's questions."""

    questions: tuple[PlacedQuestion, ...]
    ids: Mapping[str, frozenset[str]]


class _SameObject:
    """A protocol as a cache key, equal only for the same object. Comparing documents would take longer than a walk."""

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
    """Walk through a protocol, and cache the result, because every save of an answer needs it."""
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
    """Return the targets that a question has in a unit of this shape."""
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
    """Return the ids of free-text questions."""
    return tuple(each.question.id for each in questions_of(protocol) if isinstance(each.question, TextQuestion))


def values_of(question: Question) -> tuple[Value, ...] | None:
    """Return the possible values of a question's answer; None for free text."""
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
    """The content of an item: one conversation, or two side by side, whole or at several lengths in exchanges.

    Segments have lengths. Dialogues, whether annotated whole or turn by turn, have no lengths. Pairs have two
    dialogues.
    """

    lengths: tuple[int, ...] = ()
    dialogues: Literal[1, 2] = 1

"""Annotations: labels, preferences and answers. They name annotators and conversations only by ids."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal, TypeAlias, get_args
from uuid import UUID

from pydantic import Field, JsonValue, StringConstraints

from spotthebot.contracts.annotation.judges import JudgeLabels
from spotthebot.contracts.annotation.packages import ConversationRef
from spotthebot.contracts.wire import Text, Wire

AnnotatorId = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
Exchanges = Annotated[int, Field(ge=1, le=500)]
MAX_DECISIONS: Final = 400
"""The limit for one answer: the values of 200 questions about two sides."""
Answer: TypeAlias = Annotated[dict[str, JsonValue], Field(max_length=200)]
"""Values by question. A question about each side or turn has an object with the value of each side or turn."""


class AnnotatorKind(StrEnum):
    """What an annotator is. The frontend says it at the first request; a name says nothing about it."""

    PERSON = "person"
    SIMULATED = "simulated"
    """A program that stands in for a person, to try a campaign."""
    JUDGE = "judge"
    """A program whose labels are meant to be used, such as a language model."""


_SIMULATED: Final = re.compile(r"simulated-[0-9]{1,9}")


def kind_by_name(name: str) -> AnnotatorKind:
    """Return the kind of an annotator in a file that states no kinds, as files of earlier releases.

    In those releases the names `simulated-1`, `simulated-2` and so on were kept for simulated annotators.
    """
    return AnnotatorKind.SIMULATED if _SIMULATED.fullmatch(name) else AnnotatorKind.PERSON


def with_kind(row: object, name: str) -> object:
    """Return a row of an export with the kind of the annotator in its field `name`, if the row does not state it."""
    kind = f"{name}_kind"
    if not isinstance(row, dict) or kind in row or not isinstance(row.get(name), str):
        return row
    return row | {kind: kind_by_name(row[name])}


class Label(StrEnum):
    """An annotator's verdict on a speaker. The win function orders the labels: bot < unsure < human."""

    HUMAN = "human"
    UNSURE = "unsure"
    BOT = "bot"


Feature: TypeAlias = Literal["fluency", "sensibleness", "specificity"]
FEATURES: Final[tuple[Feature, ...]] = get_args(Feature)
"""What annotators of Spot The Bot compare the sides by, in the order of all results."""


class Preference(StrEnum):
    """The side that shows more of a feature."""

    A = "A"
    B = "B"
    TIE = "tie"


LEADS: Final = {Preference.A: 1, Preference.TIE: 0, Preference.B: -1}
"""The lead of side A by each preference."""


class DecisionOut(Wire):
    """How many exchanges of a conversation were open when an annotator answered a question, by the server's clock."""

    question: str
    target: str | None = Field(description="Side A or B, or null where the question is asked once.")
    exchanges: int = Field(description="How many exchanges were open: the decision's turn.")
    opened_at: datetime = Field(description="When the last one of them was opened.")
    decided_at: datetime


class AnnotatingJudgeOut(Wire):
    """The version of a judge that made an annotation."""

    name: str = Field(description="The judge's name; of an imported judge the annotator's.")
    version: int | None = Field(description="Null of an imported judge.")


class AnnotationOut(Wire):
    """A submitted annotation, for analysis. It has only ids: the service `conversations` knows the speakers."""

    id: UUID
    conversation_id: UUID = Field(description="Of a pair: the conversation on the left, A of the answer.")
    package_id: UUID
    exchanges: int
    right: ConversationRef | None = Field(
        description="Of a pair: the conversation on the right, B of the answer; null of all other units."
    )
    annotator: str = Field(description="A pseudonym; of a program its name.")
    annotator_kind: AnnotatorKind
    judge: AnnotatingJudgeOut | None = Field(description="Null of all other kinds of annotators.")
    judge_labels: JudgeLabels | None = Field(
        description="Of a judge: its probabilities, and why answers are missing; null of others, and of some imports."
    )
    answer: Answer
    decisions: tuple[DecisionOut, ...] = Field(
        max_length=MAX_DECISIONS, description="Of protocols that open one exchange after the other; else none."
    )
    started_at: datetime | None
    ended_at: datetime | None
    elapsed_ms: int | None = Field(description="By the server's clock; of an import as its exporter reported it.")
    reported_ms: int | None = Field(description="What the frontend reported: never trusted.")


class SharedAnnotatorsOut(Wire):
    """How many people annotated in a campaign and in another one, by the same id of the same frontend."""

    people: int


class AnnotationsRevisionOut(Wire):
    """A revision of a campaign's annotations. Equal revisions mean equal annotations."""

    annotations: int
    revision: str

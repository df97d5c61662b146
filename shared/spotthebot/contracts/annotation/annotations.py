"""Annotations: labels, preferences and answers. They name annotators and conversations only by ids."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, TypeAlias
from uuid import UUID

from pydantic import Field, JsonValue, StringConstraints

from spotthebot.contracts.annotation.packages import ConversationRef
from spotthebot.contracts.wire import Text, Wire

AnnotatorId = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
Exchanges = Annotated[int, Field(ge=1, le=500)]
MAX_DECISIONS: Final = 400
"""The limit for one answer: the values of 200 questions about two sides."""
Answer: TypeAlias = Annotated[dict[str, JsonValue], Field(max_length=200)]
"""Values by question. A question about each side or turn has an object with the value of each side or turn."""


class Label(StrEnum):
    """An annotator's verdict on a speaker. The win function orders the labels: bot < unsure < human."""

    HUMAN = "human"
    UNSURE = "unsure"
    BOT = "bot"


class Preference(StrEnum):
    """The side that shows more of a feature."""

    A = "A"
    B = "B"
    TIE = "tie"


class DecisionOut(Wire):
    """How many exchanges of a conversation were open when an annotator answered a question, by the server's clock."""

    question: str
    target: str | None = Field(description="Side A or B, or null where the question is asked once.")
    exchanges: int = Field(description="How many exchanges were open: the decision's turn.")
    opened_at: datetime = Field(description="When the last one of them was opened.")
    decided_at: datetime


class AnnotationOut(Wire):
    """A submitted annotation, for analysis. It has only ids: the service `conversations` knows the speakers."""

    id: UUID
    conversation_id: UUID = Field(description="Of a pair: the conversation on the left, A of the answer.")
    package_id: UUID
    exchanges: int
    right: ConversationRef | None = Field(
        description="Of a pair: the conversation on the right, B of the answer; null of all other units."
    )
    annotator: str
    answer: Answer
    decisions: tuple[DecisionOut, ...] = Field(
        max_length=MAX_DECISIONS, description="Of protocols that open one exchange after the other; else none."
    )
    started_at: datetime | None
    ended_at: datetime | None
    elapsed_ms: int | None = Field(description="By the server's clock; of an import as its exporter reported it.")
    reported_ms: int | None = Field(description="What the frontend reported: never trusted.")


class AnnotationsRevisionOut(Wire):
    """A revision of a campaign's annotations. Equal revisions mean equal annotations."""

    annotations: int
    revision: str
